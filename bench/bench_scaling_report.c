/* bench_scaling_report.c: what `tessera bench --scaling` found, as text, JSON, CSV and Markdown. */
#include <math.h>
#include <stdio.h>

#include "../cli/common/number_text.h"
#include "../io/output_file.h"
#include "bench_report.h"
#include "bench_scaling.h"

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
    const cli_bench_axis *axis = cli_bench_axis_of(c->axis);
    char cell[5][CLI_BENCH_NUMBER];
    printf("\n%s: %s\n%12s %10s %10s %10s %8s %8s\n", cli_bench_axes[c->axis], axis->fixed[s->options->quick],
           axis->number, "ms", "least", "most", "MB", "added");
    for (int i = 0; i < c->points; i++)
        printf("%12.0f %10s %10s %10s %8s %8s\n", c->x[i], cli_bench_number(c->ms[i], cell[0]),
               cli_bench_number(c->time[i].least, cell[1]), cli_bench_number(c->time[i].most, cell[2]),
               cli_bench_number(c->peak[i], cell[3]), cli_bench_number(c->added[i], cell[4]));
    fputs("  ", stdout);
    write_exponents(stdout, c);
    fputs(c->skipped > 0 ? "\n  " : "\n", stdout);
    write_skipped(stdout, c);
    if (c->skipped > 0) putchar('\n');
}

void cli_bench_scaling_print(const cli_bench_scaling *s) {
    cli_bench_write_machine(stdout, &s->machine, "");
    puts("a step in a process of its own; MB: its peak; added: what came since it began; exponents by least squares "
         "over\n"
         "the upper half of the range, on logarithms");
    for (int i = 0; i < s->curves; i++) print_curve(s, &s->curve[i]);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *curve_json(const cli_bench_scaling *s, const cli_bench_curve *c) {
    const cli_bench_axis *axis = cli_bench_axis_of(c->axis);
    json_t *points = json_array(), *skipped = json_array();
    for (int i = 0; i < c->points; i++)
        json_array_append_new(points, json_pack("{s:f, s:f, s:f, s:f, s:i, s:f, s:f}", "x", c->x[i], "median_ms",
                                                c->ms[i], "least_ms", c->time[i].least, "most_ms", c->time[i].most,
                                                "runs", c->time[i].count, "peak_megabytes", c->peak[i],
                                                "added_megabytes", c->added[i]));
    for (int i = 0; i < c->skipped; i++) json_array_append_new(skipped, json_real(c->x[c->points + i]));
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:b, s:s, s:o, s:o}", "axis", cli_bench_axes[c->axis], "varies",
                     axis->number, "fixed", axis->fixed[s->options->quick], "points", points, "skipped", skipped,
                     "failed", c->failed, "reason", c->reason, "time_exponent", cli_bench_real(c->time_exponent),
                     "memory_exponent", cli_bench_real(c->memory_exponent));
}

bool cli_bench_scaling_print_json(const cli_bench_scaling *s) {
    json_t *curves = json_array();
    for (int i = 0; i < s->curves; i++) json_array_append_new(curves, curve_json(s, &s->curve[i]));
    return cli_bench_print_object(json_pack("{s:o, s:b, s:o}", "machine", cli_bench_machine_json(&s->machine), "quick",
                                            s->options->quick, "scaling", curves));
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

bool cli_bench_scaling_write_csv(const cli_bench_scaling *s, ts_io_error *error) {
    ts_output_file file;
    if (!ts_output_open(s->options->csv, &file, error)) return false;
    fputs("axis,varies,x,state,runs,median_ms,least_ms,most_ms,peak_megabytes,added_megabytes,reason\n", file.stream);
    for (int i = 0; i < s->curves; i++) {
        const cli_bench_curve *c = &s->curve[i];
        const char *axis = cli_bench_axes[c->axis], *number = cli_bench_axis_of(c->axis)->number;
        for (int p = 0; p < c->points; p++) {
            const double values[] = {c->ms[p], c->time[p].least, c->time[p].most, c->peak[p], c->added[p]};
            char text[CLI_NUMBER_TEXT];
            fprintf(file.stream, "%s,%s,%.0f,measured,%d", axis, number, c->x[p], c->time[p].count);
            for (int v = 0; v < 5; v++) fprintf(file.stream, ",%s", cli_number_text(values[v], text));
            fputs(",\n", file.stream);
        }
        for (int p = 0; p < c->skipped; p++) {
            fprintf(file.stream, "%s,%s,%.0f,%s,0,,,,,,", axis, number, c->x[c->points + p],
                    c->failed && p == 0 ? "failed" : "skipped");
            if (p == 0) cli_bench_write_quoted(file.stream, c->reason);
            fputc('\n', file.stream);
        }
    }
    return ts_output_commit(&file, error);
}

static void write_curve(FILE *stream, const cli_bench_scaling *s, const cli_bench_curve *c) {
    const cli_bench_axis *axis = cli_bench_axis_of(c->axis);
    char cell[5][CLI_BENCH_NUMBER];
    fprintf(stream, "\n## %s\n\n%s: ", cli_bench_axes[c->axis], axis->fixed[s->options->quick]);
    write_exponents(stream, c);
    fputs(".\n", stream);
    write_skipped(stream, c);
    fprintf(stream, "%s\n| %s | ms | least to most | MB | added |\n|---:|---:|---:|---:|---:|\n",
            c->skipped > 0 ? ".\n" : "", axis->number);
    for (int i = 0; i < c->points; i++)
        fprintf(stream, "| %.0f | %s | %s to %s | %s | %s |\n", c->x[i], cli_bench_number(c->ms[i], cell[0]),
                cli_bench_number(c->time[i].least, cell[1]), cli_bench_number(c->time[i].most, cell[2]),
                cli_bench_number(c->peak[i], cell[3]), cli_bench_number(c->added[i], cell[4]));
}

bool cli_bench_scaling_write_markdown(const cli_bench_scaling *s, ts_io_error *error) {
    ts_output_file file;
    if (!ts_output_open(s->options->markdown, &file, error)) return false;
    fputs("# Scaling\n\nWritten by `tessera bench --scaling --markdown`; docs/performance.md says how.\n\n",
          file.stream);
    cli_bench_write_machine(file.stream, &s->machine, "* ");
    for (int i = 0; i < s->curves; i++) write_curve(file.stream, s, &s->curve[i]);
    return ts_output_commit(&file, error);
}
