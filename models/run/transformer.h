/* transformer.h: a definition built into layers and parameters, and its one layer as ops on a tape.
 *
 * Tokens are rows of width e = d + s: data coordinates first, then code, norm and one as the scheme has them
 * (definition.h). Points [..,n,e], centres [..,k,e]. */
#ifndef TS_TRANSFORMER_H
#define TS_TRANSFORMER_H

#include "../../layers/attention_block.h"
#include "../../layers/feed_forward.h"
#include "../../layers/norm_layer.h"
#include "../definition/definition.h"

typedef struct ts_transformer {
    int64_t d, k, c, s, e; /* c: width of the code; s: of all that follows the data */
    ts_scheme scheme;
    bool own_code, has_norm, has_feed_forward;
    ts_params *params; /* "cross_points.query.weight" and so on */
    ts_real *book;     /* the code book [k,c] */
    ts_attention_block cross_points, self_points, cross_centers, self_centers;
    ts_norm_layer norm;
    ts_feed_forward feed_forward;
} ts_transformer;

/* Builds the model; learned projections are initialised from `seed`. On failure *model is empty. */
ts_status ts_transformer_build(ts_transformer *model, const ts_definition *definition, int64_t d, int64_t k,
                               uint64_t seed, ts_error *error);
void ts_transformer_clear(ts_transformer *model); /* an empty or zeroed model is fine */

/* A view of a model, which lends it its parameters: with `params` (shared ones, or the model's own), with random draws
 * of its own, and with dropout or without. Nothing of it is to be cleared. */
ts_transformer ts_transformer_view(const ts_transformer *model, ts_params *params, uint64_t draws, bool dropout);

/* Writes the tokens [rows, e] of rows of data [rows, d] with codes [rows, c] (NULL: zeros). */
void ts_transformer_embed(const ts_transformer *model, int64_t rows, const ts_real *data, const ts_real *code,
                          ts_real *tokens);

/* What tokens of points and of initial centres pass once, before the first layer: the norm, if the model has one. A row
 * of zeros stays one. */
ts_tensor *ts_transformer_enter(const ts_transformer *model, ts_tape *tape, ts_tensor *tokens);

/* The first half of a layer: points' = points + A2(points, points) + A1(points, centres). */
ts_tensor *ts_transformer_assign(const ts_transformer *model, ts_tape *tape, ts_tensor *points, ts_tensor *centers,
                                 uint32_t step);
/* The same in two parts: the first, points + A2(points, points), knows nothing of the centres, so that where points
 * enter every step with fresh tokens it is computed once for all steps. */
ts_tensor *ts_transformer_stream(const ts_transformer *model, ts_tape *tape, ts_tensor *points, uint32_t step);
ts_tensor *ts_transformer_assign_on(const ts_transformer *model, ts_tape *tape, ts_tensor *stream, ts_tensor *points,
                                    ts_tensor *centers, uint32_t step);
/* The second: centres' = centres + A4(centres, centres) + A3(centres, points'), then norm and feed-forward block. */
ts_tensor *ts_transformer_update(const ts_transformer *model, ts_tape *tape, ts_tensor *points, ts_tensor *centers,
                                 uint32_t step);
/* Its two parts: the residual stream, and what comes after it. */
ts_tensor *ts_transformer_move(const ts_transformer *model, ts_tape *tape, ts_tensor *points, ts_tensor *centers,
                               uint32_t step);
ts_tensor *ts_transformer_settle(const ts_transformer *model, ts_tape *tape, ts_tensor *centers);

/* The weights of A1 [..,n,k], and of A3 [..,k,n]. */
ts_tensor *ts_transformer_assign_weights(const ts_transformer *model, ts_tape *tape, ts_tensor *points,
                                         ts_tensor *centers, uint32_t step);
ts_tensor *ts_transformer_update_weights(const ts_transformer *model, ts_tape *tape, ts_tensor *points,
                                         ts_tensor *centers, uint32_t step);

/* The cluster whose code is nearest to a token's code; the lowest index among equals. The model has a code. */
int64_t ts_transformer_decode(const ts_transformer *model, const ts_real *token);

#endif
