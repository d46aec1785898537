#include "cluster_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../autograd/parallel.h"
#include "../../models/data/nearest.h"
#include "../../models/data/scores.h"
#include "../../models/run/model_run.h"
#include "../../models/run/runner.h"
#include "../common/message.h"
#include "cluster_criterion.h"

/* Appends the centres after a step to the run's path. */
static bool extend_path(const cli_cluster_job *job, cli_run *run, const double *centers) {
    const int64_t size = job->k * job->d;
    if (run->path_steps + 2 > run->path_room) {
        if ((uint64_t)run->path_room > SIZE_MAX / 4 / sizeof(double) / (uint64_t)size) return false;
        double *path = realloc(run->path, (size_t)(2 * run->path_room * size) * sizeof *path);
        if (path == NULL) return false;
        run->path = path;
        run->path_room *= 2;
    }
    run->path_steps++;
    memcpy(run->path + run->path_steps * size, centers, (size_t)size * sizeof *centers);
    return true;
}

static int keep_state(const cli_cluster_job *job, cli_run *run, ts_runner *runner) {
    const ts_clustering *state = ts_runner_state(runner);
    const int64_t size = job->k * job->d;
    const ts_points points = cli_cluster_job_points(job);
    ts_error error = {0};
    for (int64_t i = 0; i < size; i++)
        if (!isfinite(state->exact_centers[i]))
            return cli_fail(CLI_FAILED, "%s: centre %lld is not finite after step %lld",
                            cli_source_name(job->options->file), (long long)(i / job->d), (long long)state->steps);
    memcpy(run->centers, state->exact_centers, (size_t)size * sizeof *run->centers);
    for (int64_t i = 0; state->medoids != NULL && i < size; i++) /* exactly their rows */
        run->centers[i] = ts_point_at(&points, state->medoids[i / job->d], i % job->d);
    memcpy(run->labels, state->labels, (size_t)job->n * sizeof(int64_t));
    if (run->weights != NULL && ts_runner_weights(runner, run->weights, &error) != TS_OK)
        return cli_cluster_fail(job, &error);
    run->steps = state->steps;
    run->empty_repairs = state->empty_repairs;
    run->trimmed = state->trimmed;
    run->converged = state->converged;
    run->in_double = ts_runner_is_exact(runner);
    run->criterion = cli_cluster_criterion(job, run);
    return isnan(run->criterion) ? cli_cluster_fail_memory(job) : CLI_DONE;
}

/* Steps until the assignments repeat. False if memory for the path is short; else *status is the outcome. */
static bool step_runner(const cli_cluster_job *job, cli_run *run, ts_runner *runner, int64_t restarts,
                        cli_progress *progress, ts_status *status, ts_error *error) {
    const cli_cluster_options *o = job->options;
    const ts_clustering *state = ts_runner_state(runner);
    bool room = true;
    for (int64_t t = 0; *status == TS_OK && room && t < o->steps && (o->steps_exact || !state->converged); t++) {
        *status = ts_runner_step(runner, error);
        if (*status == TS_OK && job->keeps_path) room = extend_path(job, run, state->exact_centers);
        cli_progress_step(progress, run->restart, restarts, t + 1, o->steps);
    }
    if (*status == TS_OK && room) *status = ts_runner_finish(runner, error);
    return room;
}

int cli_run_transformer(const cli_cluster_job *job, cli_run *run, int64_t restarts, cli_progress *progress) {
    const ts_problem problem = cli_run_problem(job, run);
    ts_error error = {0};
    ts_status status = TS_OK;
    ts_runner *runner = ts_runner_create(&job->model.definition, &problem, &error);
    if (runner == NULL) return cli_cluster_fail(job, &error);
    /* the runner may move initial centres to the unit sphere, or to rows */
    memcpy(run->path, ts_runner_state(runner)->exact_centers, (size_t)(job->k * job->d) * sizeof *run->path);
    const bool room = step_runner(job, run, runner, restarts, progress, &status, &error);
    if (status != TS_OK || !room) cli_progress_end(progress);
    const int code = status != TS_OK ? cli_cluster_fail(job, &error)
                     : !room         ? cli_cluster_fail_memory(job)
                                     : keep_state(job, run, runner);
    ts_runner_free(runner);
    return code;
}

/* ---- learned models ---------------------------------------------------------------------------------------------- */

/* Keeps the centres of a step if their objective is the least so far. */
static void keep_better(const cli_cluster_job *job, cli_run *run, const double *centers, const int64_t *labels) {
    const ts_points points = cli_cluster_job_points(job);
    for (int64_t i = 0; i < job->k * job->d; i++)
        if (!isfinite(centers[i])) return;
    const double objective = ts_cost_of(TS_COST_SQUARED, &points, NULL, centers, labels);
    if (!(objective < run->criterion)) return;
    run->criterion = objective;
    run->best_step = run->steps;
    memcpy(run->centers, centers, (size_t)(job->k * job->d) * sizeof *centers);
    memcpy(run->labels, labels, (size_t)job->n * sizeof *labels);
}

/* Steps until the labels repeat, from run->start. */
static int step_model(const cli_cluster_job *job, cli_run *run, ts_runner *runner, int64_t restarts,
                      cli_progress *progress) {
    const cli_cluster_options *o = job->options;
    const ts_clustering *state = ts_runner_state(runner);
    ts_error error = {.status = TS_OK};
    keep_better(job, run, state->exact_centers, state->labels);
    while (run->steps < o->steps && (o->steps_exact || !run->converged)) {
        if (ts_runner_step(runner, &error) != TS_OK) return cli_cluster_fail(job, &error);
        run->steps++;
        run->converged = state->converged;
        keep_better(job, run, state->exact_centers, state->labels);
        const bool room = !job->keeps_path || extend_path(job, run, state->exact_centers);
        cli_progress_step(progress, run->restart, restarts, run->steps, o->steps);
        if (!room) return cli_cluster_fail_memory(job);
    }
    if (isfinite(run->criterion)) return CLI_DONE;
    return cli_fail(CLI_FAILED, "%s: the model diverges", cli_source_name(o->file));
}

int cli_run_model(const cli_cluster_job *job, cli_run *run, int64_t restarts, cli_progress *progress) {
    ts_problem problem = cli_run_problem(job, run);
    ts_error error = {.status = TS_OK};
    problem.seed =
        ts_rng_bits((ts_rng){job->options->shared.seed, ts_rng_stream("model draws"), 0}, (uint64_t)run->restart);
    ts_runner *runner = ts_runner_create_for(job->model.model, &problem, TS_RUN_AS_MODEL, &error);
    run->steps = 0;
    run->converged = false;
    run->criterion = INFINITY;
    if (runner == NULL) return cli_cluster_fail(job, &error);
    const int code = step_model(job, run, runner, restarts, progress);
    ts_runner_free(runner);
    return code;
}
