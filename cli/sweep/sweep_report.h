/* sweep_report.h: the results of a finished sweep: its CSV, and a summary on standard output. */
#ifndef CLI_SWEEP_REPORT_H
#define CLI_SWEEP_REPORT_H

#include "../../io/io_error.h"
#include "sweep_grid.h"

bool cli_sweep_write_csv(const cli_sweep_options *options, const cli_sweep_grid *grid, ts_io_error *error);

/* A table of the mean |difference| by scale and gamma. */
void cli_sweep_print_report(const cli_sweep_options *options, const cli_sweep_grid *grid);

void cli_sweep_print_json(const cli_sweep_options *options, const cli_sweep_grid *grid, double seconds);

#endif
