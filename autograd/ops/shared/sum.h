/* sum.h: sums over an axis, taken in double and rounded once, which ts_sum and ts_mean share. */
#ifndef TS_SUM_H
#define TS_SUM_H

#include "axis.h"

/* x[0] + .. + x[n-1], taken in eight interleaved parts. */
static inline double ts_sum_row(const ts_real *x, int64_t n) {
    enum { PARTS = 8 };
    double part[PARTS] = {0};
    int64_t i = 0;
    for (; i + PARTS <= n; i += PARTS)
        for (int p = 0; p < PARTS; p++) part[p] += (double)x[i + p];
    for (; i < n; i++) part[i % PARTS] += (double)x[i];
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

double ts_join_sums(double a, double b);
ts_piece_fn ts_sum_piece; /* context: const ts_real *, the tensor */

/* y = sum / divisor, and dx += dy / divisor, or = if fresh; partial holds ts_axis_partials(axis) doubles. */
void ts_sum_forward(const ts_axis *axis, const ts_real *x, double divisor, double *partial, ts_real *y);
void ts_sum_backward(const ts_axis *axis, const ts_real *dy, double divisor, bool fresh, ts_real *dx);

/* Bytes for the partial results of a node whose attributes begin with a ts_reduction. */
size_t ts_reduction_scratch(const ts_node *node);

#endif
