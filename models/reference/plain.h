/* plain.h: the classical algorithms, written the classical way: the oracles that circuits are held against. They share
 * no code with the circuits beyond the data types and the random numbers. Everything is computed in double from the
 * points as given. In a problem stated in ts_real (clustering.h) centres, shares and unit vectors are rounded to it
 * once a step; in one stated in double nothing is.
 *
 * A step assigns, with the present centres, and then moves the centres. The two halves can be called alone, so that a
 * comparison may break a tie of the first as the circuit did. */
#ifndef TS_PLAIN_H
#define TS_PLAIN_H

#include "../data/clustering.h"

typedef struct ts_plain ts_plain;
typedef struct ts_plain_algorithm ts_plain_algorithm;

/* r_ij in [0,1] is what point i gives to cluster j; hard algorithms give 1 to the nearest, the lowest index among
 * equals. s_i = -gamma ||x_i - c_j||^2 are the scores of the points of cluster j. */

/* Lloyd 1957/1982: r hard, c_j = the mean of its points. With a finite gamma: soft k-means. */
extern const ts_plain_algorithm ts_plain_lloyd;
/* r_ij = softmax_j(-gamma ||x_i - c_j||^2), c_j = sum_i r_ij x_i / sum_i r_ij. */
extern const ts_plain_algorithm ts_plain_soft;
/* What binary codes make of soft k-means, and of soft spherical k-means: y_i = sum_j r_ij M_j, the label of i is the
 * cluster whose code is nearest to y_i, and c_j averages all points with the weights softmax_i(-gamma ||y_i - M_j||^2).
 */
extern const ts_plain_algorithm ts_plain_soft_codes, ts_plain_spherical_codes;
/* Dhillon & Modha 2001: points on the unit sphere, r hard by the greatest x_i.c_j, c_j = the mean's direction; a mean
 * of squared length below d TS_LOST_DIRECTION / 3 has none, and its centre stays. With a finite gamma, r =
 * softmax(gamma x.c). */
extern const ts_plain_algorithm ts_plain_spherical;
/* r hard; c_j = the mean of the m points with the highest scores, m = argmax (sum of the m highest - 1)/m, the smallest
 * such m; equal scores are in or out together (the threshold rule of norm-max(inf)). */
extern const ts_plain_algorithm ts_plain_trimmed;
/* Cuesta-Albertos, Gordaliza & Matran 1997, in each cluster: the mean of the ceil((1 - trim) m_j) points nearest to
 * c_j, the lowest index among equals. */
extern const ts_plain_algorithm ts_plain_trimmed_share;
/* r hard; c_j = sum_i p_i x_i with p = sparsemax(s), entmax-1.5(s), or norm-max(alpha)(s), found by sorting or
 * bisection. */
extern const ts_plain_algorithm ts_plain_robust, ts_plain_entmax, ts_plain_normmax;
/* r hard; c_j = one of its points, drawn with probability softmax_i(s). A medoid belongs to its own cluster, so the k
 * medoids are k different rows. ts_plain_finish leaves the cheapest medoids that were met: least sum of distances, then
 * lowest rows. Point number l of cluster j, in order of rows, draws element j n + l of the stream
 * "cross_centers.simplex" at this step. Of equal rows of a cluster the lowest is the medoid. Initial
 * centres that are no rows become the nearest rows not taken. */
extern const ts_plain_algorithm ts_plain_medoids;
/* Bezdek 1981: r_ij ~ ||x_i - c_j||^(-2/(m-1)), all on the centres at distance 0 when there are such;
 * c_j = sum_i r_ij^m x_i / sum_i r_ij^m. */
extern const ts_plain_algorithm ts_plain_fuzzy;

/* NULL, with *error set, when the problem is refused (k < 1, k > n, d < 1, a point without direction) or memory is
 * short. The problem's points must outlive it. */
ts_plain *ts_plain_create(const ts_plain_algorithm *algorithm, const ts_settings *settings, const ts_problem *problem,
                          ts_error *error);
void ts_plain_free(ts_plain *plain);
ts_status ts_plain_step(ts_plain *plain, ts_error *error);
ts_status ts_plain_finish(ts_plain *plain, ts_error *error); /* as ts_circuit_finish */
const ts_clustering *ts_plain_state(const ts_plain *plain);

/* The halves of a step. */
void ts_plain_assign(ts_plain *plain);
ts_status ts_plain_update(ts_plain *plain, ts_error *error);

/* Between them: by how much cluster j is worse for point i than the best one, as a squared distance (or a cosine,
 * or a distance of codes); and,
 * for hard algorithms, the labels of another. */
double ts_plain_gap(const ts_plain *plain, int64_t i, int64_t j);
void ts_plain_adopt_labels(ts_plain *plain, const int64_t *labels);
void ts_plain_adopt_centers(ts_plain *plain, const double *centers); /* between steps: go on from these */
const double *ts_plain_responsibilities(const ts_plain *plain);      /* [n,k]; NULL for hard algorithms */

#endif
