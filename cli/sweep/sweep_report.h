/* sweep_report.h: the results of a finished sweep: its CSV, and a summary on standard output. */
#ifndef CLI_SWEEP_REPORT_H
#define CLI_SWEEP_REPORT_H

#include <stdio.h>

#include "sweep_grid.h"

void cli_sweep_write_csv(const cli_sweep_grid *grid, FILE *stream);

/* A table of the mean |difference| by scale and gamma. */
void cli_sweep_print_report(const cli_sweep_options *options, const cli_sweep_grid *grid);

void cli_sweep_print_json(const cli_sweep_options *options, const cli_sweep_grid *grid, double seconds);

#endif
