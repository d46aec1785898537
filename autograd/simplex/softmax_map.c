/* p_i = exp(s_i - max) / sum_j exp(s_j - max);  ds_i = p_i (dp_i - <p,dp>)
 *
 * Entries of +inf share the weight equally. */
#include "../kernels/parallel.h"
#include "../kernels/series.h"
#include "row.h"

/* In whole blocks, for rows are short. Below e^-700, where the series ends, the C library's: a weight however small may
 * be all that a centre has. */
TS_CLONES static void exponentials(int64_t n, const double *s, double max, double *w) {
    enum { BLOCK = 8 };
    double lowest = 0;
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t count = n - first < BLOCK ? n - first : BLOCK;
        double x[BLOCK] = {0};
        for (int64_t l = 0; l < count; l++) {
            x[l] = ts_row_below(s[first + l], max);
            lowest = x[l] < lowest ? x[l] : lowest;
        }
#pragma omp simd
        for (int l = 0; l < BLOCK; l++) x[l] = series_exp(x[l] < -700 ? -700 : x[l]);
        for (int64_t l = 0; l < count; l++) w[first + l] = x[l];
    }
    for (int64_t i = 0; i < n && lowest < -700; i++)
        if (s[i] - max < -700) w[i] = exp(s[i] - max);
}

static double forward(const ts_simplex_row *row, const double *s, double *w) {
    const double max = ts_row_max(row->n, s);
    if (ts_row_is_undefined(max)) return ts_row_undefined(row->n, max, w);
    double z = 0;
    exponentials(row->n, s, max, w);
    for (int64_t i = 0; i < row->n; i++) z += w[i];
    return z;
}

TS_CLONES static void backward(const ts_simplex_row *row, const double *s, const double *w, double z, const double *dp,
                               double *ds) {
    (void)s;
    const double mean = ts_row_inner(row->n, w, z, dp);
    for (int64_t i = 0; i < row->n; i++) ds[i] = w[i] == 0 ? 0 : w[i] / z * (dp[i] - mean);
}

const ts_simplex ts_softmax_map = {
    .name = "softmax", .forward = forward, .backward = backward, .backward_of_weights = true};
