/* transformer.h: builds a definition into layers and parameters, and applies its layer by ops on a tape.
 *
 * Tokens are rows of width e = d + s: first the data coordinates, then code, norm and one, as far as the construction
 * has them (definition.h). Tokens of points are [..,n,e], of centres [..,k,e]. Failures are recorded on the tape
 * (tape.h).
 */
#ifndef TS_TRANSFORMER_H
#define TS_TRANSFORMER_H

#include "../../layers/attention_block.h"
#include "../../layers/feed_forward.h"
#include "../../layers/norm_layer.h"
#include "../definition/definition.h"
#include "model.h"

typedef struct ts_transformer {
    int64_t d, k, c, s, e; /* c: width of the code; s: width of all that follows the data */
    ts_construction construction;
    bool own_code, has_norm, has_feed_forward;
    ts_params *params; /* "cross_points.query.weight" etc. */
    ts_real *book;     /* the code book [k,c] */
    ts_attention_block cross_points, self_points, cross_centers, self_centers;
    ts_norm_layer norm;
    ts_feed_forward feed_forward;
} ts_transformer;

/* Builds the model; learned projections are initialised from `seed`. Fails on a definition that ts_definition_check
 * refuses, and if memory is short; *model is then empty. */
ts_status ts_transformer_build(ts_transformer *model, const ts_definition *definition, int64_t d, int64_t k,
                               uint64_t seed, ts_error *error);
void ts_transformer_clear(ts_transformer *model); /* an empty or zeroed model is fine */

/* A view of a model, which must outlive it: it uses `params` (shared ones, or the model's own), has its own random
 * draws, and is with or without dropout. Do not clear it. */
ts_transformer ts_transformer_view(const ts_transformer *model, ts_params *params, uint64_t draw_seed, bool dropout);

/* The same layer as a model (model.h) that was made of a definition, with a copy of its parameters; TS_ERROR_VALUE for
 * models of other layers. Clear it. */
ts_status ts_transformer_of_model(ts_transformer *transformer, const ts_model *model, ts_error *error);

/* Writes the tokens [rows, e] of rows of data [rows, d] with codes [rows, c] (NULL: zeros). */
void ts_transformer_embed(const ts_transformer *model, int64_t rows, const ts_real *data, const ts_real *code,
                          ts_real *tokens);

/* Applied once to tokens of points and of initial centres, before the first layer: the norm, if the model has one. A
 * row of zeros stays zero. */
ts_tensor *ts_transformer_norm_input(const ts_transformer *model, ts_tape *tape, ts_tensor *tokens);

/* The first half of a layer: points' = points + A2(points, points) + A1(points, centres). */
ts_tensor *ts_transformer_assign(const ts_transformer *model, ts_tape *tape, ts_tensor *points, ts_tensor *centers,
                                 uint32_t step);
/* The same in two parts. The first, points + A2(points, points), does not depend on the centres: if points have the
 * same tokens in every step it is computed once. The second adds A1(points, centres) to that stream. */
ts_tensor *ts_transformer_self_attend_points(const ts_transformer *model, ts_tape *tape, ts_tensor *points,
                                             uint32_t step);
ts_tensor *ts_transformer_cross_attend_points(const ts_transformer *model, ts_tape *tape, ts_tensor *stream,
                                              ts_tensor *points, ts_tensor *centers, uint32_t step);
/* The second half: centres' = centres + A4(centres, centres) + A3(centres, points'), then norm and feed-forward block.
 */
ts_tensor *ts_transformer_update(const ts_transformer *model, ts_tape *tape, ts_tensor *points, ts_tensor *centers,
                                 uint32_t step);
/* The same in two parts: the attention with its residual stream, and the norm and feed-forward block. */
ts_tensor *ts_transformer_attend_centers(const ts_transformer *model, ts_tape *tape, ts_tensor *points,
                                         ts_tensor *centers, uint32_t step);
ts_tensor *ts_transformer_norm_and_feed_forward(const ts_transformer *model, ts_tape *tape, ts_tensor *centers);

/* The attention weights of A1 [..,n,k], and of A3 [..,k,n], before dropout. */
ts_tensor *ts_transformer_assign_weights(const ts_transformer *model, ts_tape *tape, ts_tensor *points,
                                         ts_tensor *centers, uint32_t step);
ts_tensor *ts_transformer_update_weights(const ts_transformer *model, ts_tape *tape, ts_tensor *points,
                                         ts_tensor *centers, uint32_t step);

/* The cluster whose code is nearest to a token's code; the lowest index among equals. The model must have a code. */
int64_t ts_transformer_decode(const ts_transformer *model, const ts_real *token);

#endif
