/* row_distance.h: the squared distance of two rows, where its last bit decides nothing between two ways of computing.
 */
#ifndef TS_ROW_DISTANCE_H
#define TS_ROW_DISTANCE_H

#include "../autograd/tensor.h"

/* sum_a (scale_a (x_a - y_a))^2 of rows x [d], y [d], in double; scale NULL: ones. 8 sums side by side, as vectors hold
 * them, then what is left over: the same bits everywhere. 0 only for equal rows, unless squares underflow. */
static inline double ts_squared_distance(int64_t d, const double *scale, const ts_real *x, const ts_real *y) {
    enum { SUMS = 8 };
    double sum[SUMS] = {0}, rest = 0;
    int64_t a = 0;
    for (; a + SUMS <= d; a += SUMS)
        for (int l = 0; l < SUMS; l++) {
            const double unit = scale == NULL ? 1 : scale[a + l];
            const double difference = unit * ((double)x[a + l] - (double)y[a + l]);
            sum[l] += difference * difference;
        }
    for (; a < d; a++) {
        const double difference = (scale == NULL ? 1 : scale[a]) * ((double)x[a] - (double)y[a]);
        rest += difference * difference;
    }
    for (int l = 0; l < 4; l++) sum[l] += sum[l + 4];
    return ((sum[0] + sum[2]) + (sum[1] + sum[3])) + rest;
}

#endif
