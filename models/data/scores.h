/* scores.h: measures of the quality of a clustering: objectives and the adjusted Rand index. */
#ifndef TS_SCORES_H
#define TS_SCORES_H

#include "clustering.h"

/* The k-means objective sum_i ||x_i - c_{label i}||^2, in double. points [n,d], centers [k,d]. The same bits at any
 * number of threads. Points with the label -1 are left out. O(nd). */
double ts_objective(int64_t n, int64_t d, const ts_real *points, const ts_real *centers, const int64_t *labels);

/* The cost (ts_cost) of points with centres [k,d], in double; labels [n] in 0..k-1, or -1: left out. With `scale` [d]
 * distances are in the units of the table before scaling (rescaling.h), ||x - c||^2 = sum_a scale_a^2 (x_a - c_a)^2;
 * NULL: ones. Cosines ignore the scale. The same bits at any number of threads. O(nd). */
double ts_cost_of(ts_cost cost, const ts_points *points, const double *scale, const double *centers,
                  const int64_t *labels);

/* The trimmed k-means objective: the sum of the n - floor(share n) smallest squared distances to the nearest of k
 * centres [k,d]. share in [0,1). NAN if memory is short. O(nkd). */
double ts_trimmed_objective(const ts_points *points, int64_t k, const double *centers, double share);

/* The objectives of soft assignments, with D_ij = ||x_i - c_j||^2, or 1 - cosine if `cost` says so, and k centres
 * [k,d]: the free energy     sum_i -1/gamma log sum_j exp(-gamma D_ij)         of soft k-means, gamma finite, Bezdek's
 * objective  sum_i min_u sum_j u_j^m D_ij = sum_i (sum_j D_ij^(-1/(m-1)))^-(m-1)   of fuzzy c-means. The same bits at
 * any number of threads. NAN if memory is short. O(nkd). */
double ts_free_energy(ts_cost cost, const ts_points *points, int64_t k, const double *centers, double gamma);
double ts_fuzzy_objective(const ts_points *points, int64_t k, const double *centers, double fuzziness);

/* Adjusted Rand index of two labellings [Hubert & Arabie 1985]: 1 for equal partitions, about 0 for independent ones.
 * Rows with a label below 0 in `a` are left out. NAN if memory is short. O(n log n). */
double ts_adjusted_rand_index(int64_t n, const int64_t *a, const int64_t *b);

#endif
