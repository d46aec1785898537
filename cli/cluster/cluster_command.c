/* cluster_command.c: `tessera cluster`. Everything is computed before the first output is written. */
#include <stdio.h>
#include <stdlib.h>

#include "../../io/array_writer.h"
#include "../common/commands.h"
#include "../common/message.h"
#include "../common/options.h"
#include "../common/progress.h"
#include "../common/threads.h"
#include "../draw/cluster_plot.h"
#include "cluster_job.h"
#include "cluster_options.h"
#include "cluster_report.h"

static bool write_labels(const cli_cluster_job *job, ts_io_error *error) {
    static char name[] = "label";
    static char *const names[] = {name};
    const ts_array_view labels = {TS_ARRAY_INT64, 1, {job->n}, job->run.labels, names};
    return ts_array_write(job->options->labels, &labels, error);
}

static bool write_centers(const cli_cluster_job *job, ts_io_error *error) {
    const ts_array_view centers = {TS_ARRAY_FLOAT64, 2, {job->k, job->d}, job->centers, job->table.names};
    return ts_array_write(job->options->centers, &centers, error);
}

static bool write_weights(const cli_cluster_job *job, ts_io_error *error) {
    const ts_array_view weights = {TS_ARRAY_FLOAT32, 2, {job->n, job->k}, job->run.weights, NULL};
    return ts_array_write(job->options->weights, &weights, error);
}

static bool write_trajectory(const cli_cluster_job *job, ts_io_error *error) {
    const int64_t frames = job->run.path_steps + 1, rows = frames * job->k;
    double *path = malloc((size_t)(rows * job->d) * sizeof *path);
    if (path == NULL) {
        snprintf(error->text, sizeof error->text, "%s: out of memory", job->options->trajectory);
        return false;
    }
    cli_cluster_job_invert(job, rows, job->run.path, path);
    const ts_array_view trajectory = {TS_ARRAY_FLOAT64, 3, {frames, job->k, job->d}, path, NULL};
    const bool done = ts_array_write(job->options->trajectory, &trajectory, error);
    free(path);
    return done;
}

static int write_outputs(const cli_cluster_job *job) {
    const cli_cluster_options *o = job->options;
    ts_io_error error;
    if (o->plot != NULL && !cli_plot_clusters(job, o->plot, &error)) return cli_fail(CLI_FAILED, "%s", error.text);
    if (o->labels != NULL && !write_labels(job, &error)) return cli_fail(CLI_FAILED, "%s", error.text);
    if (o->centers != NULL && !write_centers(job, &error)) return cli_fail(CLI_FAILED, "%s", error.text);
    if (o->trajectory != NULL && !write_trajectory(job, &error)) return cli_fail(CLI_FAILED, "%s", error.text);
    if (o->weights != NULL && !write_weights(job, &error)) return cli_fail(CLI_FAILED, "%s", error.text);
    return CLI_DONE;
}

static int report(const cli_cluster_job *job) {
    if (!job->options->shared.json)
        cli_cluster_print_report(job);
    else if (!cli_cluster_print_json(job))
        return cli_fail(CLI_FAILED, "%s: out of memory", cli_source_name(job->options->file));
    return cli_flush_stdout();
}

int cli_cluster(int n_words, char *const *words) {
    cli_cluster_options options;
    cli_cluster_job job;
    int status = cli_cluster_read_options(n_words, words, &options);
    if (status != CLI_GO_ON) return status;
    cli_set_threads(options.shared.threads);
    if (options.print_arch) return cli_cluster_job_print_arch(&options);
    status = cli_cluster_job_run(&options, &job);
    if (status == CLI_DONE) status = write_outputs(&job);
    if (status == CLI_DONE) status = report(&job);
    if (status == CLI_DONE && !options.shared.quiet) cli_progress_tell_time(job.seconds);
    cli_cluster_job_free(&job);
    return status;
}
