/* row_distance.h: the squared distance between a point and a centre, and the length of a point, for uses in which the
 * last bits need not agree with the plain algorithms. */
#ifndef TS_ROW_DISTANCE_H
#define TS_ROW_DISTANCE_H

#include <float.h>

#include "clustering.h"

/* sum_a (scale_a (x_a - y_a))^2 of rows x [d], y [d], in double; scale NULL: ones. Taken in 8 parallel sums, which fit
 * vector registers, and one of the remaining coordinates: the same bits everywhere. 0 only for equal rows, unless
 * squares underflow. */
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

/* The same for point i and y [d]. */
static inline double ts_squared_distance(const ts_points *p, int64_t i, const double *scale, const double *y) {
    return p->exact != NULL ? ts_squared_distance_exact(p->d, scale, p->exact + i * p->d, y)
                            : ts_squared_distance_real(p->d, scale, p->real + i * p->d, y);
}

/* The length of point i, computed in units of its largest coordinate, so that no square underflows or overflows; 0 if
 * that coordinate is below DBL_MIN, where the length has no finite inverse. */
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
