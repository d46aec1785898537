#include "bench_profile_report.h"

#include <jansson.h>
#include <stdio.h>

#include "../cli/common/number_text.h"
#include "../io/output_file.h"
#include "bench_report.h"

/* A line of a profile: an op, or a part outside of ops, which has no passes. */
typedef struct line {
    const char *name;
    bool is_op;
    double percent[CLI_BENCH_PASSES]; /* of an op; else the first one is all */
} line;

/* The lines, ops by falling share and then the parts; returns how many. */
static int lines_of(const cli_bench_profile *p, line lines[CLI_BENCH_OPS + CLI_BENCH_PARTS]) {
    for (int i = 0; i < p->ops; i++) {
        const double *op = p->op[i];
        const line new = {p->name[i], true, {100 * op[0] / p->total, 100 * op[1] / p->total}};
        int at = i;
        for (; at > 0 && lines[at - 1].percent[0] + lines[at - 1].percent[1] < new.percent[0] + new.percent[1]; at--)
            lines[at] = lines[at - 1];
        lines[at] = new;
    }
    for (int i = 0; i < CLI_BENCH_PARTS; i++)
        lines[p->ops + i] = (line){cli_bench_part_names[i], false, {100 * p->part[i] / p->total, 0}};
    return p->ops + CLI_BENCH_PARTS;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* "train-512: 52.1 ms a step on 2 threads, mean of 7 runs" */
static void write_title(FILE *stream, const cli_bench_profile *p) {
    char text[CLI_BENCH_NUMBER];
    fprintf(stream, "%s: %s ms a step on %d thread%s, mean of %d run%s", p->work, cli_bench_number(p->step, text),
            p->threads, p->threads == 1 ? "" : "s", p->runs, p->runs == 1 ? "" : "s");
}

void cli_bench_profile_print(const cli_bench_options *options, const cli_bench_profile *profiles, int count) {
    line lines[CLI_BENCH_OPS + CLI_BENCH_PARTS];
    (void)options;
    puts("shares of the time of all threads, in percent");
    for (int i = 0; i < count; i++) {
        const int n = lines_of(&profiles[i], lines);
        putchar('\n');
        write_title(stdout, &profiles[i]);
        printf("\n  %-20s %9s %9s %9s\n", "", "forward", "backward", "both");
        for (int l = 0; l < n; l++)
            if (lines[l].is_op)
                printf("  %-20s %9.2f %9.2f %9.2f\n", lines[l].name, lines[l].percent[0], lines[l].percent[1],
                       lines[l].percent[0] + lines[l].percent[1]);
            else
                printf("  %-20s %9s %9s %9.2f\n", lines[l].name, "", "", lines[l].percent[0]);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *profile_json(const cli_bench_profile *p) {
    line lines[CLI_BENCH_OPS + CLI_BENCH_PARTS];
    const int n = lines_of(p, lines);
    json_t *ops = json_array(), *outside = json_object();
    for (int l = 0; l < n; l++)
        if (lines[l].is_op)
            json_array_append_new(ops, json_pack("{s:s, s:f, s:f}", "op", lines[l].name, "forward_percent",
                                                 lines[l].percent[0], "backward_percent", lines[l].percent[1]));
        else
            json_object_set_new(outside, lines[l].name, json_real(lines[l].percent[0]));
    return json_pack("{s:s, s:f, s:i, s:i, s:o, s:o}", "work", p->work, "step_ms", p->step, "threads", p->threads,
                     "runs", p->runs, "ops", ops, "outside_ops_percent", outside);
}

bool cli_bench_profile_print_json(const cli_bench_options *options, const cli_bench_profile *profiles, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, profile_json(&profiles[i]));
    return cli_bench_print_object(json_pack("{s:b, s:o}", "quick", options->quick, "profiles", list));
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

bool cli_bench_profile_write_csv(const cli_bench_options *options, const cli_bench_profile *profiles, int count,
                                 ts_io_error *error) {
    static const char *const passes[CLI_BENCH_PASSES] = {"forward", "backward"};
    line lines[CLI_BENCH_OPS + CLI_BENCH_PARTS];
    ts_output_file file;
    char text[CLI_NUMBER_TEXT];
    if (!ts_output_open(options->csv, &file, error)) return false;
    fputs("work,step_ms,part,pass,percent\n", file.stream);
    for (int i = 0; i < count; i++) {
        const int n = lines_of(&profiles[i], lines);
        for (int l = 0; l < n; l++)
            for (int b = 0; b < (lines[l].is_op ? CLI_BENCH_PASSES : 1); b++) {
                fprintf(file.stream, "%s,%s", profiles[i].work, cli_number_text(profiles[i].step, text));
                fprintf(file.stream, ",%s,%s,%s\n", lines[l].name, lines[l].is_op ? passes[b] : "",
                        cli_number_text(lines[l].percent[b], text));
            }
    }
    return ts_output_commit(&file, error);
}

bool cli_bench_profile_write_markdown(const cli_bench_options *options, const cli_bench_profile *profiles, int count,
                                      ts_io_error *error) {
    line lines[CLI_BENCH_OPS + CLI_BENCH_PARTS];
    ts_output_file file;
    if (!ts_output_open(options->markdown, &file, error)) return false;
    fputs("# Where a training step goes\n\nWritten by `tessera bench --profile --markdown`: shares of the time of all "
          "threads, in percent.\n",
          file.stream);
    for (int i = 0; i < count; i++) {
        const int n = lines_of(&profiles[i], lines);
        fputs("\n## ", file.stream);
        write_title(file.stream, &profiles[i]);
        fputs("\n\n| | forward | backward | both |\n|---|---:|---:|---:|\n", file.stream);
        for (int l = 0; l < n; l++)
            if (lines[l].is_op)
                fprintf(file.stream, "| %s | %.1f | %.1f | %.1f |\n", lines[l].name, lines[l].percent[0],
                        lines[l].percent[1], lines[l].percent[0] + lines[l].percent[1]);
            else
                fprintf(file.stream, "| %s | | | %.1f |\n", lines[l].name, lines[l].percent[0]);
    }
    return ts_output_commit(&file, error);
}
