/* bench_work_cluster.c: one step of Lloyd's algorithm on uniform points, by the transformer that is it, and plainly.
 * The first K rows are the initial centres. */
#include <math.h>
#include <stdlib.h>

#include "../cli/common/progress.h"
#include "../models/definition/variants.h"
#include "../models/run/runner.h"
#include "bench_work.h"

typedef struct clustering {
    ts_real *points;
    ts_runner *runner; /* this or */
    ts_plain *plain;   /* this */
} clustering;

static void release(void *work) {
    clustering *c = work;
    ts_runner_free(c->runner);
    ts_plain_free(c->plain);
    free(c->points);
    free(c);
}

static clustering *with_points(ts_problem *problem, const int64_t shape[CLI_BENCH_SHAPE], ts_error *error) {
    *problem = (ts_problem){.n = shape[0], .d = shape[1], .k = shape[2]};
    const int64_t count = problem->n * problem->d;
    clustering *c = calloc(1, sizeof *c);
    if (c != NULL) c->points = malloc((size_t)count * sizeof *c->points);
    if (c == NULL || c->points == NULL) {
        ts_error_set(error, TS_ERROR_MEMORY, "out of memory for %lld points", (long long)problem->n);
        free(c);
        return NULL;
    }
    problem->points = problem->centers = c->points;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) c->points[i] = (ts_real)ts_rng_uniform((ts_rng){1, 1, 1}, (uint64_t)i);
    return c;
}

static void *prepare_exact(const int64_t shape[CLI_BENCH_SHAPE], ts_error *error) {
    const ts_variant *lloyd = ts_variant_by_name("lloyd");
    const ts_settings settings = ts_variant_settings(lloyd);
    ts_problem problem;
    ts_definition definition;
    clustering *c = with_points(&problem, shape, error);
    if (c == NULL) return NULL;
    if (ts_variant_define(lloyd, &settings, &definition, error) == TS_OK)
        c->runner = ts_runner_create(&definition, &problem, error);
    if (c->runner != NULL) return c;
    release(c);
    return NULL;
}

static void *prepare_plain(const int64_t shape[CLI_BENCH_SHAPE], ts_error *error) {
    const ts_settings settings = {.construction = "onehot", .gamma = INFINITY, .trim = -1};
    ts_problem problem;
    clustering *c = with_points(&problem, shape, error);
    if (c == NULL) return NULL;
    c->plain = ts_plain_create(&ts_plain_lloyd, &settings, &problem, error);
    if (c->plain != NULL) return c;
    release(c);
    return NULL;
}

static ts_status run(void *work, double *milliseconds, ts_error *error) {
    clustering *c = work;
    const double began = cli_seconds();
    const ts_status status = c->runner != NULL ? ts_runner_step(c->runner, error) : ts_plain_step(c->plain, error);
    *milliseconds = 1e3 * (cli_seconds() - began);
    return status;
}

const cli_bench_kind cli_bench_exact = {"exact", prepare_exact, run, release};
const cli_bench_kind cli_bench_plain = {"plain", prepare_plain, run, release};
