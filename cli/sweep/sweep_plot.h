/* sweep_plot.h: the heat maps of a sweep, drawn by gnuplot. */
#ifndef CLI_SWEEP_PLOT_H
#define CLI_SWEEP_PLOT_H

#include <stdbool.h>

#include "../../io/io_error.h"

/* Means of |difference| over the other axes: dimensions, clusters and points against the scale, clusters against
 * dimensions, a row of the four for each gamma (one for all when there are many). The same bytes for the same grid
 * (.pdf: but for its date). */
bool cli_sweep_plot(const void *grid, const char *path, ts_io_error *error); /* of a cli_sweep_grid */

#endif
