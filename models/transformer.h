/* transformer.h: a definition built into layers and parameters, and its one layer as ops on a tape.
 *
 * Tokens are rows of width e = d + s: data coordinates first, scratch after. Points [..,n,e], centres [..,k,e]. */
#ifndef TS_TRANSFORMER_H
#define TS_TRANSFORMER_H

#include "../layers/attention_block.h"
#include "definition.h"

typedef struct ts_transformer {
    int64_t d, k, s, e;
    ts_params *params; /* "cross_points.query.weight" and so on */
    ts_attention_block cross_points, self_points, cross_centers, self_centers;
} ts_transformer;

/* Builds the model; learned projections are initialised from `seed`. On failure *model is empty. */
ts_status ts_transformer_build(ts_transformer *model, const ts_definition *definition, int64_t d, int64_t k,
                               uint64_t seed, ts_error *error);
void ts_transformer_clear(ts_transformer *model); /* an empty or zeroed model is fine */

/* The first half of a layer: points' = points + A2(points, points) + A1(points, centres). */
ts_tensor *ts_transformer_assign(const ts_transformer *model, ts_tape *tape, ts_tensor *points, ts_tensor *centers,
                                 uint32_t step);
/* The second: centres' = centres + A4(centres, centres) + A3(centres, points'). */
ts_tensor *ts_transformer_update(const ts_transformer *model, ts_tape *tape, ts_tensor *points, ts_tensor *centers,
                                 uint32_t step);

/* Writes the tokens [rows, e] of rows of data [rows, d] with scratch [rows, s] (NULL: zeros). */
void ts_transformer_embed(const ts_transformer *model, int64_t rows, const ts_real *data, const ts_real *scratch,
                          ts_real *tokens);

#endif
