/* model_run.c: steps of a model without a graph. */
#include "model_run.h"

#include <stdlib.h>
#include <string.h>

struct ts_model_run {
    const ts_model *model;
    ts_layout layout;
    ts_model_task task;
    ts_tape *tape;
    bool keeps;
    int64_t room; /* numbers */
    ts_real *memory;
    ts_real *first_points, *first_centers, *points, *tokens, *centers; /* in `memory`; points: where tokens are kept */
    ts_real *assigned;                                                 /* tokens of the points after the last step */
    ts_standard standard;
    uint32_t step;
    /* Outputs that depend on fresh points alone: layers and their rows [n,e]. */
    int n_memo;
    const ts_layer *memo_of[TS_MEMO];
    ts_real *memo[TS_MEMO];
};

ts_model_run *ts_model_run_create(const ts_model *model) {
    ts_model_run *run = calloc(1, sizeof *run);
    if (run == NULL) return NULL;
    run->model = model;
    run->tape = ts_tape_create(TS_INFER);
    if (run->tape != NULL) return run;
    free(run);
    return NULL;
}

static void forget(ts_model_run *run) {
    for (int i = 0; i < run->n_memo; i++) free(run->memo[i]);
    run->n_memo = 0;
}

void ts_model_run_free(ts_model_run *run) {
    if (run == NULL) return;
    forget(run);
    ts_tape_free(run->tape);
    free(run->memory);
    free(run->standard.mean);
    free(run);
}

const ts_real *ts_model_run_centers(const ts_model_run *run) {
    return run->centers;
}

const ts_real *ts_model_run_points(const ts_model_run *run) {
    return run->assigned;
}

size_t ts_model_run_bytes(const ts_model_run *run) {
    return ts_tape_bytes(run->tape);
}

static ts_status tape_failure(const ts_model_run *run, ts_error *error) {
    return ts_error_set(error, ts_tape_status(run->tape), "%s", ts_tape_error(run->tape));
}

static bool make_room(ts_model_run *run) {
    const int64_t n = run->task.n, k = run->task.k, d = run->task.d, e = run->layout.e;
    const int64_t needed = 3 * n * e + 2 * k * e + k * d;
    free(run->standard.mean);
    run->standard.mean = malloc((size_t)d * sizeof(double));
    if (needed > run->room) {
        free(run->memory);
        run->memory = malloc((size_t)needed * sizeof *run->memory);
        run->room = run->memory != NULL ? needed : 0;
    }
    if (run->memory == NULL || run->standard.mean == NULL) return false;
    run->first_points = run->memory;
    run->points = run->first_points + n * e;
    run->assigned = run->points + n * e;
    run->first_centers = run->assigned + n * e;
    run->tokens = run->first_centers + k * e;
    run->centers = run->tokens + k * e;
    return true;
}

ts_streams ts_model_run_streams(ts_model_run *run) {
    const int64_t n = run->task.n, k = run->task.k, e = run->layout.e;
    ts_tape_reset(run->tape);
    ts_streams s = {.tape = run->tape,
                    .params = run->model->params,
                    .layout = run->layout,
                    .training = run->task.training,
                    .seed = run->task.seed,
                    .step = run->step};
    s.first_points = ts_borrow(run->tape, TS_SHAPE(n, e), run->first_points);
    s.first_centers = ts_borrow(run->tape, TS_SHAPE(k, e), run->first_centers);
    s.points = run->keeps ? ts_borrow(run->tape, TS_SHAPE(n, e), run->points) : s.first_points;
    s.centers = ts_borrow(run->tape, TS_SHAPE(k, e), run->tokens);
    s.fresh = run->keeps ? NULL : s.first_points;
    for (int i = 0; i < run->n_memo; i++) {
        s.memo[i].layer = run->memo_of[i];
        s.memo[i].output = ts_borrow(run->tape, TS_SHAPE(n, e), run->memo[i]);
    }
    s.n_memo = run->n_memo;
    return s;
}

/* Computes and keeps what a layer makes of fresh points, if it sees nothing else; else looks at its parts, as far as
 * they see fresh points themselves. */
static ts_status remember(ts_model_run *run, const ts_layer *layer, ts_error *error) {
    const ts_layer_type *type = layer->spec->type;
    const size_t size = (size_t)(run->task.n * run->layout.e) * sizeof(ts_real);
    if (type->alone != NULL && type->alone(layer)) {
        if (run->n_memo == TS_MEMO) return TS_OK;
        ts_streams s = ts_model_run_streams(run);
        const ts_tensor *output = type->forward(layer, &s, s.fresh);
        if (ts_tape_status(run->tape) != TS_OK) return tape_failure(run, error);
        ts_real *kept = malloc(size);
        if (kept == NULL)
            return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for %lld points", (long long)run->task.n);
        memcpy(kept, output->data, size);
        run->memo_of[run->n_memo] = layer;
        run->memo[run->n_memo++] = kept;
        return TS_OK;
    }
    if (!type->list) return TS_OK;
    const bool branches = type->last_first; /* all of them see x; else only the first layer does */
    for (int i = 0; i < layer->n_parts && (i == 0 || branches); i++)
        if (remember(run, layer->part[i], error) != TS_OK) return error->status;
    return TS_OK;
}

ts_status ts_model_run_begin(ts_model_run *run, const ts_model_task *task, ts_run_mode mode, ts_error *error) {
    const ts_model *model = run->model;
    if (ts_model_layout(model, task->d, task->k, &run->layout, error) != TS_OK) return error->status;
    run->task = *task;
    run->step = 0;
    run->keeps = mode == TS_RUN_RAW || (mode == TS_RUN_AS_MODEL && model->architecture->keeps_tokens);
    forget(run);
    if (!make_room(run))
        return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for %lld points", (long long)task->n);
    ts_model_standard(model, task, &run->standard);
    ts_model_embed(model, &run->layout, task, &run->standard, run->first_points, run->first_centers);
    memcpy(run->tokens, run->first_centers, (size_t)(task->k * run->layout.e) * sizeof(ts_real));
    memcpy(run->centers, task->centers, (size_t)(task->k * task->d) * sizeof(ts_real));
    memcpy(run->points, run->first_points, (size_t)(task->n * run->layout.e) * sizeof(ts_real));
    memcpy(run->assigned, run->first_points, (size_t)(task->n * run->layout.e) * sizeof(ts_real));
    return run->keeps ? TS_OK : remember(run, model->points[0], error);
}

/* Reads the centres' places, and makes the tokens that the next step begins with. */
static void settle(ts_model_run *run, ts_streams *s) {
    const int64_t k = run->task.k, d = run->task.d, e = run->layout.e;
    const double scale = run->standard.scale, *mean = run->standard.mean;
    for (int64_t j = 0; j < k; j++)
        for (int64_t a = 0; a < d; a++) {
            const ts_real c = s->centers->data[j * e + a];
            run->centers[j * d + a] = scale == 1 ? c : (ts_real)(c * (ts_real)scale) + (ts_real)mean[a];
        }
    memcpy(run->assigned, s->points->data, (size_t)(run->task.n * e) * sizeof(ts_real));
    if (run->keeps) {
        memcpy(run->points, s->points->data, (size_t)(run->task.n * e) * sizeof(ts_real));
        memcpy(run->tokens, s->centers->data, (size_t)(k * e) * sizeof(ts_real));
    } else {
        const ts_tensor *tokens = ts_model_fresh_centers(s, ts_data_of(s, s->centers));
        if (ts_tape_status(run->tape) == TS_OK) memcpy(run->tokens, tokens->data, (size_t)(k * e) * sizeof(ts_real));
    }
}

ts_status ts_model_run_step(ts_model_run *run, ts_error *error) {
    ts_streams s = ts_model_run_streams(run);
    ts_model_step(run->model, &s);
    if (ts_tape_status(run->tape) == TS_OK) settle(run, &s);
    if (ts_tape_status(run->tape) != TS_OK) return tape_failure(run, error);
    run->step++;
    return TS_OK;
}
