#include "cluster_solve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../autograd/rng.h"
#include "../../models/data/scores.h"
#include "../../models/definition/architecture_json.h"
#include "../../models/definition/definition_json.h"
#include "../../models/reference/plain.h"
#include "../../models/run/runner.h"
#include "../common/message.h"
#include "../common/number_text.h"
#include "../common/progress.h"
#include "cluster_criterion.h"
#include "cluster_read.h"
#include "cluster_run.h"

typedef struct row_view {
    const double *row;
    int64_t d;
} row_view;

static int compare_rows(const void *a, const void *b) {
    const row_view *x = a, *y = b;
    for (int64_t j = 0; j < x->d; j++) {
        if (x->row[j] < y->row[j]) return -1;
        if (x->row[j] > y->row[j]) return 1;
    }
    return 0;
}

static void warn_of_equal_centers(const cli_cluster_job *job, const double *centers) {
    const cli_cluster_options *o = job->options;
    row_view *rows = cli_allocate(job->k, 1, sizeof *rows);
    if (rows == NULL) return;
    int64_t distinct = 1;
    for (int64_t j = 0; j < job->k; j++) rows[j] = (row_view){centers + j * job->d, job->d};
    qsort(rows, (size_t)job->k, sizeof *rows, compare_rows);
    for (int64_t j = 1; j < job->k; j++) distinct += compare_rows(&rows[j - 1], &rows[j]) != 0;
    free(rows);
    if (distinct == job->k) return;
    const bool finds_all = !o->init_is_file && (o->seeding == TS_SEED_KMEANS_PP || o->seeding == TS_SEED_GONZALEZ);
    const char *file = cli_source_name(o->file);
    if (finds_all)
        cli_warn("%s: only %lld distinct row%s for k = %lld", file, CLI_COUNT(distinct), (long long)job->k);
    else
        cli_warn("%s: only %lld of the %lld initial centres are distinct", file, (long long)distinct,
                 (long long)job->k);
}

/* Writes the initial centres to run->path. */
static int place_centers(const cli_cluster_job *job, cli_run *run) {
    const int64_t k = job->k, d = job->d;
    const ts_points points = cli_cluster_job_points(job);
    ts_error error = {0};
    if (job->init != NULL) {
        memcpy(run->path, job->init, (size_t)(k * d) * sizeof *run->path);
        return CLI_DONE;
    }
    int64_t *rows = cli_allocate(k, 1, sizeof *rows);
    if (rows == NULL) return cli_cluster_fail_memory(job);
    const ts_status status = ts_seed_rows(job->options->seeding, &points, k, -1, run->seed, rows, &error);
    for (int64_t i = 0; status == TS_OK && i < k * d; i++) run->path[i] = ts_point_at(&points, rows[i / d], i % d);
    free(rows);
    return status == TS_OK ? CLI_DONE : cli_cluster_fail(job, &error);
}

/* Writes them to the beginning of run->path and to run->start. */
static int choose_centers(const cli_cluster_job *job, cli_run *run) {
    const int status = place_centers(job, run);
    for (int64_t i = 0; status == CLI_DONE && i < job->k * job->d; i++) run->start[i] = (ts_real)run->path[i];
    return status;
}

static uint64_t seed_of_restart(const cli_cluster_job *job, int64_t restart) {
    const ts_rng rng = {job->options->shared.seed, ts_rng_stream("restart"), 0};
    return restart == 0 ? job->options->shared.seed : ts_rng_bits(rng, (uint64_t)restart);
}

/* The gamma chosen by the data: the greatest over all starts, because a poor start overestimates the clusters' width.
 */
static int choose_gamma(const cli_cluster_job *job, cli_run *run, double *gamma) {
    *gamma = 0;
    for (int64_t r = 0; r < job->options->restarts; r++) {
        const ts_problem problem = cli_run_problem(job, run);
        run->seed = seed_of_restart(job, r);
        const int status = choose_centers(job, run);
        if (status != CLI_DONE) return status;
        const double one = ts_variant_gamma(job->model.variant, &problem);
        if (isnan(one)) return cli_cluster_fail_memory(job);
        *gamma = fmax(*gamma, one);
        if (job->init != NULL || job->options->seeding == TS_SEED_FIRST) break;
    }
    run->seed = seed_of_restart(job, 0);
    return choose_centers(job, run);
}

/* Completes the model, once, before the first run. */
static int complete_model(cli_cluster_job *job, cli_run *run) {
    double gamma = 0;
    const int status = cli_cluster_model_waits(&job->model) ? choose_gamma(job, run, &gamma) : CLI_DONE;
    if (status != CLI_DONE) return status;
    const ts_problem problem = cli_run_problem(job, run);
    /* Without a scaling, gamma is in the units of the file, whatever unit the points are computed in. */
    const double unit = job->options->scaling == TS_SCALING_NONE && !job->model.trained ? job->rescaling.scale[0] : 1;
    return cli_cluster_model_complete(job->options, &problem, gamma, unit, &job->model);
}

/* Does the transformer itself draw random numbers? */
static bool draws(const cli_cluster_job *job) {
    const ts_definition *d = &job->model.definition;
    return d->cross_points.simplex.map->random || d->cross_centers.simplex.map->random;
}

static int64_t count_restarts(const cli_cluster_job *job) {
    const cli_cluster_options *o = job->options;
    const bool fixed = o->init_is_file || o->seeding == TS_SEED_FIRST;
    if (o->restarts == 1 || !fixed || o->empty == TS_EMPTY_RANDOM || draws(job)) return o->restarts;
    cli_warn("--restarts: every run from these initial centres is the same, so one is made");
    return 1;
}

/* Run number r, from initial centres to the end. The first run completes the model and sets the number of restarts. */
static int run_restart(cli_cluster_job *job, cli_run *run, int64_t r, int64_t *restarts, cli_progress *progress) {
    if (run->path == NULL && !cli_run_allocate(job, run)) return cli_cluster_fail_memory(job);
    run->restart = r;
    run->seed = seed_of_restart(job, r);
    run->path_steps = 0;
    int status = choose_centers(job, run);
    if (status == CLI_DONE && r == 0) {
        warn_of_equal_centers(job, run->path);
        status = complete_model(job, run);
        if (status == CLI_DONE) *restarts = count_restarts(job);
    }
    if (status != CLI_DONE) return status;
    return (job->model.model != NULL ? cli_run_model : cli_run_transformer)(job, run, *restarts, progress);
}

static int run_restarts(cli_cluster_job *job) {
    int64_t restarts = 1;
    cli_progress progress = cli_progress_begin(job->options->shared.quiet || job->options->steps == 0);
    int status = CLI_DONE;
    cli_run run = {0};
    for (int64_t r = 0; status == CLI_DONE && r < restarts; r++) {
        status = run_restart(job, &run, r, &restarts, &progress);
        if (status == CLI_DONE && (r == 0 || run.criterion < job->run.criterion)) {
            const cli_run worse = job->run;
            job->run = run;
            run = worse;
        }
    }
    cli_progress_end(&progress);
    cli_run_free(&run);
    return status;
}

static void measure_difference(cli_cluster_job *job, const ts_clustering *plain) {
    const cli_run *run = &job->run;
    const ts_points points = cli_cluster_job_points(job);
    for (int64_t i = 0; i < job->k * job->d; i++) {
        const double place = plain->medoids != NULL ? ts_point_at(&points, plain->medoids[i / job->d], i % job->d)
                                                    : plain->exact_centers[i];
        const double difference = fabs(run->centers[i] - place);
        const double unit = cli_cluster_reports_directions(job) ? 1 : job->rescaling.scale[i % job->d];
        job->max_center_diff = fmax(job->max_center_diff, unit * difference);
    }
    for (int64_t i = 0; i < job->n; i++) job->label_mismatches += run->labels[i] != plain->labels[i];
}

/* Runs the plain algorithm on the same points (in the precision of the run) and centres for as many steps. */
static int compare_with_plain(cli_cluster_job *job) {
    const cli_cluster_options *o = job->options;
    const ts_plain_algorithm *algorithm = ts_variant_plain(job->model.variant, &job->model.settings);
    ts_problem problem = cli_run_problem(job, &job->run);
    ts_error error = {0};
    if (!job->run.in_double) problem.exact_centers = NULL; /* what the transformer was given */
    ts_plain *plain = ts_plain_create(algorithm, &job->model.settings, &problem, &error);
    if (plain == NULL) return cli_cluster_fail(job, &error);
    ts_status status = TS_OK;
    for (int64_t t = 0; status == TS_OK && t < job->run.steps; t++) status = ts_plain_step(plain, &error);
    if (status == TS_OK) status = ts_plain_finish(plain, &error);
    if (status == TS_OK) measure_difference(job, ts_plain_state(plain));
    ts_plain_free(plain);
    return status == TS_OK ? CLI_DONE
                           : cli_fail(CLI_FAILED, "%s: plain algorithm: %s", cli_source_name(o->file), error.text);
}

/* Warns of values that 32 bits merge, if the run was not computed in double. */
static void warn_of_losses(const cli_cluster_job *job) {
    const ts_points points = cli_cluster_job_points(job);
    ts_column_loss *losses = NULL;
    int64_t columns = 0, worst = 0;
    if (job->run.in_double || job->exact == NULL) return;
    losses = cli_allocate(job->d, 1, sizeof *losses);
    if (losses != NULL && ts_rescaling_losses(&points, losses))
        for (int64_t a = 0; a < job->d; a++) {
            columns += losses[a].lost > 0;
            if (losses[a].lost > losses[worst].lost) worst = a;
        }
    if (columns > 0) {
        char name[96], others[64] = "";
        snprintf(name, sizeof name, "feature %lld", (long long)worst + 1);
        if (columns > 1) snprintf(others, sizeof others, ", and %lld more columns lose some", (long long)columns - 1);
        cli_warn("%s: this algorithm computes in 32 bits, where %s loses %lld of its %lld distinct values%s",
                 cli_source_name(job->options->file), job->table.names != NULL ? job->table.names[worst] : name,
                 (long long)losses[worst].lost, (long long)losses[worst].distinct, others);
    }
    free(losses);
}

static int score(cli_cluster_job *job) {
    const cli_run *run = &job->run;
    job->centers = cli_allocate(job->k, job->d, sizeof(double));
    job->sizes = calloc((size_t)job->k, sizeof *job->sizes);
    if (job->centers == NULL || job->sizes == NULL) return cli_cluster_fail_memory(job);
    cli_cluster_job_invert(job, job->k, run->centers, job->centers);
    for (int64_t i = 0; i < job->n; i++)
        if (run->labels[i] >= 0) job->sizes[run->labels[i]]++;
    const ts_points points = cli_cluster_job_points(job);
    job->objective = cli_cluster_criterion_is_objective(job)
                         ? run->criterion
                         : ts_cost_of(job->model.cost, &points, job->rescaling.scale, run->centers, run->labels);
    warn_of_losses(job);
    if (job->table.labels != NULL) {
        job->adjusted_rand_index = ts_adjusted_rand_index(job->n, run->labels, job->table.labels);
        if (isnan(job->adjusted_rand_index)) return cli_cluster_fail_memory(job);
    }
    return CLI_DONE;
}

int cli_cluster_solve(const cli_cluster_options *options, cli_cluster_job *job) {
    const double began = cli_seconds();
    *job = (cli_cluster_job){
        .options = options, .k = options->k, .keeps_path = options->trajectory != NULL || options->plot != NULL};
    int status = cli_cluster_model_read(options, &job->model);
    if (status == CLI_DONE) status = cli_cluster_read(job);
    if (status == CLI_DONE) status = run_restarts(job);
    if (status == CLI_DONE && options->compare) status = compare_with_plain(job);
    if (status == CLI_DONE) status = score(job);
    job->seconds = cli_seconds() - began;
    return status;
}

static int print_layers(cli_cluster_model *model) {
    char *text = ts_architecture_to_json(model->layers);
    cli_cluster_model_free(model);
    if (text == NULL) return cli_fail(CLI_FAILED, "out of memory");
    fputs(text, stdout);
    free(text);
    return cli_flush_stdout();
}

int cli_cluster_print_arch(const cli_cluster_options *options) {
    cli_cluster_job job = {.options = options, .k = options->k};
    cli_run run = {0};
    int status = cli_cluster_model_read(options, &job.model);
    if (status == CLI_DONE && job.model.layers != NULL) return print_layers(&job.model);
    if (status == CLI_DONE && options->file == NULL) {
        status = cli_cluster_model_complete(options, NULL, 0, 1, &job.model);
    } else if (status == CLI_DONE) {
        status = cli_cluster_read(&job);
        if (status == CLI_DONE && !cli_run_allocate(&job, &run)) status = cli_cluster_fail_memory(&job);
        run.seed = options->shared.seed;
        if (status == CLI_DONE) status = choose_centers(&job, &run);
        if (status == CLI_DONE) status = complete_model(&job, &run);
    }
    ts_definition_change_unit(&job.model.definition, 1 / job.model.unit); /* in the unit of the file */
    ts_error range = {.status = TS_OK};
    if (status == CLI_DONE && options->file != NULL &&
        ts_definition_check(&job.model.definition, job.d, job.k, &range) != TS_OK)
        status = cli_fail(CLI_FAILED, "%s: in the unit of the file, %s", cli_source_name(options->file), range.text);
    char *text = status == CLI_DONE ? ts_definition_to_json(&job.model.definition) : NULL;
    if (status == CLI_DONE && text == NULL) status = cli_fail(CLI_FAILED, "out of memory");
    if (text != NULL) fputs(text, stdout);
    free(text);
    cli_run_free(&run);
    cli_cluster_job_free(&job);
    return status == CLI_DONE ? cli_flush_stdout() : status;
}
