/* sweep_options.h: the command line of `tessera sweep`. */
#ifndef CLI_SWEEP_OPTIONS_H
#define CLI_SWEEP_OPTIONS_H

#include <stdint.h>

#include "../common/number_list.h"
#include "../common/options.h"

/* The axes of the grid, in the order of the CSV: the last one runs fastest. */
typedef enum cli_sweep_axis {
    CLI_SWEEP_CLUSTERS,
    CLI_SWEEP_DIMENSIONS,
    CLI_SWEEP_POINTS,
    CLI_SWEEP_SCALE,
    CLI_SWEEP_GAMMA,
    CLI_SWEEP_AXES
} cli_sweep_axis;

#define CLI_SWEEP_HEADER "clusters,dimensions,points,scale,gamma,difference"

typedef struct cli_sweep_options {
    const char *clusters, *dimensions, *points, *scales, *gammas; /* as given */
    cli_number_list axis[CLI_SWEEP_AXES];
    cli_shared shared;
    int64_t steps, tasks;
    const char *out, *plot; /* plot NULL: not asked for */
} cli_sweep_options;

/* Reads and checks the words after "sweep", but for the outputs. Returns CLI_GO_ON or an exit code (options.h). */
int cli_sweep_read_options(int n_words, char *const *words, cli_sweep_options *options);

#endif
