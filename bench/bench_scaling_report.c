/* bench_scaling_report.c: what `tessera bench --scaling` found, as text, JSON, CSV and Markdown. */
#include <math.h>
#include <string.h>

#include "bench_scaling.h"

/* A point of a curve, or one that was left out: NAN, and why. */
typedef struct point {
    const char *axis, *number, *state, *reason;
    int64_t x, runs;
    cli_bench_summary time;
    double peak, added;
} point;

#define FIELD(name) offsetof(point, name)
enum { X = 2, COLUMNS = 12 };
static const cli_column all_columns[COLUMNS] = {
    {.field = FIELD(axis), .cell = CLI_CELL_TEXT, .csv = "axis"},
    {.field = FIELD(number), .cell = CLI_CELL_TEXT, .csv = "varies"},
    {.field = FIELD(x), .cell = CLI_CELL_WHOLE, .csv = "x", .width = 12}, /* called by what varies */
    {.field = FIELD(state), .cell = CLI_CELL_TEXT, .csv = "state"},
    {.field = FIELD(runs), .cell = CLI_CELL_WHOLE, .csv = "runs"},
    {.field = FIELD(time.median), .csv = "median_ms", .head = "ms", .md = "ms", .width = 10, .show = cli_bench_number},
    {.field = FIELD(time.least), .cell = CLI_CELL_RANGE, .show = cli_bench_number, .md = "least to most"},
    {.field = FIELD(time.least), .csv = "least_ms", .head = "least", .width = 10, .show = cli_bench_number},
    {.field = FIELD(time.most), .csv = "most_ms", .head = "most", .width = 10, .show = cli_bench_number},
    {.field = FIELD(peak), .csv = "peak_megabytes", .head = "MB", .md = "MB", .width = 8, .show = cli_bench_number},
    {.field = FIELD(added),
     .csv = "added_megabytes",
     .head = "added",
     .md = "added",
     .width = 8,
     .show = cli_bench_number},
    {.field = FIELD(reason), .cell = CLI_CELL_QUOTED, .csv = "reason"},
};

static void put_point(FILE *stream, cli_form form, const cli_column *columns, const cli_bench_curve *c, int i) {
    const bool failed = c->failed && i == c->points;
    point p = {.axis = cli_bench_axes[c->axis],
               .number = cli_bench_axis_of(c->axis)->number,
               .state = i < c->points ? "measured"
                        : failed      ? "failed"
                                      : "skipped",
               .reason = i == c->points ? c->reason : "",
               .x = (int64_t)c->x[i],
               .time = {0, NAN, NAN, NAN},
               .peak = NAN,
               .added = NAN};
    if (i < c->points) p.time = c->time[i], p.runs = p.time.count, p.peak = c->peak[i], p.added = c->added[i];
    cli_report_row(stream, form, columns, COLUMNS, &p);
}

/* The points that were measured, in a table. */
static void put_table(FILE *stream, cli_form form, const cli_bench_curve *c) {
    cli_column columns[COLUMNS];
    memcpy(columns, all_columns, sizeof columns);
    columns[X].head = columns[X].md = cli_bench_axis_of(c->axis)->number;
    cli_report_head(stream, form, columns, COLUMNS);
    for (int i = 0; i < c->points; i++) put_point(stream, form, columns, c, i);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* "time as n^1.9, memory as n^1.0" */
static void write_exponents(FILE *stream, const cli_bench_curve *c) {
    const char *number = cli_bench_axis_of(c->axis)->number;
    if (isnan(c->time_exponent) || isnan(c->memory_exponent))
        fputs("too few points for an exponent", stream);
    else
        fprintf(stream, "time as %s^%.2f, memory as %s^%.2f", number, c->time_exponent, number, c->memory_exponent);
}

/* "skipped: 3000000 (out of memory), 10000000" */
static void write_skipped(FILE *stream, const cli_bench_curve *c) {
    const double *left_out = c->x + c->points;
    if (c->skipped > 0) fprintf(stream, "%s: %.0f (%s)", c->failed ? "failed" : "skipped", left_out[0], c->reason);
    for (int i = 1; i < c->skipped; i++)
        fprintf(stream, "%s%.0f", i == 1 && c->failed ? "; not tried: " : ", ", left_out[i]);
}

static void print_curve(const cli_bench_scaling *s, const cli_bench_curve *c) {
    printf("\n%s: %s\n", cli_bench_axes[c->axis], cli_bench_axis_of(c->axis)->fixed[s->options->quick]);
    put_table(stdout, CLI_TEXT_TABLE, c);
    fputs("  ", stdout);
    write_exponents(stdout, c);
    fputs(c->skipped > 0 ? "\n  " : "\n", stdout);
    write_skipped(stdout, c);
    if (c->skipped > 0) putchar('\n');
}

static void print(const void *result) {
    const cli_bench_scaling *s = result;
    cli_bench_write_machine(stdout, &s->machine, "");
    puts("a step in a process of its own; MB: its peak; added: what came since it began; exponents by least squares "
         "over\n"
         "the upper half of the range, on logarithms");
    for (int i = 0; i < s->curves; i++) print_curve(s, &s->curve[i]);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_curve(cli_json *json, const cli_bench_scaling *s, const cli_bench_curve *c) {
    const cli_bench_axis *axis = cli_bench_axis_of(c->axis);
    cli_json_put(json, "{ axis:s varies:s fixed:s points:[", cli_bench_axes[c->axis], axis->number,
                 axis->fixed[s->options->quick]);
    for (int i = 0; i < c->points; i++)
        cli_json_put(json, "{ x:f median_ms:f least_ms:f most_ms:f runs:i peak_megabytes:f added_megabytes:f }",
                     c->x[i], c->ms[i], c->time[i].least, c->time[i].most, (int64_t)c->time[i].count, c->peak[i],
                     c->added[i]);
    cli_json_put(json, "] skipped:F failed:b reason:s time_exponent:f memory_exponent:f }", (int64_t)c->skipped,
                 c->x + c->points, c->failed, c->reason, c->time_exponent, c->memory_exponent);
}

static void put_json(const void *result, cli_json *json) {
    const cli_bench_scaling *s = result;
    cli_json_put(json, "{");
    cli_bench_put_machine(json, &s->machine);
    cli_json_put(json, "quick:b scaling:[", s->options->quick);
    for (int i = 0; i < s->curves; i++) put_curve(json, s, &s->curve[i]);
    cli_json_put(json, "] }");
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void put_csv(const void *result, FILE *stream) {
    const cli_bench_scaling *s = result;
    cli_report_head(stream, CLI_CSV, all_columns, COLUMNS);
    for (int i = 0; i < s->curves; i++)
        for (int p = 0; p < s->curve[i].points + s->curve[i].skipped; p++)
            put_point(stream, CLI_CSV, all_columns, &s->curve[i], p);
}

static void put_markdown(const void *result, FILE *stream) {
    const cli_bench_scaling *s = result;
    fputs("# Scaling\n\nWritten by `tessera bench --scaling --markdown`; docs/performance.md says how.\n\n", stream);
    cli_bench_write_machine(stream, &s->machine, "* ");
    for (int i = 0; i < s->curves; i++) {
        const cli_bench_curve *c = &s->curve[i];
        fprintf(stream, "\n## %s\n\n%s: ", cli_bench_axes[c->axis],
                cli_bench_axis_of(c->axis)->fixed[s->options->quick]);
        write_exponents(stream, c);
        fputs(".\n", stream);
        write_skipped(stream, c);
        fputs(c->skipped > 0 ? ".\n\n" : "\n", stream);
        put_table(stream, CLI_MARKDOWN, c);
    }
}

const cli_bench_report cli_bench_scaling_report = {print, put_json, put_csv, put_markdown};
