/* p_i = [s_i - kappa]_+ with sum p = 1: the Euclidean projection of s onto the simplex;
 * ds_i = dp_i - mean of dp over the support, for i in the support, else 0 [Martins & Astudillo 2016]
 *
 * A score exactly at the threshold is outside the support. */
#include "row.h"

static double forward(const ts_simplex_row *row, const double *s, double *w) {
    const double max = ts_row_max(row->n, s);
    if (ts_row_is_undefined(max)) return ts_row_undefined(row->n, max, w);
    const double kappa = ts_row_threshold(row->n, s, max);
    double z = 0; /* 1 up to rounding */
    for (int64_t i = 0; i < row->n; i++) {
        const double above = ts_row_below(s[i], max) - kappa;
        w[i] = above > 0 ? above : 0;
        z += w[i];
    }
    return z;
}

static void backward(const ts_simplex_row *row, const double *s, const double *w, double z, const double *dp,
                     double *ds) {
    (void)s;
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < row->n; i++)
        if (w[i] != 0) sum += dp[i], count++;
    const double mean = isnan(z) ? NAN : sum / (double)count; /* not used when the support is empty */
    for (int64_t i = 0; i < row->n; i++) ds[i] = w[i] == 0 ? 0 : dp[i] - mean;
}

const ts_simplex ts_sparsemax_map = {
    .name = "sparsemax",
    .fast = TS_FAST_SPARSEMAX,
    .forward = forward,
    .backward = backward,
    .backward_of_weights = true,
};
