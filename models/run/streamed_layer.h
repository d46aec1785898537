/* streamed_layer.h: a step of k-means for a layer that is one, without its tokens.
 *
 * A definition says what a layer computes, not how. One whose blocks are those of theorem 2.1 (definition.h) - points
 * choose the nearest centre and take its code for their own, centres become the mean of the points that carry theirs -
 * computes labels and means, whatever it is called and in whatever order its ops might run. A streamed layer computes
 * these from rows of data: a step reads each once, and tokens never exist. Nearest may mean by distance, or by dot
 * product; a norm before the first step and after each (spherical k-means) is the caller's part.
 *
 * Centres come in double and means go out in double. Where they hold numbers of ts_real, and points do, what the
 * layer's ops would compute is computed here, in the same arithmetic: labels, and which centres share a tie: equal,
 * always (nearest_key.h); centres: sums in double in the order of the rows, divided, to be rounded once. The same bits
 * up to 4096 rows. Beyond, the rows are cut into at most 64 parts, by n and k alone, whose sums are added in order: a
 * sum differs by at most n DBL_EPSILON times the sum of magnitudes, which the rounding to float hides but where it
 * falls on its edge. */
#ifndef TS_STREAMED_LAYER_H
#define TS_STREAMED_LAYER_H

#include "../data/clustering.h"
#include "../definition/definition.h"

typedef struct ts_streamed_layer ts_streamed_layer;

/* Whether the definition has that structure on d coordinates and k clusters: one-hot or binary codes; points look at
 * the whole data by argmax or, with one-hot codes, hardmax; centres match the whole code by one-hot dot products and
 * the linear map, or by hardmax, or are means of their own points, none of which is trimmed; both erase what they
 * overwrite; there may be a norm, and nothing else. */
bool ts_streamed_layer_fits(const ts_definition *definition, int64_t d, int64_t k);

/* Whether it can take numbers as far from 0 as `reach`: finite, and no squared distance overflows a double. */
bool ts_streamed_layer_reaches(double reach);

/* What a layer reads. */
typedef struct ts_streamed_rows {
    ts_points points;
    const double *weights; /* [n] what a point is multiplied with before it is added to a mean; NULL: 1 */
    bool whole_shares; /* a point that m centres share gives 1/m to each, in double; else that as a ts_real, as tokens
                          hold it */
} ts_streamed_rows;

/* For a definition that fits, and rows that must outlive the layer. NULL when memory is short. */
ts_streamed_layer *ts_streamed_layer_create(const ts_definition *definition, const ts_streamed_rows *rows, int64_t k,
                                            ts_error *error);
void ts_streamed_layer_free(ts_streamed_layer *layer);

/* What a step finds. */
typedef struct ts_streamed_step {
    bool same;      /* the assignments are those before, labels as they were in `labels` */
    double *means;  /* [k,d] of the points of each cluster, 0 where it has none; NULL: not wanted */
    bool *occupied; /* [k] whether it has any; with the means */
} ts_streamed_step;

/* Assigns all points to centres [k,d], writing labels [n], and finds the means. O(nkd); the same bits at any number of
 * threads. */
ts_status ts_streamed_layer_step(ts_streamed_layer *layer, const double *centers, int64_t *labels,
                                 ts_streamed_step *step, ts_error *error);

/* Of the last assignment: what each point gives to each centre, weights [n,k]; and how many points share a tie. */
void ts_streamed_layer_weights(const ts_streamed_layer *layer, const int64_t *labels, ts_real *weights);
int64_t ts_streamed_layer_shared(const ts_streamed_layer *layer);

/* Bytes that it has held at once, the points left out. */
size_t ts_streamed_layer_bytes(const ts_streamed_layer *layer);

#endif
