#include "sweep_cell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../models/data/scores.h"
#include "../../models/definition/variants.h"
#include "../../models/run/runner.h"
#include "../../train/tasks.h"

int64_t cli_sweep_groups(const cli_sweep_grid *grid) {
    return grid->cells / (int64_t)grid->axis[CLI_SWEEP_GAMMA].count;
}

int64_t cli_sweep_first_cell(const cli_sweep_grid *grid, int64_t group) {
    return group * (int64_t)grid->axis[CLI_SWEEP_GAMMA].count;
}

double cli_sweep_cost(const cli_sweep_grid *grid, int64_t cell) {
    const double k = cli_sweep_value(grid, cell, CLI_SWEEP_CLUSTERS);
    const double d = cli_sweep_value(grid, cell, CLI_SWEEP_DIMENSIONS);
    return cli_sweep_value(grid, cell, CLI_SWEEP_POINTS) * (k * (k + d + 10) + 10 * d);
}

/* The work of one group of cells. */
typedef struct work {
    const cli_sweep_options *options;
    const cli_sweep_grid *grid;
    int64_t first; /* cell */
    ts_problem problem;
    double scale;
    ts_real *points; /* [n,d] of the present task */
    double plain;    /* its objective by Lloyd */
    double *sum;     /* [gammas] of the differences so far */
} work;

/* A task depends on seed, K, D and N: cells that differ in scale or gamma see the same points, times the scale. */
static ts_status draw(const work *w, int64_t task, ts_error *error) {
    const ts_problem *p = &w->problem;
    const ts_task_spec spec = {.n = p->n, .d = p->d, .k = p->k, .family = TS_FAMILY_NORMAL, .scale = TS_TASK_SCALE};
    char name[96];
    snprintf(name, sizeof name, "sweep %lld %lld %lld", (long long)p->k, (long long)p->d, (long long)p->n);
    const ts_status status =
        ts_task_draw(&spec, w->options->shared.seed, ts_rng_stream(name), (uint64_t)task, w->points, NULL, error);
    for (int64_t i = 0; status == TS_OK && i < p->n * p->d; i++)
        w->points[i] = (ts_real)(w->scale * (double)w->points[i]);
    return status;
}

/* The k-means objective of any centres, in double: every point belongs to its nearest one. It is at least what rounding
 * of the coordinates alone can make, so that its logarithm is finite. */
static ts_status objective(const work *w, const ts_real *centers, double *value, ts_error *error) {
    const ts_settings settings = {.construction = "onehot", .gamma = INFINITY, .trim = -1};
    ts_problem p = w->problem;
    p.centers = centers;
    ts_plain *nearest = ts_plain_create(&ts_plain_lloyd, &settings, &p, error);
    if (nearest == NULL) return error->status;
    const ts_status status = ts_plain_finish(nearest, error);
    const double rounding = w->scale * 0x1p-24;
    *value = fmax(ts_objective(p.n, p.d, p.points, centers, ts_plain_state(nearest)->labels),
                  (double)p.n * (double)p.d * rounding * rounding);
    ts_plain_free(nearest);
    return status;
}

static ts_status run_plain(work *w, ts_error *error) {
    const ts_settings settings = {.construction = "onehot", .gamma = INFINITY, .trim = -1};
    ts_plain *plain = ts_plain_create(&ts_plain_lloyd, &settings, &w->problem, error);
    ts_status status = plain == NULL ? error->status : TS_OK;
    /* Once the assignments repeat, so do the centres, to the bit. */
    for (int64_t t = 0; status == TS_OK && t < w->options->steps && !ts_plain_state(plain)->converged; t++)
        status = ts_plain_step(plain, error);
    if (status == TS_OK) status = objective(w, ts_plain_state(plain)->centers, &w->plain, error);
    ts_plain_free(plain);
    return status;
}

static ts_status run_transformer(const work *w, double gamma, double *value, ts_error *error) {
    const ts_variant *lloyd = ts_variant_by_name("lloyd");
    ts_settings settings = ts_variant_settings(lloyd);
    ts_definition definition;
    settings.gamma = gamma;
    if (ts_variant_define(lloyd, &settings, &definition, error) != TS_OK) return error->status;
    ts_runner *runner = ts_runner_create(&definition, &w->problem, error);
    ts_status status = runner == NULL ? error->status : TS_OK;
    for (int64_t t = 0; status == TS_OK && t < w->options->steps; t++) status = ts_runner_step(runner, error);
    if (status == TS_OK) status = objective(w, ts_runner_state(runner)->centers, value, error);
    ts_runner_free(runner);
    return status;
}

static ts_status run_task(work *w, int64_t task, cli_sweep_tell tell, void *caller, ts_error *error) {
    const size_t gammas = w->grid->axis[CLI_SWEEP_GAMMA].count;
    const bool last = task + 1 == w->options->tasks;
    if (draw(w, task, error) != TS_OK || run_plain(w, error) != TS_OK) return error->status;
    for (size_t g = 0; g < gammas; g++) {
        const int64_t cell = w->first + (int64_t)g;
        const double gamma = w->grid->axis[CLI_SWEEP_GAMMA].value[g];
        double value = 0;
        if (cli_sweep_done(w->grid, cell)) continue;
        if (run_transformer(w, gamma, &value, error) != TS_OK) return error->status;
        w->sum[g] += log(value) - log(w->plain);
        if (!isfinite(w->sum[g]))
            return ts_error_set(error, TS_ERROR_VALUE, "gamma %g: the centres are not finite", gamma);
        if (last && !tell(caller, cell, w->sum[g] / (double)w->options->tasks)) break;
    }
    return TS_OK;
}

static bool all_done(const cli_sweep_grid *grid, int64_t first) {
    for (size_t g = 0; g < grid->axis[CLI_SWEEP_GAMMA].count; g++)
        if (!cli_sweep_done(grid, first + (int64_t)g)) return false;
    return true;
}

ts_status cli_sweep_compute(const cli_sweep_grid *grid, int64_t group, cli_sweep_tell tell, void *caller,
                            ts_error *error) {
    const int64_t first = cli_sweep_first_cell(grid, group);
    if (!cli_sweep_valid(grid, first) || all_done(grid, first)) return TS_OK;
    work w = {.options = grid->options, .grid = grid, .first = first};
    w.problem = (ts_problem){.n = (int64_t)cli_sweep_value(grid, first, CLI_SWEEP_POINTS),
                             .d = (int64_t)cli_sweep_value(grid, first, CLI_SWEEP_DIMENSIONS),
                             .k = (int64_t)cli_sweep_value(grid, first, CLI_SWEEP_CLUSTERS),
                             .empty = TS_EMPTY_KEEP,
                             .seed = grid->options->shared.seed};
    w.scale = cli_sweep_value(grid, first, CLI_SWEEP_SCALE);
    w.points = malloc((size_t)(w.problem.n * w.problem.d) * sizeof *w.points);
    w.sum = calloc(grid->axis[CLI_SWEEP_GAMMA].count, sizeof *w.sum);
    w.problem.points = w.problem.centers = w.points; /* the first k rows */
    ts_status status = TS_OK;
    if (w.points == NULL || w.sum == NULL)
        status = ts_error_set(error, TS_ERROR_MEMORY, "out of memory for %lld points", (long long)w.problem.n);
    for (int64_t t = 0; status == TS_OK && t < grid->options->tasks; t++) status = run_task(&w, t, tell, caller, error);
    free(w.points);
    free(w.sum);
    return status;
}
