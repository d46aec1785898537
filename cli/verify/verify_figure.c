#include "verify_figure.h"

#include <math.h>
#include <stdlib.h>

#include "../../models/reference/plain.h"
#include "../../models/run/runner.h"
#include "../../train/evaluation.h"

enum { DIMS = 2, CLUSTERS = 5 };
static const double GAMMA = 1e4, SCALE = 5;

const double cli_figure_published[CLI_FIGURE_STEPS + 1] = {6.44, 5.78, 5.47, 4.96, 4.69, 4.61,
                                                           4.59, 4.59, 4.59, 4.59, 4.59};

typedef struct pair {
    ts_runner *circuit;
    ts_plain *plain;
} pair;

static ts_status start(const ts_problem *problem, const char *construction, pair *p, ts_error *error) {
    const ts_variant *lloyd = ts_variant_by_name("lloyd");
    ts_settings settings = ts_variant_settings(lloyd);
    ts_definition definition;
    p->plain = ts_plain_create(&ts_plain_lloyd, &settings, problem, error);
    settings.construction = construction;
    settings.gamma = GAMMA;
    if (p->plain == NULL || ts_variant_define(lloyd, &settings, &definition, error) != TS_OK) return error->status;
    p->circuit = ts_runner_create(&definition, problem, error);
    return error->status;
}

/* The log objective of the points before scaling, which the paper's figure shows. */
static double log_objective(const ts_problem *problem, const ts_real *centers) {
    return ts_log_objective(problem->n, problem->d, problem->k, problem->points, centers) - log(SCALE * SCALE);
}

static ts_status follow(const ts_problem *problem, const pair *p, cli_figure *f, ts_error *error) {
    for (int t = 0; t <= CLI_FIGURE_STEPS; t++) {
        if (t > 0 && (ts_runner_step(p->circuit, error) != TS_OK || ts_plain_step(p->plain, error) != TS_OK))
            return error->status;
        f->circuit[t] = log_objective(problem, ts_runner_state(p->circuit)->centers);
        f->lloyd[t] = log_objective(problem, ts_plain_state(p->plain)->centers);
        const double difference = fabs(f->circuit[t] - f->lloyd[t]);
        if (!(difference <= f->difference)) f->difference = difference;
    }
    f->onehot = ts_runner_onehot_rows(p->circuit);
    return TS_OK;
}

ts_status cli_figure_run(const char *construction, uint64_t seed, cli_figure *figure, ts_error *error) {
    const ts_task_spec spec = {
        .n = CLI_FIGURE_POINTS, .d = DIMS, .k = CLUSTERS, .family = TS_FAMILY_NORMAL, .scale = TS_TASK_SCALE};
    pair p = {0};
    *figure = (cli_figure){.construction = construction};
    ts_real *points = malloc((size_t)CLI_FIGURE_POINTS * DIMS * sizeof *points);
    if (points == NULL) return ts_error_set(error, TS_ERROR_MEMORY, "out of memory");
    const ts_problem problem = {
        .n = CLI_FIGURE_POINTS, .d = DIMS, .k = CLUSTERS, .points = points, .centers = points, .seed = seed};
    ts_status status = ts_task_draw(&spec, seed, 0, 0, points, NULL, error);
    for (int64_t i = 0; status == TS_OK && i < CLI_FIGURE_POINTS * DIMS; i++) points[i] *= (ts_real)SCALE;
    if (status == TS_OK) status = start(&problem, construction, &p, error);
    if (status == TS_OK) status = follow(&problem, &p, figure, error);
    ts_runner_free(p.circuit);
    ts_plain_free(p.plain);
    free(points);
    return status;
}
