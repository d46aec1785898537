/* cluster_command.c: `tessera cluster`. Everything is computed before the first output is written. */
#include <stdio.h>
#include <stdlib.h>

#include "../../io/array_writer.h"
#include "../common/commands.h"
#include "../common/message.h"
#include "../common/options.h"
#include "../common/outputs.h"
#include "../common/progress.h"
#include "../common/threads.h"
#include "../draw/cluster_plot.h"
#include "../draw/drawing.h"
#include "cluster_options.h"
#include "cluster_report.h"
#include "cluster_solve.h"

static bool write_labels(const void *result, const char *path, ts_io_error *error) {
    const cli_cluster_job *job = result;
    static char name[] = "label";
    static char *const names[] = {name};
    return ts_array_write(path, &(ts_array_view){TS_ARRAY_INT64, 1, {job->n}, job->run.labels, names}, error);
}

static bool write_centers(const void *result, const char *path, ts_io_error *error) {
    const cli_cluster_job *job = result;
    const ts_array_view centers = {TS_ARRAY_FLOAT64, 2, {job->k, job->d}, job->centers, job->table.names};
    return ts_array_write(path, &centers, error);
}

static bool write_weights(const void *result, const char *path, ts_io_error *error) {
    const cli_cluster_job *job = result;
    return ts_array_write(path, &(ts_array_view){TS_ARRAY_FLOAT32, 2, {job->n, job->k}, job->run.weights, NULL}, error);
}

static bool write_trajectory(const void *result, const char *path, ts_io_error *error) {
    const cli_cluster_job *job = result;
    const int64_t frames = job->run.path_steps + 1, rows = frames * job->k;
    double *places = malloc((size_t)(rows * job->d) * sizeof *places);
    if (places == NULL) {
        snprintf(error->text, sizeof error->text, "%s: out of memory", path);
        return false;
    }
    cli_cluster_job_invert(job, rows, job->run.path, places);
    const ts_array_view trajectory = {TS_ARRAY_FLOAT64, 3, {frames, job->k, job->d}, places, NULL};
    const bool done = ts_array_write(path, &trajectory, error);
    free(places);
    return done;
}

static bool draw(const void *result, const char *path, ts_io_error *error) {
    static const char *const scalings[] = {
        [TS_SCALING_MINMAX] = "features scaled to [0,1]", [TS_SCALING_STANDARD] = "features standardised"};
    const cli_cluster_job *job = result;
    const bool is_lloyd = job->model.variant == ts_variants;
    return cli_plot_clusters(
        &(cli_cluster_picture){.points = cli_cluster_job_points(job),
                               .shift = job->rescaling.shift,
                               .scale = job->rescaling.scale,
                               .names = job->table.names,
                               .directions = job->model.directions,
                               .k = job->k,
                               .centers = job->run.centers,
                               .path = job->run.path,
                               .path_steps = job->run.path_steps,
                               .labels = job->run.labels,
                               .sizes = job->sizes,
                               .trimmed = job->run.trimmed,
                               .steps = job->run.steps,
                               .file = cli_source_name(job->options->file),
                               .algorithm = is_lloyd ? "Lloyd's algorithm" : cli_cluster_model_title(&job->model),
                               .scaling = scalings[job->options->scaling],
                               .objective = job->objective},
        path, error);
}

static cli_outputs outputs_of(const cli_cluster_options *o) {
    return (cli_outputs){
        .list = {{"labels", "labels", o->labels, .rank = 1, .write = write_labels},
                 {"centers", "centres", o->centers, .rank = 2, .write = write_centers},
                 {"trajectory", "trajectory", o->trajectory, .rank = 3, .write = write_trajectory},
                 {"weights", "weights", o->weights, .rank = 2, .write = write_weights},
                 {"plot", "plot", o->plot, .check = cli_drawing_check, .write = draw, .goes_first = true}},
        .inputs = {o->file, o->init_is_file ? o->init : NULL, o->arch, o->model},
        .as_json = o->shared.json,
        .tells_path = true,
        .tells_folder = true};
}

int cli_cluster(int n_words, char *const *words) {
    cli_cluster_options options;
    cli_cluster_job job;
    int status = cli_cluster_read_options(n_words, words, &options);
    if (status != CLI_GO_ON) return status;
    cli_set_threads(options.shared.threads);
    if (options.print_arch) return cli_cluster_print_arch(&options);
    const cli_outputs outputs = outputs_of(&options);
    status = cli_outputs_check(&outputs);
    if (status != CLI_GO_ON) return status;
    status = cli_cluster_solve(&options, &job);
    if (status == CLI_DONE) status = cli_outputs_write(&outputs, &job);
    if (status == CLI_DONE)
        status = cli_outputs_tell(&outputs, options.file, cli_cluster_print_json, cli_cluster_print_report, &job);
    if (status == CLI_DONE && !options.shared.quiet) cli_progress_tell_time(job.seconds);
    cli_cluster_job_free(&job);
    return status;
}
