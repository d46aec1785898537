/* learner.c: unrolls a learned model on a tape, and runs it step by step. */
#include "learner.h"

#include <stdlib.h>
#include <string.h>

ts_definition ts_learner(ts_construction construction, double gamma, double dropout) {
    ts_definition d = {.name = "learned", .construction = construction};
    for (int i = 0; i < TS_BLOCKS; i++)
        *ts_definition_block(&d, i) = (ts_block_definition){.score = TS_SCORE_EUCLIDEAN,
                                                            .simplex = {.map = &ts_softmax_map},
                                                            .gamma = gamma,
                                                            .scaled = true,
                                                            .dropout = dropout,
                                                            .query = {.learned = true},
                                                            .key = {.learned = true},
                                                            .value = {.learned = true}};
    return d;
}

/* ---- on a tape -------------------------------------------------------------------------------------------------- */

static ts_tensor *fresh_points(const ts_transformer *model, ts_tape *tape, const ts_real *x, int64_t n) {
    ts_tensor *tokens = ts_constant(tape, TS_SHAPE(n, model->e), NULL);
    if (ts_tape_status(tape) == TS_OK) ts_transformer_embed(model, n, x, NULL, tokens->data);
    return tokens;
}

/* The tokens [c | code]; without a code, c. */
static ts_tensor *fresh_centers(const ts_transformer *model, ts_tape *tape, ts_tensor *c) {
    if (model->c == 0) return c;
    ts_tensor *book = ts_borrow(tape, TS_SHAPE(model->k, model->c), model->book);
    return ts_concat(tape, 2, (ts_tensor *[]){c, book}, -1);
}

void ts_learner_unroll(const ts_transformer *model, ts_tape *tape, const ts_real *x, int64_t n, const ts_real *c,
                       int64_t steps, uint32_t step, ts_tensor **after) {
    ts_tensor *points = fresh_points(model, tape, x, n);
    ts_tensor *stream = ts_transformer_self_attend_points(model, tape, points, step);
    ts_tensor *centers = ts_borrow(tape, TS_SHAPE(model->k, model->d), c);
    for (int64_t t = 0; t < steps; t++) {
        ts_tensor *tokens = fresh_centers(model, tape, centers);
        ts_tensor *assigned =
            ts_transformer_cross_attend_points(model, tape, stream, points, tokens, step + (uint32_t)t);
        ts_tensor *moved = ts_transformer_update(model, tape, assigned, tokens, step + (uint32_t)t);
        centers = ts_slice(tape, moved, -1, 0, model->d);
        after[t] = centers;
    }
}

/* ---- runs ---------------------------------------------------------------------------------------------------- */

struct ts_learner_run {
    ts_transformer model; /* a view */
    ts_tape *tape;
    ts_learner_mode mode;
    int64_t n, room;
    ts_real *points, *stream; /* [n,e] tokens, and tokens plus their self-attention */
    ts_real *tokens;          /* [k,e] tokens of the centres */
    ts_real *centers;         /* [k,d] */
};

ts_learner_run *ts_learner_run_create(const ts_transformer *model) {
    ts_learner_run *run = calloc(1, sizeof *run);
    if (run == NULL) return NULL;
    run->model = ts_transformer_view(model, model->params, 0, false);
    run->tape = ts_tape_create(TS_INFER);
    run->tokens = malloc((size_t)(model->k * model->e) * sizeof *run->tokens);
    run->centers = malloc((size_t)(model->k * model->d) * sizeof *run->centers);
    if (run->tape != NULL && run->tokens != NULL && run->centers != NULL) return run;
    ts_learner_run_free(run);
    return NULL;
}

void ts_learner_run_free(ts_learner_run *run) {
    if (run == NULL) return;
    ts_tape_free(run->tape);
    free(run->points);
    free(run->stream);
    free(run->tokens);
    free(run->centers);
    free(run);
}

const ts_real *ts_learner_run_centers(const ts_learner_run *run) {
    return run->centers;
}

static ts_status tape_failure(const ts_learner_run *run, ts_error *error) {
    return ts_error_set(error, ts_tape_status(run->tape), "%s", ts_tape_error(run->tape));
}

static bool make_room(ts_learner_run *run, int64_t n) {
    if (n <= run->room) return true;
    free(run->points);
    free(run->stream);
    run->points = malloc((size_t)(n * run->model.e) * sizeof *run->points);
    run->stream = malloc((size_t)(n * run->model.e) * sizeof *run->stream);
    run->room = run->points != NULL && run->stream != NULL ? n : 0;
    return run->room > 0;
}

/* Computes the points' self-attention once: their new tokens are the same in every step. */
static ts_status keep_stream(ts_learner_run *run, ts_error *error) {
    const ts_transformer *model = &run->model;
    ts_tape_reset(run->tape);
    ts_tensor *points = ts_borrow(run->tape, TS_SHAPE(run->n, model->e), run->points);
    const ts_tensor *stream = ts_transformer_self_attend_points(model, run->tape, points, 0);
    if (ts_tape_status(run->tape) != TS_OK) return tape_failure(run, error);
    memcpy(run->stream, stream->data, (size_t)(run->n * model->e) * sizeof *run->stream);
    return TS_OK;
}

ts_status ts_learner_run_begin(ts_learner_run *run, int64_t n, const ts_real *points, const ts_real *centers,
                               ts_learner_mode mode, ts_error *error) {
    const ts_transformer *model = &run->model;
    if (!make_room(run, n)) return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for %lld points", (long long)n);
    run->n = n;
    run->mode = mode;
    memcpy(run->centers, centers, (size_t)(model->k * model->d) * sizeof *centers);
    ts_transformer_embed(model, n, points, NULL, run->points);
    ts_transformer_embed(model, model->k, centers, model->book, run->tokens);
    return mode == TS_LEARNER_RAW ? TS_OK : keep_stream(run, error);
}

ts_status ts_learner_run_step(ts_learner_run *run, ts_error *error) {
    const ts_transformer *model = &run->model;
    const int64_t k = model->k, d = model->d, e = model->e;
    ts_tape_reset(run->tape);
    ts_tensor *points = ts_borrow(run->tape, TS_SHAPE(run->n, e), run->points);
    ts_tensor *tokens = ts_borrow(run->tape, TS_SHAPE(k, e), run->tokens);
    ts_tensor *stream = run->mode == TS_LEARNER_RAW ? ts_transformer_self_attend_points(model, run->tape, points, 0)
                                                    : ts_borrow(run->tape, TS_SHAPE(run->n, e), run->stream);
    ts_tensor *assigned = ts_transformer_cross_attend_points(model, run->tape, stream, points, tokens, 0);
    const ts_tensor *moved = ts_transformer_update(model, run->tape, assigned, tokens, 0);
    if (ts_tape_status(run->tape) != TS_OK) return tape_failure(run, error);
    for (int64_t j = 0; j < k; j++) memcpy(run->centers + j * d, moved->data + j * e, (size_t)d * sizeof *run->centers);
    if (run->mode == TS_LEARNER_RAW) {
        memcpy(run->points, assigned->data, (size_t)(run->n * e) * sizeof *run->points);
        memcpy(run->tokens, moved->data, (size_t)(k * e) * sizeof *run->tokens);
    } else {
        ts_transformer_embed(model, k, run->centers, model->book, run->tokens);
    }
    return TS_OK;
}
