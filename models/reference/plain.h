/* plain.h: the classical algorithms in their textbook form: the reference that transformers are compared with. They
 * share no code with the runners except the data types and the random numbers. Everything is computed in double from
 * the points as given. In a problem stated in ts_real (clustering.h) centres, shares and unit vectors are rounded to it
 * once in each step; in one stated in double nothing is rounded.
 *
 * A step assigns the points with the current centres, and then moves the centres. Both halves can be called separately,
 * so that a comparison can resolve a tie of the first as the runner did. A step costs O(nkd). */
#ifndef TS_PLAIN_H
#define TS_PLAIN_H

#include "../data/clustering.h"

typedef struct ts_plain ts_plain;
typedef struct ts_plain_algorithm ts_plain_algorithm;

/* r_ij in [0,1] is the share of point i in cluster j; hard algorithms have r_ij = 1 for the nearest centre, the lowest
 * index among equals, and 0 for the others. s_i = -gamma ||x_i - c_j||^2 is the score of point i of cluster j. */

/* Lloyd 1957/1982: r hard, c_j = the mean of its points. With a finite gamma: soft k-means. */
extern const ts_plain_algorithm ts_plain_lloyd;
/* r_ij = softmax_j(-gamma ||x_i - c_j||^2), c_j = sum_i r_ij x_i / sum_i r_ij. */
extern const ts_plain_algorithm ts_plain_soft;
/* Soft k-means, and soft spherical k-means, with binary codes M_j: y_i = sum_j r_ij M_j, the label of i is the cluster
 * whose code is nearest to y_i, and c_j is the average of all points with the weights softmax_i(-gamma ||y_i -
 * M_j||^2). */
extern const ts_plain_algorithm ts_plain_soft_codes, ts_plain_spherical_codes;
/* Dhillon & Modha 2001: points on the unit sphere, r hard by the greatest x_i.c_j, c_j = the direction of the
 * mean; a mean of squared length below d TS_LOST_DIRECTION / 3 has none, and its centre stays. With a finite gamma, r =
 * softmax(gamma x.c). */
extern const ts_plain_algorithm ts_plain_spherical;
/* r hard; c_j = the mean of the m points with the highest scores, m = argmax (sum of the m highest - 1)/m, the smallest
 * such m; points with equal scores are kept or trimmed together (the threshold rule of norm-max(inf)). */
extern const ts_plain_algorithm ts_plain_trimmed;
/* Cuesta-Albertos, Gordaliza & Matran 1997, applied to each cluster: c_j = the mean of the ceil((1 - trim) m_j) of its
 * m_j points that are nearest to c_j, the lowest index among equals. */
extern const ts_plain_algorithm ts_plain_trimmed_share;
/* r hard; c_j = sum_i p_i x_i with p = sparsemax(s), entmax-1.5(s), or norm-max(alpha)(s), found by sorting or
 * bisection. */
extern const ts_plain_algorithm ts_plain_robust, ts_plain_entmax, ts_plain_normmax;
/* r hard; c_j = one of its points, drawn with probability softmax_i(s). A medoid belongs to its own cluster, so the k
 * medoids are k different rows. ts_plain_finish returns to the cheapest medoids found: least sum of distances, then
 * lowest rows. Point number l of cluster j, in order of rows, draws element j n + l of the stream
 * "cross_centers.simplex" at this step. Of equal rows of a cluster the lowest is the medoid. Initial centres that are
 * not rows become the nearest rows not yet taken. */
extern const ts_plain_algorithm ts_plain_medoids;
/* Bezdek 1981: r_ij ~ ||x_i - c_j||^(-2/(m-1)), shared by the centres at distance 0 if there are any;
 * c_j = sum_i r_ij^m x_i / sum_i r_ij^m. */
extern const ts_plain_algorithm ts_plain_fuzzy;

/* NULL, with *error set, if the problem is refused (k < 1, k > n, d < 1, a point without direction on the sphere) or
 * memory is short. The problem's points must outlive it. */
ts_plain *ts_plain_create(const ts_plain_algorithm *algorithm, const ts_settings *settings, const ts_problem *problem,
                          ts_error *error);
void ts_plain_free(ts_plain *plain);
ts_status ts_plain_step(ts_plain *plain, ts_error *error);
ts_status ts_plain_finish(ts_plain *plain, ts_error *error); /* as ts_runner_finish */
const ts_clustering *ts_plain_state(const ts_plain *plain);

/* The two halves of a step. */
void ts_plain_assign(ts_plain *plain);
ts_status ts_plain_update(ts_plain *plain, ts_error *error);

/* Between the halves: by how much cluster j is worse for point i than the best one, as a squared distance (or a cosine,
 * or a distance of codes); and, for hard algorithms, replacing the labels. */
double ts_plain_gap(const ts_plain *plain, int64_t i, int64_t j);
void ts_plain_adopt_labels(ts_plain *plain, const int64_t *labels);
void ts_plain_adopt_centers(ts_plain *plain, const double *centers); /* between steps: continue from these */
const double *ts_plain_responsibilities(const ts_plain *plain);      /* [n,k]; NULL for hard algorithms */

#endif
