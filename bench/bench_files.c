/* bench_files.c: the table of `tessera bench` as CSV and as Markdown. */
#include <math.h>
#include <string.h>

#include "../cli/common/number_text.h"
#include "../io/output_file.h"
#include "bench_report.h"

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static void write_number(FILE *stream, double value) {
    char text[CLI_NUMBER_TEXT];
    fprintf(stream, ",%s", isnan(value) ? "" : cli_number_text(value, text));
}

void cli_bench_write_quoted(FILE *stream, const char *text) {
    fputc('"', stream);
    for (; *text != '\0'; text++) fprintf(stream, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', stream);
}

static void write_row(void *context, const cli_bench_row *row) {
    FILE *stream = context;
    const double numbers[] = {row->time.median, row->time.least, row->time.most, row->gflops,
                              row->share,       row->megabytes,  row->multiple,  row->ratio};
    fprintf(stream, "%s,\"%s\",\"%s\",%s,%d", row->work, row->what, row->who, cli_bench_state_text(row->state),
            row->time.count);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) write_number(stream, numbers[i]);
    fputc(',', stream);
    if (row->reason[0] != '\0') cli_bench_write_quoted(stream, row->reason);
    fputc('\n', stream);
}

bool cli_bench_write_csv(const cli_bench_table *table, ts_io_error *error) {
    ts_output_file file;
    if (!ts_output_open(table->options->csv, &file, error)) return false;
    fputs("work,what,who,state,runs,median_ms,least_ms,most_ms,gflops,share_of_peak,peak_megabytes,multiple_of_data,"
          "ratio,reason\n",
          file.stream);
    cli_bench_each_row(table, write_row, file.stream);
    return ts_output_commit(&file, error);
}

/* ---- Markdown ---------------------------------------------------------------------------------------------------- */

/* A bar would end the cell; the rest is not to be read as Markdown or HTML either. */
static void write_reason(FILE *stream, const char *text) {
    for (; *text != '\0'; text++) fprintf(stream, strchr("|\\`*_<[", *text) != NULL ? "\\%c" : "%c", *text);
}

static void write_cells(void *context, const cli_bench_row *row) {
    FILE *stream = context;
    char cell[8][CLI_BENCH_NUMBER];
    fprintf(stream, "| %s | %s |", row->ours ? row->work : "", row->ours ? row->what : row->who);
    if (row->state != CLI_BENCH_MEASURED) {
        fprintf(stream, " | %s%s", cli_bench_state_text(row->state), row->reason[0] != '\0' ? ": " : "");
        write_reason(stream, row->reason);
        fputs(" | | | | | | |\n", stream);
        return;
    }
    const char *before = row->ours ? "**" : "";
    fprintf(stream, " %d | %s%s%s | %s to %s | %s | %s | %s | %s | %s |\n", row->time.count, before,
            cli_bench_number(row->time.median, cell[0]), before, cli_bench_number(row->time.least, cell[1]),
            cli_bench_number(row->time.most, cell[2]), cli_bench_number(row->gflops, cell[3]),
            cli_bench_percent(row->share, cell[4]), cli_bench_number(row->megabytes, cell[5]),
            cli_bench_number(row->multiple, cell[6]), cli_bench_number(row->ratio, cell[7]));
}

/* Each peer that was there, once, by its version. */
static void write_versions(FILE *stream, const cli_bench_table *table) {
    const char *told[CLI_BENCH_WORKS * CLI_BENCH_PEERS];
    int count = 0;
    for (int i = 0; i < table->groups; i++)
        for (int p = 0; p < table->group[i].rivals; p++) {
            const cli_bench_rival *v = &table->group[i].rival[p];
            bool known = v->version[0] == '\0';
            for (int t = 0; t < count; t++) known = known || strcmp(told[t], v->peer->name) == 0;
            if (known) continue;
            told[count++] = v->peer->name;
            fprintf(stream, "* %s: %s\n", v->peer->name, v->version);
        }
}

bool cli_bench_write_markdown(const cli_bench_table *table, ts_io_error *error) {
    ts_output_file file;
    if (!ts_output_open(table->options->markdown, &file, error)) return false;
    fputs("# Speed\n\nWritten by `tessera bench --markdown`; docs/performance.md says what is measured and how.\n\n",
          file.stream);
    cli_bench_write_machine(file.stream, &table->machine, "* ");
    write_versions(file.stream, table);
    fprintf(
        file.stream,
        "\nMedians of as many runs as the row says. Ours and a peer's take turns for %lld, %d at most of what takes "
        "over %d s to\nwarm up; ours has those beside all its peers.%s\n\n",
        (long long)table->options->runs, cli_bench_rounds(table->options, INFINITY), CLI_BENCH_SLOW_SECONDS,
        table->options->quick ? " **--quick: shapes too small to mean anything.**" : "");
    fputs("| work | | runs | ms | least to most | GFLOP/s | share of peak | MB | times the data | ratio |\n"
          "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
          file.stream);
    cli_bench_each_row(table, write_cells, file.stream);
    return ts_output_commit(&file, error);
}
