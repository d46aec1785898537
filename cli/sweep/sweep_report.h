/* sweep_report.h: the results of a finished sweep: its CSV, and a summary on standard output. */
#ifndef CLI_SWEEP_REPORT_H
#define CLI_SWEEP_REPORT_H

#include <stdbool.h>
#include <stdio.h>

/* Of a cli_sweep_grid. The text is a table of the mean |difference| by scale and gamma. */
void cli_sweep_write_csv(const void *grid, FILE *stream);
bool cli_sweep_print_report(const void *grid);
bool cli_sweep_print_json(const void *grid); /* false when out of memory */

#endif
