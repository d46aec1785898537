/* exp_sum.h: sums of shifted exponentials along an axis, which ts_logsumexp and ts_log_softmax share.
 *
 * The term of x under a shift s is e^(x-s). Under an infinite shift it is 1 where x equals s and 0 elsewhere, the limit
 * in which several equal infinities have equal weights. */
#ifndef TS_EXP_SUM_H
#define TS_EXP_SUM_H

#include "../../kernels/real_math.h"
#include "axis.h"

static inline double ts_exp_term(ts_real x, double shift) {
    if (isinf(shift)) return (double)x == shift ? 1 : 0;
    return exp((double)x - shift);
}

/* For every output, at its index ts_axis_total: shift = its largest element, and sum = the sum of its terms under the
 * given shift. Each array holds ts_axis_partials(axis) doubles. */
void ts_largest_along(const ts_axis *axis, const ts_real *x, double *shift);
void ts_exp_sum_along(const ts_axis *axis, const ts_real *x, const double *shift, double *sum);

/* Bytes for shift and sum. */
size_t ts_exp_sum_scratch(const ts_axis *axis);

#endif
