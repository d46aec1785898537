/* bench_report.h: the table of `tessera bench`, as text, JSON, CSV and Markdown. */
#ifndef CLI_BENCH_REPORT_H
#define CLI_BENCH_REPORT_H

#include "../io/io_error.h"
#include "bench_form.h"
#include "bench_run.h"

/* A line of the table. NAN: that column does not apply. */
typedef struct cli_bench_row {
    const char *work, *what, *who; /* who: "tessera", or the peer */
    const char *title[2];          /* of the line: work and what, or of a peer "" and who */
    bool ours, measured;
    const char *state;   /* "not installed", "failed", "measured" */
    const char *version; /* of a peer */
    const char *reason;  /* why it failed; else "" */
    int64_t runs;
    cli_bench_summary time;
    double gflops, share, megabytes, multiple;
    double ratio;       /* of the time of a peer to ours above it */
    const char *median; /* as Markdown has it: ours in bold */
    char text_of_what[CLI_BENCH_TEXT], text_of_median[CLI_NUMBER_TEXT + 8];
} cli_bench_row;

/* Each of ours with its peers below it. */
typedef void (*cli_bench_visit)(void *context, const cli_bench_row *row);
void cli_bench_each_row(const cli_bench_table *table, cli_bench_visit visit, void *context);

/* Of a cli_bench_table. */
extern const cli_bench_report cli_bench_table_report;
bool cli_bench_plot(const void *table, const char *path, ts_io_error *error);

#endif
