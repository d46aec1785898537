#include "cluster_job.h"

#include <stdlib.h>
#include <string.h>

#include "../common/message.h"

int cli_cluster_fail(const cli_cluster_job *job, const ts_error *error) {
    return cli_fail(CLI_FAILED, "%s: %s", cli_source_name(job->options->file), error->text);
}

int cli_cluster_fail_memory(const cli_cluster_job *job) {
    return cli_fail_memory(job->options->file);
}

ts_points cli_cluster_job_points(const cli_cluster_job *job) {
    return (ts_points){job->n, job->d, job->points, job->exact};
}

bool cli_cluster_reports_directions(const cli_cluster_job *job) {
    return job->model.directions && job->options->scaling == TS_SCALING_NONE;
}

void cli_cluster_job_invert(const cli_cluster_job *job, int64_t rows, const double *points, double *table) {
    if (cli_cluster_reports_directions(job))
        memcpy(table, points, (size_t)(rows * job->d) * sizeof *table);
    else
        ts_rescaling_invert(&job->rescaling, rows, points, table);
}

void *cli_allocate(int64_t count, int64_t a, size_t size) {
    if (a != 0 && (uint64_t)count > SIZE_MAX / 2 / (uint64_t)a / size) return NULL;
    const size_t bytes = (size_t)count * (size_t)a * size;
    return malloc(bytes == 0 ? 1 : bytes);
}

bool cli_run_allocate(const cli_cluster_job *job, cli_run *run) {
    run->path_room = 16;
    run->path = cli_allocate(run->path_room * job->k, job->d, sizeof *run->path);
    run->start = cli_allocate(job->k, job->d, sizeof *run->start);
    run->centers = cli_allocate(job->k, job->d, sizeof *run->centers);
    run->labels = cli_allocate(job->n, 1, sizeof(int64_t));
    const bool weighs = job->options->weights != NULL;
    run->weights = weighs ? cli_allocate(job->n, job->k, sizeof(ts_real)) : NULL;
    return run->path != NULL && run->start != NULL && run->centers != NULL && run->labels != NULL &&
           (run->weights != NULL || !weighs);
}

void cli_run_free(cli_run *run) {
    free(run->path);
    free(run->start);
    free(run->centers);
    free(run->labels);
    free(run->weights);
    *run = (cli_run){0};
}

ts_problem cli_run_problem(const cli_cluster_job *job, const cli_run *run) {
    return (ts_problem){.n = job->n,
                        .d = job->d,
                        .k = job->k,
                        .points = job->points,
                        .centers = run->start,
                        .exact_points = job->exact,
                        .exact_centers = run->path,
                        .empty = (ts_empty_policy)job->options->empty,
                        .seed = run->seed};
}

void cli_cluster_job_free(cli_cluster_job *job) {
    cli_cluster_model_free(&job->model);
    ts_table_free(&job->table);
    ts_rescaling_free(&job->rescaling);
    cli_run_free(&job->run);
    free(job->points);
    free(job->exact);
    free(job->init);
    free(job->centers);
    free(job->sizes);
    *job = (cli_cluster_job){0};
}
