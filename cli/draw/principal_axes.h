/* principal_axes.h: the two directions in which points spread most. */
#ifndef CLI_PRINCIPAL_AXES_H
#define CLI_PRINCIPAL_AXES_H

#include "../../models/data/clustering.h"

typedef struct cli_axes {
    int64_t d;
    double *mean;    /* [d] */
    double *axis[2]; /* [d] each, of length 1; the largest component by size is positive */
    double share[2]; /* of the total variance, 0..1 */
} cli_axes;

/* Of the points whose numbers are rows[m], d >= 2. Eigenvectors of the covariance by power iteration with deflation, in
 * double. false when out of memory. O(m d^2). */
bool cli_axes_find(int64_t m, const int64_t *rows, const ts_points *points, cli_axes *axes);
void cli_axes_free(cli_axes *axes);

/* The coordinate of point i along axis 0 or 1. */
double cli_axes_project(const cli_axes *axes, int which, const ts_points *points, int64_t i);

#endif
