/* streamed_layer.h: computes a step of k-means without tokens, for a layer that is such a step.
 *
 * A definition says what a layer computes, not how. If its blocks are those of theorem 2.1 (definition.h), so that
 * points take the code of the nearest centre and centres become the mean of the points with their code, it computes
 * labels and means. A streamed layer computes these directly from the rows of data: a step reads each row once, and
 * there are no tokens. "Nearest" is by distance or by dot product; a norm before the first step and after each
 * (spherical k-means) is left to the caller.
 *
 * Centres and means are doubles. If centres and points hold numbers of type ts_real, the results are those of the
 * layer's ops: labels, and the sets of centres that share a tie, are always equal (nearest_key.h); means are sums in
 * double in the order of the rows, divided, to be rounded once. They have the same bits up to 4096 rows. More rows are
 * divided into at most 64 parts, depending only on n and k, whose sums are added in order: a sum then differs by at
 * most n DBL_EPSILON times the sum of magnitudes, which rarely changes its rounding to float. */
#ifndef TS_STREAMED_LAYER_H
#define TS_STREAMED_LAYER_H

#include "../data/clustering.h"
#include "../definition/definition.h"

typedef struct ts_streamed_layer ts_streamed_layer;

/* Does the definition have that structure on d coordinates and k clusters? Codes are one-hot or binary; points compare
 * all data coordinates by argmax or, with one-hot codes, hardmax; centres match whole codes by one-hot dot products and
 * the linear map, or by hardmax, or are means of their own points, none of them trimmed; both erase what they
 * overwrite; there may be a norm, and nothing else. */
bool ts_streamed_layer_fits(const ts_definition *definition, int64_t d, int64_t k);

/* Can it take numbers of magnitude `reach`? It must be finite, and no squared distance may overflow a double. */
bool ts_streamed_layer_reaches(double reach);

/* The input of a layer. */
typedef struct ts_streamed_rows {
    ts_points points;
    const double *weights; /* [n] factors of the points in the means; NULL: 1 */
    bool whole_shares;     /* a point that m centres share gives 1/m to each, in double; else rounded to ts_real, as in
                              tokens */
} ts_streamed_rows;

/* For a definition that fits, and rows that must outlive the layer. NULL with *error set if memory is short. */
ts_streamed_layer *ts_streamed_layer_create(const ts_definition *definition, const ts_streamed_rows *rows, int64_t k,
                                            ts_error *error);
void ts_streamed_layer_free(ts_streamed_layer *layer);

/* The results of a step. */
typedef struct ts_streamed_step {
    bool same;      /* the assignments are unchanged, compared with the labels passed in */
    double *means;  /* [k,d] the mean of the points of each cluster, 0 if it has none; NULL: not wanted */
    bool *occupied; /* [k] does it have any? Needed with `means` */
} ts_streamed_step;

/* Assigns all points to centres [k,d], writes labels [n], and computes the means. O(nkd); the same bits at any number
 * of threads. Fails if memory is short. */
ts_status ts_streamed_layer_step(ts_streamed_layer *layer, const double *centers, int64_t *labels,
                                 ts_streamed_step *step, ts_error *error);

/* Of the last assignment: the share of each point that each centre has, weights [n,k]; and the number of tied points.
 */
void ts_streamed_layer_weights(const ts_streamed_layer *layer, const int64_t *labels, ts_real *weights);
int64_t ts_streamed_layer_shared(const ts_streamed_layer *layer);

/* Its peak memory in bytes, without the points. */
size_t ts_streamed_layer_bytes(const ts_streamed_layer *layer);

#endif
