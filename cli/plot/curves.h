/* curves.h: from files of curves to lines: one a file, or medians with quartiles of files that differ in their seed. */
#ifndef CLI_CURVES_H
#define CLI_CURVES_H

#include "../draw/lines_plot.h"
#include "curve_file.h"

/* Adds one line for each file, or, if `group`, for each name without "seed-NUMBER". `column` is one of metrics.csv, and
 * ignored for eval. CLI_DONE, or CLI_FAILED after saying why. */
int cli_curves_add(const cli_curve_file *files, int count, const char *column, bool group, cli_lines_picture *picture);

#endif
