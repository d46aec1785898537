#include "simplex_support.h"

#include <stdlib.h>

double ts_row_max(int64_t n, const double *s) {
    double max = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        if (isnan(s[i])) return NAN;
        if (s[i] > max) max = s[i];
    }
    return max;
}

bool ts_row_is_infinite(int64_t n, const double *s, double max, double *w, double *z) {
    if (!isinf(max)) return false;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        w[i] = max > 0 && s[i] == max;
        if (w[i] != 0) count++;
    }
    *z = count > 0 ? (double)count : 1;
    return true;
}

static int descending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

void ts_row_sort_shifted(int64_t n, const double *s, double shift, double *work) {
    for (int64_t i = 0; i < n; i++) work[i] = s[i] - shift;
    qsort(work, (size_t)n, sizeof *work, descending);
}

double ts_row_softmax(int64_t n, const double *s, double *w) {
    const double max = ts_row_max(n, s);
    double z = 0;
    if (ts_row_is_infinite(n, s, max, w, &z)) return z;
    for (int64_t i = 0; i < n; i++) {
        w[i] = exp(s[i] - max);
        z += w[i];
    }
    return z;
}

void ts_row_softmax_backward(int64_t n, const double *w, double z, const double *dp, double factor, double *ds) {
    double dot = 0;
    for (int64_t i = 0; i < n; i++) dot += w[i] / z * dp[i];
    for (int64_t i = 0; i < n; i++) ds[i] = factor * w[i] / z * (dp[i] - dot);
}
