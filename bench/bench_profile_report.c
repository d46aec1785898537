/* bench_profile_report.c: profiles as text, JSON, CSV and Markdown: shares in percent. */
#include <math.h>

#include "bench_profile.h"

/* A line of a profile: an op, or a part outside of ops, which has no passes. */
typedef struct line {
    const char *name;
    bool is_op;
    double percent[CLI_BENCH_PASSES], both; /* of an op; else NAN, and all */
} line;

/* The lines, ops by falling share and then the parts; returns how many. */
static int lines_of(const cli_bench_profile *p, line lines[CLI_BENCH_OPS + CLI_BENCH_PARTS]) {
    for (int i = 0; i < p->ops; i++) {
        const double forward = 100 * p->op[i][0] / p->total, backward = 100 * p->op[i][1] / p->total;
        const line new = {p->name[i], true, {forward, backward}, forward + backward};
        int at = i;
        for (; at > 0 && lines[at - 1].both < new.both; at--) lines[at] = lines[at - 1];
        lines[at] = new;
    }
    for (int i = 0; i < CLI_BENCH_PARTS; i++)
        lines[p->ops + i] = (line){cli_bench_part_names[i], false, {NAN, NAN}, 100 * p->part[i] / p->total};
    return p->ops + CLI_BENCH_PARTS;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static const char *two_decimals(double value, char text[CLI_NUMBER_TEXT]) {
    text[0] = '\0';
    if (!isnan(value)) snprintf(text, CLI_NUMBER_TEXT, "%.2f", value);
    return text;
}

#define FIELD(name) offsetof(line, name)
enum { COLUMNS = 4 };
static const cli_column columns[COLUMNS] = {
    {.field = FIELD(name), .cell = CLI_CELL_TEXT, .head = "", .width = -20, .gap = 2},
    {.field = FIELD(percent[0]), .head = "forward", .width = 9, .show = two_decimals},
    {.field = FIELD(percent[1]), .head = "backward", .width = 9, .show = two_decimals},
    {.field = FIELD(both), .head = "both", .width = 9, .show = two_decimals},
};

/* "train-512: 52.1 ms a step on 2 threads, mean of 7 runs" */
static void write_title(FILE *stream, const cli_bench_profile *p) {
    char text[CLI_NUMBER_TEXT];
    fprintf(stream, "%s: %s ms a step on %lld thread%s, mean of %lld run%s", p->work, cli_bench_number(p->step, text),
            CLI_COUNT(p->threads), CLI_COUNT(p->runs));
}

static void print(const void *result) {
    const cli_bench_profiles *all = result;
    line lines[CLI_BENCH_OPS + CLI_BENCH_PARTS];
    puts("shares of the time of all threads, in percent");
    for (int i = 0; i < all->count; i++) {
        const int n = lines_of(&all->profile[i], lines);
        putchar('\n');
        write_title(stdout, &all->profile[i]);
        putchar('\n');
        cli_report_head(stdout, CLI_TEXT_TABLE, columns, COLUMNS);
        for (int l = 0; l < n; l++) cli_report_row(stdout, CLI_TEXT_TABLE, columns, COLUMNS, &lines[l]);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_profile(cli_json *json, const cli_bench_profile *p) {
    line lines[CLI_BENCH_OPS + CLI_BENCH_PARTS];
    const int n = lines_of(p, lines);
    cli_json_put(json, "{ work:s step_ms:f threads:i runs:i ops:[", p->work, p->step, (int64_t)p->threads,
                 (int64_t)p->runs);
    for (int l = 0; l < p->ops; l++)
        cli_json_put(json, "{ op:s forward_percent:f backward_percent:f }", lines[l].name, lines[l].percent[0],
                     lines[l].percent[1]);
    json_t *outside = json_object();
    for (int l = p->ops; l < n; l++) json_object_set_new(outside, lines[l].name, json_real(lines[l].both));
    cli_json_put(json, "] outside_ops_percent:j }", outside);
}

static void put_json(const void *result, cli_json *json) {
    const cli_bench_profiles *all = result;
    cli_json_put(json, "{ quick:b profiles:[", all->options->quick);
    for (int i = 0; i < all->count; i++) put_profile(json, &all->profile[i]);
    cli_json_put(json, "] }");
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void put_csv_row(FILE *stream, const cli_bench_profile *p, const char *part, const char *pass, double percent) {
    char step[CLI_NUMBER_TEXT], share[CLI_NUMBER_TEXT];
    fprintf(stream, "%s,%s,%s,%s,%s\n", p->work, cli_number_text(p->step, step), part, pass,
            cli_number_text(percent, share));
}

static void put_csv(const void *result, FILE *stream) {
    const cli_bench_profiles *all = result;
    line lines[CLI_BENCH_OPS + CLI_BENCH_PARTS];
    fputs("work,step_ms,part,pass,percent\n", stream);
    for (int i = 0; i < all->count; i++) {
        const cli_bench_profile *p = &all->profile[i];
        const int n = lines_of(p, lines);
        for (int l = 0; l < n; l++) {
            if (lines[l].is_op) put_csv_row(stream, p, lines[l].name, "forward", lines[l].percent[0]);
            if (lines[l].is_op) put_csv_row(stream, p, lines[l].name, "backward", lines[l].percent[1]);
            if (!lines[l].is_op) put_csv_row(stream, p, lines[l].name, "", lines[l].both);
        }
    }
}

static void put_markdown(const void *result, FILE *stream) {
    const cli_bench_profiles *all = result;
    line lines[CLI_BENCH_OPS + CLI_BENCH_PARTS];
    fputs("# Where a training step goes\n\nWritten by `tessera bench --profile --markdown`: shares of the time of all "
          "threads, in percent.\n",
          stream);
    for (int i = 0; i < all->count; i++) {
        const int n = lines_of(&all->profile[i], lines);
        fputs("\n## ", stream);
        write_title(stream, &all->profile[i]);
        fputs("\n\n| | forward | backward | both |\n|---|---:|---:|---:|\n", stream);
        for (int l = 0; l < n; l++)
            if (lines[l].is_op)
                fprintf(stream, "| %s | %.1f | %.1f | %.1f |\n", lines[l].name, lines[l].percent[0],
                        lines[l].percent[1], lines[l].both);
            else
                fprintf(stream, "| %s | | | %.1f |\n", lines[l].name, lines[l].both);
    }
}

const cli_bench_report cli_bench_profile_report = {print, put_json, put_csv, put_markdown};
