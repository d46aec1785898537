#include "eval_report.h"

#include <math.h>
#include <stdio.h>

#include "../common/json_writer.h"
#include "../common/number_text.h"

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum { MOST_SHOWN = 5 };

/* The steps that the table shows, from 0 to the last. */
static int shown_steps(int64_t steps, int64_t shown[MOST_SHOWN]) {
    static const int64_t usual[MOST_SHOWN - 1] = {0, 1, 5, 10};
    int count = 0;
    for (int i = 0; i < MOST_SHOWN - 1; i++)
        if (usual[i] < steps) shown[count++] = usual[i];
    shown[count++] = steps;
    return count;
}

static void print_value(double value) {
    if (isnan(value))
        printf("%8s", "nan");
    else
        printf(fabs(value) < 100 ? "%8.4f" : "%8.4g", value);
}

static void print_verdict(const cli_eval_job *job, const cli_eval_row *row) {
    const int64_t end = job->options->steps;
    const double start = row->curve[CLI_EVAL_MODEL][0], lloyd = row->curve[CLI_EVAL_LLOYD][end],
                 model = row->curve[CLI_EVAL_MODEL][end];
    if (cli_eval_diverges(start, model))
        printf("the model diverges (%lld of %lld tasks)\n", (long long)row->diverging, (long long)job->options->tasks);
    else if (!(model < lloyd) && !(lloyd < model))
        puts("equal");
    else if (isinf(model) || isinf(lloyd))
        puts(model < lloyd ? "model" : "Lloyd");
    else
        printf("%s by %.4f\n", model < lloyd ? "model" : "Lloyd", fabs(model - lloyd));
}

static void print_row(const cli_eval_job *job, const cli_eval_row *row) {
    int64_t shown[MOST_SHOWN];
    const int count = shown_steps(job->options->steps, shown);
    printf("%7lld  %-9s  %-8s", (long long)row->task.n, ts_family_name(row->task.family), ts_start_names[row->start]);
    print_value(row->curve[CLI_EVAL_LLOYD][0]);
    fputs("  ", stdout);
    for (int i = 1; i < count; i++) print_value(row->curve[CLI_EVAL_LLOYD][shown[i]]);
    fputs("  ", stdout);
    for (int i = 1; i < count; i++) print_value(row->curve[CLI_EVAL_MODEL][shown[i]]);
    fputs("  ", stdout);
    print_verdict(job, row);
}

/* The head of a column. */
static void print_step(const char *who, bool first, int64_t step) {
    char text[40];
    snprintf(text, sizeof text, first ? "%s %lld" : "%.0s%lld", who, (long long)step);
    printf("%8s", text);
}

static bool keeps_tokens(const cli_eval_job *job) {
    const ts_run_mode mode = (ts_run_mode)job->options->mode;
    return mode == TS_RUN_RAW || (mode == TS_RUN_AS_MODEL && job->trainer->model.architecture->keeps_tokens);
}

static void print_kind(const cli_eval_job *job) {
    const ts_task_spec *task = &job->rows[0].task;
    const ts_trainer *t = job->trainer;
    char number[CLI_NUMBER_TEXT];
    printf("%s: %s, d = %lld, k = %lld, e = %lld, trained for %lld of %lld steps\n", job->options->checkpoint,
           ts_construction_names[t->model.layout.spec.construction], (long long)t->model.layout.d,
           (long long)t->model.layout.k, (long long)t->model.layout.e, (long long)t->step, (long long)t->options.steps);
    printf("%lld task%s of each kind, seed %llu: components of scale %s%s, of %s weights\n",
           CLI_COUNT(job->options->tasks), (unsigned long long)job->seed, cli_number_text(task->scale, number),
           task->anisotropic ? " at most, anisotropic" : "", task->unequal ? "unequal" : "equal");
}

bool cli_eval_print_report(const void *result) {
    const cli_eval_job *job = result;
    const cli_eval_options *o = job->options;
    int64_t shown[MOST_SHOWN];
    const int count = shown_steps(o->steps, shown);
    print_kind(job);
    printf("mean log objective after steps of Lloyd's algorithm, and of the model (%s)\n\n",
           keeps_tokens(job) ? "raw" : "re-embedded");
    printf("%7s  %-9s  %-8s%8s  ", "n", "family", "init", "start");
    for (int i = 1; i < count; i++) print_step("Lloyd", i == 1, shown[i]);
    fputs("  ", stdout);
    for (int i = 1; i < count; i++) print_step("model", i == 1, shown[i]);
    puts("  lower at the end");
    for (int i = 0; i < job->n_rows; i++) print_row(job, &job->rows[i]);
    return true;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

bool cli_eval_print_json(const void *result) {
    const cli_eval_job *job = result;
    const cli_eval_options *o = job->options;
    char seed[24]; /* may need all 64 bits, which readers of JSON numbers do not keep */
    cli_json json = {0};
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)job->seed);
    cli_json_put(&json, "{ checkpoint:s tasks:i steps:i mode:s seed:s rows:[", o->checkpoint, o->tasks, o->steps,
                 keeps_tokens(job) ? "raw" : "reembed", seed);
    for (int i = 0; i < job->n_rows; i++) {
        const cli_eval_row *row = &job->rows[i];
        cli_json_put(&json, "{ n:i family:s init:s lloyd:N model:N }", row->task.n, ts_family_name(row->task.family),
                     ts_start_names[row->start], o->steps + 1, row->curve[CLI_EVAL_LLOYD], o->steps + 1,
                     row->curve[CLI_EVAL_MODEL]);
    }
    cli_json_put(&json, "] }");
    return cli_json_end(&json);
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

void cli_eval_write_csv(const void *result, FILE *stream) {
    const cli_eval_job *job = result;
    char text[CLI_NUMBER_TEXT];
    fputs("n,family,init,step,lloyd,model,lloyd_q25,lloyd_q75,model_q25,model_q75\n", stream);
    for (int i = 0; i < job->n_rows; i++)
        for (int64_t s = 0; s <= job->options->steps; s++) {
            const cli_eval_row *row = &job->rows[i];
            fprintf(stream, "%lld,%s,%s,%lld", (long long)row->task.n, ts_family_name(row->task.family),
                    ts_start_names[row->start], (long long)s);
            for (int c = 0; c < CLI_EVAL_CURVES; c++) fprintf(stream, ",%s", cli_any_number(row->curve[c][s], text));
            fputc('\n', stream);
        }
}
