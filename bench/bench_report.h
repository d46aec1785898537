/* bench_report.h: the table of `tessera bench`, as text, JSON, CSV, Markdown and chart. */
#ifndef CLI_BENCH_REPORT_H
#define CLI_BENCH_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "../io/io_error.h"
#include "bench_run.h"

/* A line of the table. NAN: that column does not apply. */
typedef struct cli_bench_row {
    const char *work;
    char what[CLI_BENCH_TEXT];
    bool ours;
    const char *who; /* "tessera", or the peer */
    cli_bench_state state;
    char reason[CLI_BENCH_REASON]; /* why it failed; else "" */
    cli_bench_summary time;
    double gflops, share, megabytes, multiple;
    double ratio; /* of the time of a peer to ours above it */
} cli_bench_row;

/* Each of ours with its peers below it. */
typedef void (*cli_bench_visit)(void *context, const cli_bench_row *row);
void cli_bench_each_row(const cli_bench_table *table, cli_bench_visit visit, void *context);

/* "not installed", "failed", "measured" */
const char *cli_bench_state_text(cli_bench_state state);

/* A number with three digits or more, and a share in percent; "" for NAN. */
enum { CLI_BENCH_NUMBER = 24 };
const char *cli_bench_number(double value, char text[CLI_BENCH_NUMBER]);
const char *cli_bench_percent(double share, char text[CLI_BENCH_NUMBER]);

void cli_bench_print_report(const cli_bench_table *table);
bool cli_bench_print_json(const cli_bench_table *table);     /* false when out of memory */
void cli_bench_write_quoted(FILE *stream, const char *text); /* as a cell of CSV */
bool cli_bench_write_csv(const cli_bench_table *table, ts_io_error *error);
bool cli_bench_write_markdown(const cli_bench_table *table, ts_io_error *error);
bool cli_bench_plot(const cli_bench_table *table, ts_io_error *error);

/* ---- also for the other reports ---------------------------------------------------------------------------------- */

/* What is said of the machine, in two lines or three, each beginning with `mark`. */
void cli_bench_write_machine(FILE *stream, const cli_bench_machine *machine, const char *mark);
json_t *cli_bench_machine_json(const cli_bench_machine *machine); /* NULL when out of memory */
json_t *cli_bench_real(double value);                             /* null for NAN */
/* Writes a JSON object on a line of standard output and gives it back; false when it is NULL or memory is short. */
bool cli_bench_print_object(json_t *object);

#endif
