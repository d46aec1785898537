/* bench_scaling.h: `tessera bench --scaling`: time and memory of a step against one number at a time. */
#ifndef CLI_BENCH_SCALING_H
#define CLI_BENCH_SCALING_H

#include "../io/io_error.h"
#include "bench_axis.h"
#include "bench_child.h"
#include "bench_form.h"
#include "bench_statistics.h"

/* The measurements along an axis. It ends before a point that would need more than half of the memory that is free,
 * that does not get the memory it asks for, or that fails: `reason` says why, "" when all were measured. */
typedef struct cli_bench_curve {
    int axis, points, skipped; /* the skipped ones are the last */
    bool failed;               /* the first of them, not for lack of memory */
    char reason[CLI_BENCH_REASON];
    double x[CLI_BENCH_POINTS];
    cli_bench_summary time[CLI_BENCH_POINTS];
    double ms[CLI_BENCH_POINTS];    /* medians */
    double peak[CLI_BENCH_POINTS];  /* megabytes of the process */
    double added[CLI_BENCH_POINTS]; /* less what it held before */
    double time_exponent, memory_exponent;
} cli_bench_curve;

typedef struct cli_bench_scaling {
    const cli_bench_options *options;
    cli_bench_machine machine;
    int curves;
    cli_bench_curve curve[CLI_BENCH_AXES];
} cli_bench_scaling;

void cli_bench_scale(const cli_bench_options *options, cli_bench_scaling *scaling);

/* CLI_DONE, or CLI_FAILED after saying what failed. */
int cli_bench_scaling_judge(const cli_bench_scaling *scaling);

/* Of a cli_bench_scaling. */
extern const cli_bench_report cli_bench_scaling_report;
bool cli_bench_scaling_plot(const void *scaling, const char *path, ts_io_error *error);

#endif
