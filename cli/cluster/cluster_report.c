#include "cluster_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../io/utf8.h"
#include "../../models/data/compare_doubles.h"
#include "../common/json_writer.h"
#include "../common/message.h"
#include "../common/number_text.h"
#include "cluster_criterion.h"

/* What the objective sums, by ts_cost. */
static const char *const cost_names[] = {"", " (sum of distances)", " (sum of 1 - cosine)"};

static void print_start(const cli_cluster_options *o, const cli_run *run) {
    printf("  %-22s%s%s", "initial centres", o->init_is_file ? "" : o->init, o->init_is_file ? "from " : "");
    if (o->init_is_file) fputs(o->init, stdout);
    if (o->restarts > 1 && !o->init_is_file && o->seeding != TS_SEED_FIRST)
        printf(", the best of %lld restarts (number %lld)", (long long)o->restarts, (long long)run->restart + 1);
    putchar('\n');
}

static void print_results(const cli_cluster_job *job) {
    const cli_cluster_options *o = job->options;
    const cli_run *run = &job->run;
    char details[CLI_MODEL_TEXT], criterion[CLI_CRITERION_TEXT];
    printf("  %-22s%s, as a transformer (%s)\n", "algorithm", cli_cluster_model_title(&job->model),
           cli_cluster_model_details(&job->model, details));
    print_start(o, run);
    printf("  %-22s%lld, %s", "steps", (long long)run->steps, run->converged ? "converged" : "not converged");
    if (o->model != NULL && run->best_step != run->steps) printf("; best after step %lld", (long long)run->best_step);
    putchar('\n');
    if (run->empty_repairs > 0) printf("  %-22s%lld\n", "empty clusters refilled", (long long)run->empty_repairs);
    if (job->model.definition.trims) printf("  %-22s%lld\n", "rows trimmed", (long long)run->trimmed);
    printf("  %-22s%.10g%s\n", "objective", job->objective, cost_names[job->model.cost]);
    if (!cli_cluster_criterion_is_objective(job))
        printf("  %-22s%.10g (%s)\n", "criterion", run->criterion, cli_cluster_criterion_name(job, criterion));
    if (o->labels_column != NULL) printf("  %-22s%.4f\n", "adjusted Rand index", job->adjusted_rand_index);
    if (o->compare)
        printf("  %-22slargest centre difference %.3g, %lld label%s differ%s\n", "plain algorithm",
               job->max_center_diff, CLI_COUNT(job->label_mismatches), job->label_mismatches == 1 ? "s" : "");
    if (job->narrow)
        puts("  note: the ranges of the columns differ widely, and the model was trained on data whose columns all run "
             "from 0 to 1: --scaling minmax may serve better");
}

/* A name of at most `width` characters, shortened with a dot at the end; no control codes go to a terminal. */
static void print_name(const char *name, int width) {
    char shown[5];
    size_t fits = 0, bytes = 0; /* fits: up to the last character that has room */
    int count = 0;
    for (size_t length; (length = ts_utf8_next(name + bytes, shown)) > 0; bytes += length)
        if (++count == width) fits = bytes;
    const bool whole = count <= width;
    if (whole) printf("%*s", width - count, "");
    for (size_t at = 0; at < (whole ? bytes : fits);) {
        at += ts_utf8_next(name + at, shown);
        fputs(shown, stdout);
    }
    if (!whole) putchar('.');
}

enum { WIDTH = 12, MOST_COLUMNS = 7, MOST_ROWS = 20, USUAL_DIGITS = 6, WHOLE_DIGITS = 10, MOST_DIGITS = 15 };

/* How the centres of a column are printed. */
typedef struct column_format {
    int digits, width;
} column_format;

/* The digits of the shortest decimal that reads back as the number. */
static int digits_of(double number) {
    char text[CLI_NUMBER_TEXT];
    int digits = 1;
    for (; digits < MOST_DIGITS; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (!(fabs(strtod(text, NULL) - number) > 0)) break;
    }
    return digits;
}

/* Digits that resolve the least gap of the sorted centres [k] to two digits and the greatest to four. Centres within
 * the rounding of a mean count as one. */
static int digits_apart(int64_t k, const double *sorted) {
    const double low = sorted[0], high = sorted[k - 1], largest = fmax(fabs(low), fabs(high));
    double least = high - low;
    for (int64_t i = 1; i < k; i++) {
        const double gap = sorted[i] - sorted[i - 1];
        if (gap > 1e-13 * largest) least = fmin(least, gap);
    }
    if (!(high > low)) return USUAL_DIGITS;
    const double of_greatest = 4 + floor(log10(largest / (high - low))),
                 of_least = 2 + floor(log10(largest)) - floor(log10(least));
    return (int)fmin(fmax(of_greatest, of_least), MOST_DIGITS);
}

/* Six digits, or all if they are few; more if six would not tell the centres apart, but at least the integer part. */
static int digits_of_column(const cli_cluster_job *job, int64_t column) {
    int digits = 1;
    double *sorted = malloc((size_t)job->k * sizeof *sorted);
    if (sorted == NULL) return MOST_DIGITS;
    for (int64_t i = 0; i < job->k; i++) {
        sorted[i] = job->centers[i * job->d + column];
        digits = digits < WHOLE_DIGITS + 1 && digits_of(sorted[i]) > digits ? digits_of(sorted[i]) : digits;
    }
    qsort(sorted, (size_t)job->k, sizeof *sorted, ts_compare_doubles);
    if (digits > WHOLE_DIGITS) digits = digits_apart(job->k, sorted);
    const double largest = fmax(fabs(sorted[0]), fabs(sorted[job->k - 1]));
    if (digits > USUAL_DIGITS) digits = (int)fmax(digits, floor(log10(largest)) + 1);
    free(sorted);
    return digits < USUAL_DIGITS ? USUAL_DIGITS : digits < MOST_DIGITS ? digits : MOST_DIGITS;
}

static column_format format_of(const cli_cluster_job *job, int64_t rows, int64_t column) {
    column_format f = {.digits = digits_of_column(job, column), .width = WIDTH};
    for (int64_t i = 0; i < rows; i++) {
        const int width = snprintf(NULL, 0, "%.*g", f.digits, job->centers[i * job->d + column] + 0.0);
        f.width = width > f.width ? width : f.width;
    }
    return f;
}

static void print_centers(const cli_cluster_job *job) {
    const int64_t columns = job->d <= MOST_COLUMNS ? job->d : MOST_COLUMNS - 1;
    const int64_t rows = job->k <= MOST_ROWS ? job->k : MOST_ROWS - 1;
    column_format format[MOST_COLUMNS];
    printf("\n  cluster      rows");
    for (int64_t j = 0; j < columns; j++) {
        char number[CLI_NUMBER_TEXT];
        format[j] = format_of(job, rows, j);
        snprintf(number, sizeof number, "column %lld", (long long)j + 1);
        fputs("  ", stdout);
        print_name(job->table.names != NULL ? job->table.names[j] : number, format[j].width);
    }
    if (columns < job->d) printf("  and %lld more", (long long)(job->d - columns));
    putchar('\n');
    for (int64_t i = 0; i < rows; i++) {
        printf("  %7lld%10lld", (long long)i, (long long)job->sizes[i]);
        for (int64_t j = 0; j < columns; j++)
            printf("  %*.*g", format[j].width, format[j].digits, job->centers[i * job->d + j] + 0.0);
        putchar('\n');
    }
    if (rows < job->k) printf("  and %lld more\n", (long long)(job->k - rows));
}

bool cli_cluster_print_report(const void *result) {
    const cli_cluster_job *job = result;
    const cli_cluster_options *o = job->options;
    printf("%s: %lld row%s, %lld feature%s, %lld cluster%s\n", cli_source_name(o->file), CLI_COUNT(job->n),
           CLI_COUNT(job->d), CLI_COUNT(job->k));
    print_results(job);
    print_centers(job);
    return true;
}

bool cli_cluster_print_json(const void *result) {
    const cli_cluster_job *job = result;
    const cli_run *run = &job->run;
    const cli_cluster_options *o = job->options;
    const cli_cluster_model *m = &job->model;
    const double gamma = cli_cluster_model_gamma(m);
    char criterion[CLI_CRITERION_TEXT];
    cli_json json = {0};
    cli_json_put(&json, "{ file:s algorithm:s", o->file, m->variant != NULL ? m->variant->name : m->definition.name);
    if (o->model != NULL) cli_json_put(&json, "model:s", o->model);
    cli_json_put(&json, "construction:s n:i d:i k:i", ts_construction_names[m->definition.construction], job->n, job->d,
                 job->k);
    cli_json_put(&json, "steps:i converged:b objective:r criterion:r criterion_name:s", run->steps, run->converged,
                 job->objective, run->criterion, cli_cluster_criterion_name(job, criterion));
    if (o->model != NULL) cli_json_put(&json, "best_step:i narrow_column:b", run->best_step, job->narrow);
    cli_json_put(&json, "empty_repairs:i trimmed:i", run->empty_repairs, run->trimmed);
    if (gamma > 0) cli_json_put(&json, "gamma:r", gamma);
    cli_json_put(&json, "labels:I centers:[", job->n, run->labels);
    for (int64_t i = 0; i < job->k; i++) cli_json_put(&json, "R", job->d, job->centers + i * job->d);
    cli_json_put(&json, "]");
    if (o->labels_column != NULL) cli_json_put(&json, "adjusted_rand_index:r", job->adjusted_rand_index);
    if (o->compare)
        cli_json_put(&json, "compare:{ max_center_diff:r label_mismatches:i }", job->max_center_diff,
                     job->label_mismatches);
    cli_json_put(&json, "seconds:r }", job->seconds);
    return cli_json_end(&json);
}
