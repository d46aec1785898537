/* principal_axes.h: the two directions in which points spread most. */
#ifndef TS_PRINCIPAL_AXES_H
#define TS_PRINCIPAL_AXES_H

#include "clustering.h"

typedef struct ts_principal_axes {
    int64_t d;
    double *mean;    /* [d] */
    double *axis[2]; /* [d] each, of length 1; the largest component by size is positive */
    double share[2]; /* of the total variance, 0..1 */
} ts_principal_axes;

/* The axes of the points with numbers rows[m], d >= 2: eigenvectors of their covariance, by power iteration with
 * deflation, in double. False if memory is short. O(m d^2), and O(d^2) for each of at most 2000 iterations. */
bool ts_principal_axes_find(int64_t m, const int64_t *rows, const ts_points *points, ts_principal_axes *axes);
void ts_principal_axes_free(ts_principal_axes *axes);

/* The coordinate of point i along axis 0 or 1. */
double ts_principal_axes_project(const ts_principal_axes *axes, int which, const ts_points *points, int64_t i);

#endif
