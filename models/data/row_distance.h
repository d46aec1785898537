/* row_distance.h: the squared distance of a point and a place, and a point's length, where their last bits decide
 * nothing between two ways of computing. */
#ifndef TS_ROW_DISTANCE_H
#define TS_ROW_DISTANCE_H

#include <float.h>

#include "clustering.h"

/* sum_a (scale_a (x_a - y_a))^2 of rows x [d], y [d], in double; scale NULL: ones. 8 sums side by side, as vectors hold
 * them, then what is left over: the same bits everywhere. 0 only for equal rows, unless squares underflow. */
#define TS_SQUARED_DISTANCE(name, number)                                                                     \
    static inline double name(int64_t d, const double *scale, const number *x, const double *y) {             \
        enum { SUMS = 8 };                                                                                    \
        double sum[SUMS] = {0}, rest = 0;                                                                     \
        int64_t a = 0;                                                                                        \
        for (; a + SUMS <= d; a += SUMS)                                                                      \
            for (int l = 0; l < SUMS; l++) {                                                                  \
                const double difference = (scale == NULL ? 1 : scale[a + l]) * ((double)x[a + l] - y[a + l]); \
                sum[l] += difference * difference;                                                            \
            }                                                                                                 \
        for (; a < d; a++) {                                                                                  \
            const double difference = (scale == NULL ? 1 : scale[a]) * ((double)x[a] - y[a]);                 \
            rest += difference * difference;                                                                  \
        }                                                                                                     \
        for (int l = 0; l < 4; l++) sum[l] += sum[l + 4];                                                     \
        return ((sum[0] + sum[2]) + (sum[1] + sum[3])) + rest;                                                \
    }
TS_SQUARED_DISTANCE(ts_squared_distance_real, ts_real)
TS_SQUARED_DISTANCE(ts_squared_distance_exact, double)

/* Of point i and y [d]. */
static inline double ts_squared_distance(const ts_points *p, int64_t i, const double *scale, const double *y) {
    return p->exact != NULL ? ts_squared_distance_exact(p->d, scale, p->exact + i * p->d, y)
                            : ts_squared_distance_real(p->d, scale, p->real + i * p->d, y);
}

/* The length of point i, summed in units of its largest coordinate, so that no square vanishes or overflows; 0 where
 * that is below DBL_MIN, and the length has no inverse. */
static inline double ts_point_length(const ts_points *p, int64_t i) {
    double greatest = 0, sum = 0;
    for (int64_t a = 0; a < p->d; a++) greatest = fmax(greatest, fabs(ts_point_at(p, i, a)));
    if (!(greatest >= DBL_MIN)) return 0;
    for (int64_t a = 0; a < p->d; a++) {
        const double share = ts_point_at(p, i, a) / greatest;
        sum += share * share;
    }
    return greatest * sqrt(sum);
}

#endif
