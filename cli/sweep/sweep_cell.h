/* sweep_cell.h: what is computed in a cell of a sweep. */
#ifndef CLI_SWEEP_CELL_H
#define CLI_SWEEP_CELL_H

#include "../../autograd/status.h"
#include "sweep_grid.h"

/* The cells of a grid that differ in gamma only are a group: they share their tasks and Lloyd's runs, which do not
 * depend on gamma. Groups are numbered as cells are. */
int64_t cli_sweep_groups(const cli_sweep_grid *grid);
int64_t cli_sweep_first_cell(const cli_sweep_grid *grid, int64_t group);

/* About how long a cell takes, in no unit. */
double cli_sweep_cost(const cli_sweep_grid *grid, int64_t cell);

/* Computes the cells of a group that are not done and passes each result to `tell`, whose false ends the group. The
 * caller writes the results to the grid and decides what stops the sweep. */
typedef bool (*cli_sweep_tell)(void *caller, int64_t cell, double difference);
ts_status cli_sweep_compute(const cli_sweep_grid *grid, int64_t group, cli_sweep_tell tell, void *caller,
                            ts_error *error);

#endif
