/* cluster_plot.h: pictures of clusterings. */
#ifndef CLI_CLUSTER_PLOT_H
#define CLI_CLUSTER_PLOT_H

#include "../../io/io_error.h"
#include "../../models/data/clustering.h"

typedef struct cli_cluster_picture {
    ts_points points;
    const double *shift, *scale; /* [d] x is shift + scale x in the units of the file */
    char *const *names;          /* [d] of the coordinates; NULL: none */
    bool directions;             /* points, on the unit sphere, are what is clustered */
    int64_t k;
    const double *centers;         /* [k,d] */
    const double *path;            /* [path_steps + 1,k,d] the centres before and after every step */
    int64_t path_steps;            /* 0: it is not drawn */
    const int64_t *labels, *sizes; /* [n] -1: trimmed; [k] */
    int64_t trimmed, steps;
    const char *file, *algorithm, *scaling; /* for the titles; scaling NULL: none */
    double objective;
} cli_cluster_picture;

/* Draws the points in the colours of their clusters, with the centres and the paths they took: in the plane of two
 * features, along the line of one, or in that of the first two principal axes of more. Of many points that lie on one
 * another one is drawn. The same bytes for the same picture (.pdf: but for its date). */
bool cli_plot_clusters(const cli_cluster_picture *picture, const char *path, ts_io_error *error);

#endif
