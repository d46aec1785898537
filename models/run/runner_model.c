/* runner_model.c: runs models of any layers: their steps, and labels of their centres. */
#include "runner.h"

#include <stdlib.h>
#include <string.h>

#include "../../autograd/parallel.h"
#include "../data/nearest.h"
#include "runner_parts.h"

/* Labels every point with its nearest centre, the lowest index among equals; whether any label changed. */
static bool label_nearest(ts_runner *c) {
    const ts_points points = ts_problem_points(&c->problem);
    const int64_t n = c->problem.n, k = c->problem.k;
    bool changed = false;
#pragma omp parallel for reduction(|| : changed) if (ts_worth_parallel(n * k * c->problem.d))
    for (int64_t i = 0; i < n; i++) {
        int64_t nearest;
        ts_point_nearest(&points, i, k, c->places, &nearest);
        changed = changed || c->state.labels[i] != nearest;
        c->state.labels[i] = nearest;
    }
    return changed;
}

/* The same by the codes that the points carry after a step. */
static bool label_by_codes(ts_runner *c) {
    const ts_layout layout = ts_layout_of(&c->of->architecture->tokens, c->problem.d, c->problem.k);
    const ts_real *tokens = ts_model_run_points(c->run);
    bool changed = false;
    for (int64_t i = 0; i < c->problem.n; i++) {
        const int64_t label = ts_layout_decode(&layout, tokens + i * layout.e);
        changed = changed || c->state.labels[i] != label;
        c->state.labels[i] = label;
    }
    return changed;
}

ts_status ts_runner_step_model(ts_runner *c, ts_error *error) {
    if (ts_model_run_step(c->run, error) != TS_OK) return error->status;
    const ts_real *centers = ts_model_run_centers(c->run);
    for (int64_t i = 0; i < c->problem.k * c->problem.d; i++) {
        c->state.centers[i] = centers[i];
        c->places[i] = (double)centers[i];
    }
    c->state.steps++;
    c->state.converged = !(c->of->architecture->labels == TS_LABELS_CODE ? label_by_codes : label_nearest)(c);
    return TS_OK;
}

static ts_status begin(ts_runner *c, ts_run_mode mode, ts_error *error) {
    const ts_problem *p = &c->problem;
    const size_t size = (size_t)(p->k * p->d);
    const ts_model_task task = {
        .n = p->n, .d = p->d, .k = p->k, .points = p->points, .centers = p->centers, .seed = p->seed};
    c->run = ts_model_run_create(c->of);
    c->state.centers = malloc(size * sizeof *c->state.centers);
    c->state.exact_centers = c->places = malloc(size * sizeof *c->places);
    c->state.labels = calloc((size_t)p->n, sizeof *c->state.labels);
    if (c->run == NULL || c->state.centers == NULL || c->places == NULL || c->state.labels == NULL)
        return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a runner");
    if (ts_model_run_begin(c->run, &task, mode, error) != TS_OK) return error->status;
    for (size_t i = 0; i < size; i++) {
        c->state.centers[i] = p->centers[i];
        c->places[i] = p->exact_centers != NULL ? p->exact_centers[i] : (double)p->centers[i];
    }
    c->problem.centers = NULL; /* copied: the caller's need not outlive this call */
    label_nearest(c);
    return TS_OK;
}

ts_runner *ts_runner_create_for(const ts_model *model, const ts_problem *problem, ts_run_mode mode, ts_error *error) {
    ts_runner *c = calloc(1, sizeof *c);
    if (c == NULL) {
        ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a runner");
        return NULL;
    }
    c->problem = *problem;
    c->of = model;
    if (begin(c, mode, error) == TS_OK) return c;
    ts_runner_free(c);
    return NULL;
}
