/* evaluation.c: objectives of Lloyd's algorithm and of a learned model, task by task. */
#include "evaluation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../autograd/parallel.h"
#include "../models/data/nearest.h"
#include "../models/data/seeding.h"
#include "../models/reference/plain.h"

const char *const ts_start_names[] = {"random", "kmeans++", "gonzalez", NULL};

uint64_t ts_evaluation_seed(uint64_t seed) {
    return ts_rng_bits((ts_rng){seed, ts_rng_stream("evaluation"), 0}, 0);
}

double ts_log_objective(int64_t n, int64_t d, int64_t k, const ts_real *points, const ts_real *centers) {
    double total = 0;
    for (int64_t i = 0; i < n; i++) total += ts_nearest(d, k, points + i * d, centers, NULL);
    return log(total);
}

/* The memory of one thread, and its task. */
typedef struct evaluator {
    const ts_evaluation *e;
    ts_model_run *run; /* NULL: only Lloyd's algorithm runs */
    ts_task_buffer buffer;
    ts_task task;
    ts_real *centers; /* [k,d] for the largest k and d */
    int64_t *rows;
} evaluator;

static bool take_memory(evaluator *v, const ts_model *model, const ts_evaluation *e) {
    const int64_t d = e->source != NULL ? e->source->d.most : e->task.d,
                  k = e->source != NULL ? e->source->k.most : e->task.k;
    *v = (evaluator){.e = e};
    v->centers = malloc((size_t)(k * d) * sizeof *v->centers);
    v->rows = malloc((size_t)k * sizeof *v->rows);
    v->run = model != NULL ? ts_model_run_create(model) : NULL;
    return v->centers != NULL && v->rows != NULL && (v->run != NULL || model == NULL);
}

static void give_memory(evaluator *v) {
    ts_task_buffer_clear(&v->buffer);
    free(v->centers);
    free(v->rows);
    ts_model_run_free(v->run);
}

static ts_status draw_points(evaluator *v, int64_t task, ts_error *error) {
    const ts_task_spec *t = &v->e->task;
    if (v->e->source != NULL)
        return ts_source_draw(v->e->source, v->e->seed, 0, (uint64_t)task, &v->buffer, &v->task, error);
    if (!ts_task_buffer_fit(&v->buffer, t->n, t->d, ts_task_room(t)))
        return ts_error_set(error, TS_ERROR_MEMORY, "task: out of memory for n = %lld rows", (long long)t->n);
    v->task = (ts_task){t->n, t->d, t->k, v->buffer.points};
    return ts_task_draw_in(v->buffer.room, t, v->e->seed, 0, (uint64_t)task, v->buffer.points, NULL, error);
}

static ts_status draw(evaluator *v, int64_t task, ts_error *error) {
    static const ts_seeding seedings[] = {TS_SEED_FIRST, TS_SEED_KMEANS_PP, TS_SEED_GONZALEZ};
    ts_status status = draw_points(v, task, error);
    const ts_task *t = &v->task;
    const ts_points points = {.n = t->n, .d = t->d, .real = t->points};
    if (status == TS_OK)
        status = ts_seed_rows(seedings[v->e->start], &points, t->k, 0,
                              ts_rng_bits((ts_rng){v->e->seed, ts_rng_stream("evaluation start"), 0}, (uint64_t)task),
                              v->rows, error);
    for (int64_t j = 0; status == TS_OK && j < t->k; j++)
        memcpy(v->centers + j * t->d, t->points + v->rows[j] * t->d, (size_t)t->d * sizeof *v->centers);
    return status;
}

static double log_objective(const evaluator *v, const ts_real *centers) {
    return ts_log_objective(v->task.n, v->task.d, v->task.k, v->task.points, centers);
}

static ts_status follow_lloyd(const evaluator *v, double *curve, ts_error *error) {
    const ts_task *t = &v->task;
    const ts_problem problem = {.n = t->n, .d = t->d, .k = t->k, .points = t->points, .centers = v->centers};
    const ts_settings settings = {.gamma = INFINITY};
    ts_plain *lloyd = ts_plain_create(&ts_plain_lloyd, &settings, &problem, error);
    if (lloyd == NULL) return error->status;
    const ts_clustering *state = ts_plain_state(lloyd);
    curve[0] = log_objective(v, v->centers);
    for (int64_t s = 1; s <= v->e->steps && error->status == TS_OK; s++) {
        if (!state->converged) ts_plain_step(lloyd, error);
        curve[s] = state->converged && s > 1 ? curve[s - 1] : log_objective(v, state->centers);
    }
    ts_plain_free(lloyd);
    return error->status;
}

static ts_status follow_model(const evaluator *v, int64_t task, double *curve, ts_error *error) {
    curve[0] = log_objective(v, v->centers);
    const ts_task *t = &v->task;
    const ts_model_task of_model = {
        .n = t->n,
        .d = t->d,
        .k = t->k,
        .points = t->points,
        .centers = v->centers,
        .seed = ts_rng_bits((ts_rng){v->e->seed, ts_rng_stream("evaluation draws"), 0}, (uint64_t)task)};
    if (ts_model_run_begin(v->run, &of_model, v->e->mode, error) != TS_OK) return error->status;
    for (int64_t s = 1; s <= v->e->steps; s++) {
        if (ts_model_run_step(v->run, error) != TS_OK) return error->status;
        curve[s] = log_objective(v, ts_model_run_centers(v->run));
    }
    return TS_OK;
}

static ts_status evaluate_task(evaluator *v, int64_t task, double *lloyd, double *learned, ts_error *error) {
    const int64_t width = v->e->steps + 1;
    if (draw(v, task, error) != TS_OK) return error->status;
    if (lloyd != NULL && follow_lloyd(v, lloyd + task * width, error) != TS_OK) return error->status;
    if (learned != NULL) return follow_model(v, task, learned + task * width, error);
    return TS_OK;
}

ts_status ts_evaluate(const ts_model *model, const ts_evaluation *e, double *lloyd, double *learned, ts_error *error) {
    ts_layout layout;
    if (e->source == NULL && ts_task_check(&e->task, error) != TS_OK) return error->status;
    if (e->source == NULL && learned != NULL && ts_model_layout(model, e->task.d, e->task.k, &layout, error) != TS_OK)
        return error->status;
    ts_error failure = {.status = TS_OK};
#pragma omp parallel if (ts_can_share(e->tasks) && e->tasks >= ts_max_threads())
    {
        evaluator v;
        ts_error mine = {.status = TS_OK};
        if (!take_memory(&v, learned != NULL ? model : NULL, e))
            ts_error_set(&mine, TS_ERROR_MEMORY, "out of memory for tasks");
#pragma omp for schedule(dynamic, 1)
        for (int64_t task = 0; task < e->tasks; task++)
            if (mine.status == TS_OK) evaluate_task(&v, task, lloyd, learned, &mine);
#pragma omp critical(ts_evaluate)
        if (mine.status != TS_OK) ts_error_set(&failure, mine.status, "%s", mine.text);
        give_memory(&v);
    }
    if (failure.status != TS_OK) ts_error_set(error, failure.status, "%s", failure.text);
    return failure.status;
}
