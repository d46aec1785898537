/* scores.h: how good a clustering is. */
#ifndef TS_SCORES_H
#define TS_SCORES_H

#include "../autograd/tensor.h"

/* The k-means objective sum_i ||x_i - c_{label i}||^2, in double. points [n,d], centers [k,d]. The same bits at any
 * number of threads. A label of -1 is left out. */
double ts_objective(int64_t n, int64_t d, const ts_real *points, const ts_real *centers, const int64_t *labels);

/* The trimmed k-means objective: the sum of the n - floor(share n) smallest squared distances to the nearest of k
 * centres. share in [0,1). NAN when out of memory. O(nkd). */
double ts_trimmed_objective(int64_t n, int64_t d, int64_t k, const ts_real *points, const ts_real *centers,
                            double share);

/* Adjusted Rand index of two labellings [Hubert & Arabie 1985]: 1 for equal partitions, about 0 for independent ones.
 * Rows with a label below 0 in `a` are left out. NAN when out of memory. */
double ts_adjusted_rand_index(int64_t n, const int64_t *a, const int64_t *b);

#endif
