/* nearest.h: the centre nearest to a point: what scores, evaluations and users' files are judged by. The plain
 * algorithms, which are oracles, have a search of their own. */
#ifndef TS_NEAREST_H
#define TS_NEAREST_H

#include <math.h>

#include "../autograd/tensor.h"

/* The squared distance of x [d] to the nearest of k centres [k,d], in double; *label (NULL: not asked for) is its
 * number, the lowest among equals. NaN, with label 0, when a coordinate is. */
static inline double ts_nearest(int64_t d, int64_t k, const ts_real *x, const ts_real *centers, int64_t *label) {
    double least = INFINITY;
    int64_t nearest = 0;
    bool number = true;
    for (int64_t j = 0; j < k; j++) {
        double sum = 0;
        for (int64_t a = 0; a < d; a++) {
            const double difference = (double)x[a] - (double)centers[j * d + a];
            sum += difference * difference;
        }
        number = number && !isnan(sum);
        if (sum < least) least = sum, nearest = j;
    }
    if (label != NULL) *label = number ? nearest : 0;
    return number ? least : NAN;
}

#endif
