/* gnuplot.h: runs gnuplot, if it is there. */
#ifndef CLI_GNUPLOT_H
#define CLI_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "../../io/io_error.h"

/* Is there a gnuplot in PATH? */
bool cli_gnuplot_found(void);

/* Runs a script, read from its beginning, whose output goes to gnuplot's standard output, and writes that to path,
 * whole or not at all. Nothing of gnuplot's own is ever shown. */
bool cli_gnuplot_run(FILE *script, const char *path, ts_io_error *error);

/* Writes text as a gnuplot string, 'so'; control characters and bytes that are no UTF-8 become question marks. */
void cli_gnuplot_string(FILE *script, const char *text);

#endif
