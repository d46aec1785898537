/* exp_sum.h: sums of shifted exponentials along an axis; what ts_logsumexp and ts_log_softmax share.
 *
 * The term of x under a shift s is e^(x-s); under an infinite shift it is 1 where x equals s and 0 elsewhere, which is
 * the limit that leaves the weights of several equal infinities equal. */
#ifndef TS_EXP_SUM_H
#define TS_EXP_SUM_H

#include "../../kernels/real_math.h"
#include "axis.h"

static inline double ts_exp_term(ts_real x, double shift) {
    if (isinf(shift)) return (double)x == shift ? 1 : 0;
    return exp((double)x - shift);
}

/* shift[total of each output] = its largest element; sum[the same place] = the sum of terms under that shift, or under
 * the shift given. Each array holds ts_axis_partials(axis) doubles. */
void ts_largest_along(const ts_axis *axis, const ts_real *x, double *shift);
void ts_exp_sum_along(const ts_axis *axis, const ts_real *x, const double *shift, double *sum);

/* Room for shift and sum. */
size_t ts_exp_sum_scratch(const ts_axis *axis);

#endif
