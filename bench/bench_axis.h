/* bench_axis.h: the numbers against which `tessera bench --scaling` measures time and memory, one at a time. */
#ifndef CLI_BENCH_AXIS_H
#define CLI_BENCH_AXIS_H

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

#endif
