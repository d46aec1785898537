/* p_i = s_i / sum_j s_j;  ds_i = (dp_i - <p,dp>) / sum_j s_j
 *
 * The scores must be >= 0. This is not checked; negative scores give weights outside the simplex. An entry of -inf is
 * excluded: it counts as 0 and has no gradient. Entries of +inf share the weight and the row has no gradient. A row
 * with sum 0 has zero weights and no gradient. */
#include <float.h>

#include "row.h"

/* A power of two that keeps the row's sum finite: 1 unless scores are within a factor n of overflow. */
static double scale_of(int64_t n, double max) {
    return max > DBL_MAX / (double)n ? 0x1p-64 : 1;
}

static double forward(const ts_simplex_row *row, const double *s, double *w) {
    const double max = ts_row_max(row->n, s), scale = scale_of(row->n, max);
    if (ts_row_is_undefined(max)) return ts_row_undefined(row->n, max, w);
    double z = 0;
    for (int64_t i = 0; i < row->n; i++) {
        if (max == INFINITY)
            w[i] = s[i] == INFINITY ? 1 : 0;
        else
            w[i] = s[i] == -INFINITY ? 0 : s[i] * scale;
        z += w[i];
    }
    return z == 0 ? ts_row_undefined(row->n, -INFINITY, w) : z;
}

static void backward(const ts_simplex_row *row, const double *s, const double *w, double z, const double *dp,
                     double *ds) {
    const double max = ts_row_max(row->n, s), scale = scale_of(row->n, max);
    bool defined = false; /* some weight is not 0 */
    for (int64_t i = 0; i < row->n; i++) defined = defined || w[i] != 0;
    const bool constant = max == INFINITY || !defined;
    const double mean = ts_row_inner(row->n, w, z, dp);
    for (int64_t i = 0; i < row->n; i++) ds[i] = constant || s[i] == -INFINITY ? 0 : (dp[i] - mean) / z * scale;
}

const ts_simplex ts_linear_map = {
    .name = "linear",
    .domain = TS_SCORES_NONNEGATIVE,
    .scale_invariant = true,
    .fast = TS_FAST_LINEAR,
    .forward = forward,
    .backward = backward,
};
