/* nearest.h: the centre nearest to a point, for scores, evaluations and users' files. The plain algorithms, which are
 * the reference, have their own search. */
#ifndef TS_NEAREST_H
#define TS_NEAREST_H

#include <math.h>

#include "clustering.h"

/* The squared distance of x [d] to the nearest of k centres [k,d], in double; *label, unless NULL, becomes the number
 * of that centre, the lowest among equals. NaN, with label 0, if a distance is NaN. O(kd). */
#define TS_NEAREST(name, number, place)                                                                      \
    static inline double name(int64_t d, int64_t k, const number *x, const place *centers, int64_t *label) { \
        double least = INFINITY;                                                                             \
        int64_t nearest = 0;                                                                                 \
        bool is_number = true;                                                                               \
        for (int64_t j = 0; j < k; j++) {                                                                    \
            double sum = 0;                                                                                  \
            for (int64_t a = 0; a < d; a++) {                                                                \
                const double difference = (double)x[a] - (double)centers[j * d + a];                         \
                sum += difference * difference;                                                              \
            }                                                                                                \
            is_number = is_number && !isnan(sum);                                                            \
            if (sum < least) least = sum, nearest = j;                                                       \
        }                                                                                                    \
        if (label != NULL) *label = is_number ? nearest : 0;                                                 \
        return is_number ? least : NAN;                                                                      \
    }
TS_NEAREST(ts_nearest, ts_real, ts_real)
TS_NEAREST(ts_nearest_real, ts_real, double)
TS_NEAREST(ts_nearest_exact, double, double)

/* The same for point i. */
static inline double ts_point_nearest(const ts_points *p, int64_t i, int64_t k, const double *centers, int64_t *label) {
    return p->exact != NULL ? ts_nearest_exact(p->d, k, p->exact + i * p->d, centers, label)
                            : ts_nearest_real(p->d, k, p->real + i * p->d, centers, label);
}

#endif
