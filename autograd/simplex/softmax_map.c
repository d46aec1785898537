/* p_i = exp(s_i - max) / sum_j exp(s_j - max);  ds_i = p_i (dp_i - <p,dp>)
 *
 * Entries of +inf share the weight equally. */
#include "../parallel.h"
#include "../series.h"
#include "row.h"

enum { BLOCK = 8 };

/* w = e^(s - max), but at least e^-700; returns whether some s - max is below -700. */
static inline bool block_of(const double *s, double max, double *w) {
    int far = 0;
#pragma omp simd reduction(+ : far)
    for (int l = 0; l < BLOCK; l++) {
        const double below = ts_row_below(s[l], max);
        far += below < -700;
        w[l] = series_exp(below < -700 ? -700 : below);
    }
    return far > 0;
}

/* Works in whole blocks, as rows are short. Below e^-700, the end of the series' range, exp is the C library's: a tiny
 * weight may be the only one that a centre has. */
TS_CLONES static void exponentials(int64_t n, const double *s, double max, double *w) {
    bool far = false;
    int64_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) far = block_of(s + i, max, w + i) || far;
    if (i < n) {
        double rest[BLOCK], weights[BLOCK];
        for (int l = 0; l < BLOCK; l++) rest[l] = i + l < n ? s[i + l] : max;
        far = block_of(rest, max, weights) || far;
        for (int l = 0; i + l < n; l++) w[i + l] = weights[l];
    }
    for (i = 0; i < n && far; i++)
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
    .name = "softmax",
    .fast = TS_FAST_SOFTMAX,
    .forward = forward,
    .backward = backward,
    .backward_of_weights = true,
};
