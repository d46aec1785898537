/* bench_scaling.h: `tessera bench --scaling`: time and memory of a step against one number at a time. */
#ifndef CLI_BENCH_SCALING_H
#define CLI_BENCH_SCALING_H

#include <stdbool.h>

#include "../io/io_error.h"
#include "bench_child.h"
#include "bench_machine.h"
#include "bench_statistics.h"
#include "bench_work.h"

enum { CLI_BENCH_AXES = 7, CLI_BENCH_POINTS = 12 };
extern const char *const cli_bench_axes[CLI_BENCH_AXES]; /* "train-n" and so on */

/* What varies, and the rest of the shape. */
typedef struct cli_bench_axis {
    const cli_bench_kind *kind;
    const char *number;   /* that varies: "n" */
    int place;            /* in the shape; CLI_BENCH_SHAPE: the threads */
    const char *fixed[2]; /* the others, in words: as they are, and when quick */
    int64_t shape[2][CLI_BENCH_SHAPE];
    int64_t values[2][CLI_BENCH_POINTS + 1]; /* rising, ending with 0; of threads none */
} cli_bench_axis;
const cli_bench_axis *cli_bench_axis_of(int axis);

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

void cli_bench_scaling_print(const cli_bench_scaling *scaling);
bool cli_bench_scaling_print_json(const cli_bench_scaling *scaling); /* false when out of memory */
bool cli_bench_scaling_write_csv(const cli_bench_scaling *scaling, ts_io_error *error);
bool cli_bench_scaling_write_markdown(const cli_bench_scaling *scaling, ts_io_error *error);
bool cli_bench_scaling_plot(const cli_bench_scaling *scaling, ts_io_error *error);

#endif
