/* model.h: an architecture (models/definition/architecture.h) built for some number of features d and of clusters k:
 * layers, parameters, and how they are applied on a tape.
 *
 * Where no parameter's shape depends on d, or on k, the same model serves any d, or any k (any_d, any_k). */
#ifndef TS_MODEL_H
#define TS_MODEL_H

#include "../definition/architecture.h"

enum { TS_MOST_APPLIED = 256 };

typedef struct ts_model {
    ts_architecture *architecture; /* owned */
    ts_layout layout;              /* for the d and k that it was built for */
    bool any_d, any_k;
    ts_params *params;
    int n_built, n_applied;
    ts_layer *built[2 * TS_MOST_APPLIED];                         /* owned */
    ts_layer *points[TS_MOST_APPLIED], *centers[TS_MOST_APPLIED]; /* of a step, in order */
} ts_model;

/* Builds the model; learned weights are initialised from `seed`. Takes the architecture, also if it fails. The error
 * names the part: layers[1].centers[0].attention: 3 heads do not divide 32. *model is then empty. */
ts_status ts_model_build(ts_model *model, ts_architecture *architecture, int64_t d, int64_t k, uint64_t seed,
                         ts_error *error);
void ts_model_clear(ts_model *model); /* an empty or zeroed model is fine */

/* How many numbers the parameters of an architecture would be; -1 with *error set if it is refused. */
int64_t ts_model_size(const ts_architecture *architecture, int64_t d, int64_t k, ts_error *error);

/* How many numbers are trained. */
int64_t ts_model_trained(const ts_model *model);

/* The model's layout for data of d features and k clusters; TS_ERROR_SHAPE if it was built for others. */
ts_status ts_model_layout(const ts_model *model, int64_t d, int64_t k, ts_layout *layout, ts_error *error);

/* ---- one task -----------------------------------------------------------------------------------------------------
 */

/* What a model is applied to. */
typedef struct ts_model_task {
    int64_t n, d, k;
    const ts_real *points;  /* [n,d] */
    const ts_real *centers; /* [k,d] */
    uint64_t seed;          /* of marks, dropout and random maps */
    bool training;          /* dropout drops */
} ts_model_task;

/* The shift and the scale of a standardised model: places are mean + scale * what layers see. Others have 0 and 1. */
typedef struct ts_standard {
    double *mean; /* [d], of the caller's memory */
    double scale;
} ts_standard;
void ts_model_standard(const ts_model *model, const ts_model_task *task, ts_standard *standard);

/* Tokens [n,e] of the points and [k,e] of the centres before the first step. O(n e). */
void ts_model_embed(const ts_model *model, const ts_layout *layout, const ts_model_task *task,
                    const ts_standard *standard, ts_real *points, ts_real *centers);

/* One step: streams->points and ->centers become what the layers make of them. */
void ts_model_step(const ts_model *model, ts_streams *streams);

/* Fresh tokens of centres at c [k,d]: what follows the data is that of `first` [k,e] (the norm of construction dot is
 * computed anew). */
ts_tensor *ts_model_fresh_centers(ts_streams *streams, ts_tensor *c);

/* `steps` steps on a tape with `params`, the model's or shared ones: writes the centres [k,d] after each to
 * after[steps], in units of the data. Random draws are those of training step `step`. What depends on the points alone
 * is computed once where tokens are fresh. */
void ts_model_unroll(const ts_model *model, ts_params *params, ts_tape *tape, const ts_model_task *task, int64_t steps,
                     uint32_t step, ts_tensor **after);

#endif
