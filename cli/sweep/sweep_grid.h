/* sweep_grid.h: the cells of a sweep and their results. A cell's number is its place in the CSV. */
#ifndef CLI_SWEEP_GRID_H
#define CLI_SWEEP_GRID_H

#include <stdint.h>

#include "sweep_options.h"

typedef struct cli_sweep_grid {
    const cli_sweep_options *options;
    const cli_number_list *axis; /* [CLI_SWEEP_AXES] */
    int64_t cells;               /* all combinations */
    int64_t valid;               /* those with as many points as clusters */
    double *difference;          /* [cells] NAN: not there (yet) */
    double seconds;              /* that the sweep took */
} cli_sweep_grid;

/* false when out of memory. Free it in either case. */
bool cli_sweep_grid_create(const cli_sweep_options *options, cli_sweep_grid *grid);
void cli_sweep_grid_free(cli_sweep_grid *grid);

/* The place of a cell along an axis, and the value there. */
size_t cli_sweep_place(const cli_sweep_grid *grid, int64_t cell, cli_sweep_axis axis);
double cli_sweep_value(const cli_sweep_grid *grid, int64_t cell, cli_sweep_axis axis);
/* The cell with these values, -1 when the grid has none. */
int64_t cli_sweep_cell(const cli_sweep_grid *grid, const double value[CLI_SWEEP_AXES]);

/* Has it as many points as clusters? */
bool cli_sweep_valid(const cli_sweep_grid *grid, int64_t cell);
bool cli_sweep_done(const cli_sweep_grid *grid, int64_t cell);

/* The row of a finished cell, with its newline; returns text. */
enum { CLI_SWEEP_ROW = 256 };
const char *cli_sweep_row(const cli_sweep_grid *grid, int64_t cell, char text[CLI_SWEEP_ROW]);

/* The mean of |difference|, or of the difference, over the cells whose place on axis a is `at`; at < 0: all. NAN when
 * there are none. Up to two conditions. */
typedef struct cli_sweep_where {
    cli_sweep_axis axis;
    int at;
} cli_sweep_where;
double cli_sweep_mean(const cli_sweep_grid *grid, bool absolute, cli_sweep_where first, cli_sweep_where second);

#endif
