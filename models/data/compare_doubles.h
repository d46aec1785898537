/* compare_doubles.h: the order of doubles, for qsort and bsearch. */
#ifndef TS_COMPARE_DOUBLES_H
#define TS_COMPARE_DOUBLES_H

#include <math.h>

/* Rising, NaN last. */
static inline int ts_compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    if (x < y) return -1;
    return x > y ? 1 : (isnan(x) != 0) - (isnan(y) != 0);
}

#endif
