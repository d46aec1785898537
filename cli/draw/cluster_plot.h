/* cluster_plot.h: pictures of clusterings. */
#ifndef CLI_CLUSTER_PLOT_H
#define CLI_CLUSTER_PLOT_H

#include <stdbool.h>

#include "../../io/io_error.h"

struct cli_cluster_job;

/* Draws the points of a finished job in the colours of their clusters, with the centres and the paths they took: in the
 * plane of two features, along the line of one, or in that of the first two principal axes of more. Of many points that
 * lie on one another one is drawn. The same bytes for the same job (.pdf: but for its date). */
bool cli_plot_clusters(const struct cli_cluster_job *job, const char *path, ts_io_error *error);

#endif
