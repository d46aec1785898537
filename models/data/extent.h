/* extent.h: the range and the largest magnitude of data. */
#ifndef TS_EXTENT_H
#define TS_EXTENT_H

#include "clustering.h"

typedef struct ts_extent {
    double widest; /* the range of the widest column; NaN are ignored */
    double reach;  /* the largest magnitude; NaN if a number is not finite */
} ts_extent;

/* The extent of n >= 1 rows of d coordinates; row i begins at x[i * step]. O(nd). */
ts_extent ts_extent_of(int64_t n, int64_t d, int64_t step, const ts_real *x);

/* The extent of points, each multiplied by its factor (NULL: 1). O(nd). */
ts_extent ts_extent_of_points(const ts_points *points, const double *factors);

#endif
