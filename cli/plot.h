/* plot.h: pictures of clusterings, drawn by gnuplot. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>

#include "../io/io_error.h"

struct cli_cluster_job;

/* Is it a name that ends in .svg, .png or .pdf? */
bool cli_plot_path_ok(const char *path);

/* Is gnuplot installed? */
bool cli_plot_possible(void);

/* Draws the points of a finished job in the colours of their clusters, with the centres and the paths they took: in the
 * plane of two features, along the line of one, or in that of the first two principal axes of more. The same bytes for
 * the same job (.pdf: but for its date). */
bool cli_plot_clusters(const struct cli_cluster_job *job, const char *path, ts_io_error *error);

#endif
