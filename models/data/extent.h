/* extent.h: how far data reach. */
#ifndef TS_EXTENT_H
#define TS_EXTENT_H

#include "clustering.h"

typedef struct ts_extent {
    double widest; /* the range of the widest column; NaN are left out */
    double reach;  /* the largest magnitude; NaN where a number is not finite */
} ts_extent;

/* Of n >= 1 rows of d coordinates, row i from x[i * step] on. O(nd). */
ts_extent ts_extent_of(int64_t n, int64_t d, int64_t step, const ts_real *x);

/* Of points, each multiplied with its factor (NULL: 1). O(nd). */
ts_extent ts_extent_of_points(const ts_points *points, const double *factors);

#endif
