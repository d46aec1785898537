/* simplex_support.h: what the maps share. */
#ifndef TS_SIMPLEX_SUPPORT_H
#define TS_SIMPLEX_SUPPORT_H

#include <math.h>

#include "../simplex.h"

/* The largest score; NaN when any score is NaN. */
double ts_row_max(int64_t n, const double *s);

/* Rows whose maximum is infinite need no map: all -inf gives no weight at all, +inf takes it all in equal shares. Writes
 * w and *z and returns true for such a row. */
bool ts_row_is_infinite(int64_t n, const double *s, double max, double *w, double *z);

/* Copies s - shift to work, largest first. */
void ts_row_sort_shifted(int64_t n, const double *s, double shift, double *work);

/* w = e^(s - max), and its sum. */
double ts_row_softmax(int64_t n, const double *s, double *w);

/* ds = p (dp - <p, dp>) * factor with p = w / z */
void ts_row_softmax_backward(int64_t n, const double *w, double z, const double *dp, double factor, double *ds);

#endif
