#include "eval_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../models/data/compare_doubles.h"
#include "../../train/checkpoint.h"
#include "../common/message.h"
#include "../common/options.h"
#include "../common/progress.h"

/* The curves of the tasks of one row. */
typedef struct curves {
    double *lloyd, *model; /* [tasks, steps + 1] */
    double *column;        /* [tasks] */
} curves;

bool cli_eval_diverges(double start, double end) {
    const double most_rise = 1;
    return isnan(end) || (isinf(end) && end > 0) || (isfinite(start) && end > start + most_rise);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static ts_task_spec task_of(const cli_eval_job *job, int64_t n, ts_family family) {
    const cli_eval_options *o = job->options;
    const ts_train_options *t = &job->trainer->options;
    return (ts_task_spec){.n = n,
                          .d = o->d > 0 ? o->d : t->d,
                          .k = o->k > 0 ? o->k : t->k,
                          .family = family,
                          .scale = o->component_scale > 0 ? o->component_scale : t->component_scale,
                          .anisotropic = (t->anisotropic && !o->isotropic) || o->anisotropic,
                          .unequal = (t->unequal && !o->equal) || o->unequal};
}

static int check_task(const ts_model *model, const ts_task_spec *task) {
    ts_error error = {.status = TS_OK};
    ts_layout layout;
    if (ts_model_layout(model, task->d, task->k, &layout, &error) != TS_OK)
        return cli_fail(CLI_WRONG_USE, "--d, --k: %s", error.text);
    if (task->n < task->k)
        return cli_fail(CLI_WRONG_USE, "--n: %lld points are fewer than the %lld clusters", (long long)task->n,
                        (long long)task->k);
    if (ts_task_check(task, &error) == TS_OK) return CLI_DONE;
    return cli_fail(CLI_WRONG_USE, "n = %lld, %s: %s", (long long)task->n, ts_family_name(task->family), error.text);
}

static bool make_curves(const cli_eval_job *job, cli_eval_row *row) {
    const size_t width = (size_t)job->options->steps + 1;
    row->curve[0] = calloc(CLI_EVAL_CURVES * width, sizeof *row->curve[0]);
    for (size_t c = 1; row->curve[0] != NULL && c < CLI_EVAL_CURVES; c++) row->curve[c] = row->curve[0] + c * width;
    return row->curve[0] != NULL;
}

static int make_rows(cli_eval_job *job) {
    const cli_eval_options *o = job->options;
    const ts_train_options *t = &job->trainer->options;
    const int points = o->points.count > 0 ? (int)o->points.count : 1;
    const int families = o->families > 0 ? o->families : t->families;
    const ts_family *family = o->families > 0 ? o->family_of : t->family;
    const int total = points * families * o->starts;
    job->rows = calloc((size_t)total, sizeof *job->rows);
    if (job->rows == NULL) return cli_fail_memory(job->options->checkpoint);
    for (; job->n_rows < total; job->n_rows++) {
        cli_eval_row *row = &job->rows[job->n_rows];
        const int of_n = job->n_rows / o->starts / families, of_family = job->n_rows / o->starts % families;
        row->task = task_of(job, o->points.count > 0 ? (int64_t)o->points.value[of_n] : t->n, family[of_family]);
        row->start = o->start[job->n_rows % o->starts];
        const int status = check_task(&job->trainer->model, &row->task);
        if (status != CLI_DONE) return status;
        if (!make_curves(job, row)) return cli_fail_memory(job->options->checkpoint);
    }
    if (o->plot != NULL && total > CLI_EVAL_MOST_PANELS)
        return cli_fail(CLI_WRONG_USE, "--plot: %d panels are more than %d; narrow --n, --family or --init", total,
                        CLI_EVAL_MOST_PANELS);
    return CLI_DONE;
}

/* ---- from tasks to curves ---------------------------------------------------------------------------------------- */

/* Linear between the neighbours of place q (count - 1). */
static double quantile(const double *sorted, int64_t count, double q) {
    const double place = q * (double)(count - 1), fraction = place - floor(place);
    const double low = sorted[(int64_t)place];
    if (!(fraction > 0)) return low;
    const double high = sorted[(int64_t)place + 1];
    return high > low || isnan(high) ? low + fraction * (high - low) : low;
}

static void reduce(const double *of_tasks, int64_t tasks, int64_t width, double *column, double *mean, double *q25,
                   double *q75) {
    for (int64_t s = 0; s < width; s++) {
        double sum = 0;
        for (int64_t t = 0; t < tasks; t++) sum += column[t] = of_tasks[t * width + s];
        mean[s] = sum / (double)tasks;
        qsort(column, (size_t)tasks, sizeof *column, ts_compare_doubles);
        q25[s] = quantile(column, tasks, 0.25);
        q75[s] = quantile(column, tasks, 0.75);
    }
}

static int run_row(cli_eval_job *job, cli_eval_row *row, const curves *c) {
    const cli_eval_options *o = job->options;
    const int64_t width = o->steps + 1;
    const ts_evaluation e = {.task = row->task,
                             .tasks = o->tasks,
                             .steps = o->steps,
                             .mode = (ts_run_mode)o->mode,
                             .start = row->start,
                             .seed = job->seed};
    ts_error error = {.status = TS_OK};
    if (ts_evaluate(&job->trainer->model, &e, c->lloyd, c->model, &error) != TS_OK)
        return cli_fail(CLI_FAILED, "%s: n = %lld, %s: %s", o->checkpoint, (long long)row->task.n,
                        ts_family_name(row->task.family), error.text);
    for (int64_t t = 0; t < o->tasks; t++)
        row->diverging += cli_eval_diverges(c->model[t * width], c->model[t * width + o->steps]);
    reduce(c->lloyd, o->tasks, width, c->column, row->curve[CLI_EVAL_LLOYD], row->curve[CLI_EVAL_LLOYD_Q25],
           row->curve[CLI_EVAL_LLOYD_Q75]);
    reduce(c->model, o->tasks, width, c->column, row->curve[CLI_EVAL_MODEL], row->curve[CLI_EVAL_MODEL_Q25],
           row->curve[CLI_EVAL_MODEL_Q75]);
    return CLI_DONE;
}

/* The relative cost of a row: the points' self-attention dominates. */
static double cost_of(const cli_eval_row *row) {
    return (double)row->task.n * (double)row->task.n;
}

static int run_rows(cli_eval_job *job, const curves *c) {
    double total = 0, behind = 0;
    int status = CLI_DONE;
    for (int i = 0; i < job->n_rows; i++) total += cost_of(&job->rows[i]);
    cli_progress progress = cli_progress_begin(job->options->shared.quiet);
    for (int i = 0; i < job->n_rows && status == CLI_DONE; i++) {
        status = run_row(job, &job->rows[i], c);
        behind += cost_of(&job->rows[i]);
        cli_progress_item(&progress, "kinds of tasks", job->n_rows, behind / total);
    }
    cli_progress_end(&progress);
    return status;
}

int cli_eval_run(const cli_eval_options *options, cli_eval_job *job) {
    const size_t cells = (size_t)options->tasks * ((size_t)options->steps + 1);
    ts_error error = {.status = TS_OK};
    *job = (cli_eval_job){.options = options};
    job->trainer = ts_checkpoint_resume(options->checkpoint, &error);
    if (job->trainer == NULL) return cli_fail(CLI_FAILED, "%s", error.text);
    job->seed = options->seed_text != NULL ? options->shared.seed : ts_evaluation_seed(job->trainer->options.seed);
    int status = make_rows(job);
    if (status != CLI_DONE) return status;
    const curves c = {malloc(cells * sizeof *c.lloyd), malloc(cells * sizeof *c.model),
                      malloc((size_t)options->tasks * sizeof *c.column)};
    const bool room = c.lloyd != NULL && c.model != NULL && c.column != NULL;
    status = room ? run_rows(job, &c) : cli_fail_memory(job->options->checkpoint);
    free(c.lloyd);
    free(c.model);
    free(c.column);
    return status;
}

void cli_eval_free(cli_eval_job *job) {
    for (int i = 0; job->rows != NULL && i < job->n_rows; i++) free(job->rows[i].curve[0]);
    free(job->rows);
    ts_trainer_free(job->trainer);
}
