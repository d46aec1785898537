#include "cluster_read.h"

#include <math.h>

#include "../common/message.h"
#include "../common/number_text.h"

/* A model may fix the numbers of features and clusters; layers that are not built yet fit any, or say why not. */
static int fit_model(cli_cluster_job *job) {
    if (job->model.layers != NULL) return cli_cluster_model_build(job->options, job->d, job->k, &job->model);
    const ts_model *model = job->model.model;
    const ts_layout *layout = &model->layout;
    if (job->k == 0) job->k = layout->k;
    if (job->d != layout->d && !model->any_d)
        return cli_fail(CLI_FAILED, "%s: %lld feature%s, but %s was trained on %lld",
                        cli_source_name(job->options->file), CLI_COUNT(job->d), job->options->model,
                        (long long)layout->d);
    if (job->k == layout->k || model->any_k) return CLI_DONE;
    return cli_fail(CLI_FAILED, "%s: k = %lld, but %s was trained on %lld", cli_source_name(job->options->file),
                    (long long)job->k, job->options->model, (long long)layout->k);
}

/* Does a column that is not constant span little of [0,1] under the common scale? */
static bool has_narrow_column(const cli_cluster_job *job) {
    const ts_real narrow = 0.2F;
    for (int64_t j = 0; j < job->d; j++) {
        ts_real most = 0;
        for (int64_t i = 0; i < job->n; i++)
            if (job->points[i * job->d + j] > most) most = job->points[i * job->d + j];
        if (most > 0 && most < narrow) return true;
    }
    return false;
}

static void warn_of_notes(const char *file, const ts_table *table) {
    for (int i = 0; i < table->n_notes; i++) cli_warn("%s: %s", cli_source_name(file), table->notes[i]);
}

static int load_points(cli_cluster_job *job) {
    const cli_cluster_options *o = job->options;
    const ts_table_options how = {(ts_header_mode)o->header, o->columns, o->labels_column};
    ts_io_error io_error;
    ts_error error = {0};
    if (!ts_table_read(o->file, &how, &job->table, &io_error)) return cli_fail(CLI_FAILED, "%s", io_error.text);
    warn_of_notes(o->file, &job->table);
    job->n = job->table.rows;
    job->d = job->table.cols;
    if (job->n < 1 || job->d < 1) return cli_fail(CLI_FAILED, "%s: no rows", cli_source_name(o->file));
    if ((job->model.model != NULL || job->model.layers != NULL) && fit_model(job) != CLI_DONE) return CLI_FAILED;
    if (job->k > job->n)
        return cli_fail(CLI_FAILED, "%s: k = %lld but only %lld row%s", cli_source_name(o->file), (long long)job->k,
                        CLI_COUNT(job->n));
    ts_scaling scaling = (ts_scaling)o->scaling;
    if (scaling == TS_SCALING_NONE && job->model.trained) scaling = TS_SCALING_COMMON;
    if (scaling == TS_SCALING_NONE && job->model.has_origin) scaling = TS_SCALING_UNSHIFTED;
    if (ts_rescaling_fit(scaling, job->n, job->d, job->table.values, &job->rescaling, &error) != TS_OK)
        return cli_cluster_fail(job, &error);
    const bool room = ts_rescaling_convert(&job->rescaling, job->n, job->table.values, &job->points, &job->exact);
    job->table.values = NULL;
    if (!room) return cli_cluster_fail_memory(job);
    job->narrow = scaling == TS_SCALING_COMMON && has_narrow_column(job);
    return CLI_DONE;
}

static int load_init(cli_cluster_job *job) {
    const cli_cluster_options *o = job->options;
    ts_table centers;
    ts_io_error error;
    if (!o->init_is_file) return CLI_DONE;
    if (!ts_table_read_features(o->init, job->table.names, job->d, &centers, &error))
        return cli_fail(CLI_FAILED, "%s", error.text);
    warn_of_notes(o->init, &centers);
    int status = CLI_DONE;
    if (centers.rows != job->k || centers.cols != job->d)
        status =
            cli_fail(CLI_FAILED, "%s: centres of shape [%lld,%lld], but k = %lld and %s has %lld features: [%lld,%lld]",
                     o->init, (long long)centers.rows, (long long)centers.cols, (long long)job->k,
                     cli_source_name(o->file), (long long)job->d, (long long)job->k, (long long)job->d);
    job->init = status == CLI_DONE ? cli_allocate(job->k, job->d, sizeof *job->init) : NULL;
    if (status == CLI_DONE && job->init == NULL) status = cli_cluster_fail_memory(job);
    if (status == CLI_DONE) ts_rescaling_apply_exactly(&job->rescaling, job->k, centers.values, job->init);
    for (int64_t i = 0; status == CLI_DONE && i < job->k * job->d; i++)
        if (!(fabs(job->init[i]) <= 1e15))
            status =
                cli_fail(CLI_FAILED, "%s: row %lld lies too far from the data", o->init, (long long)(i / job->d) + 1);
    ts_table_free(&centers);
    return status;
}

int cli_cluster_read(cli_cluster_job *job) {
    const int status = load_points(job);
    return status == CLI_DONE ? load_init(job) : status;
}
