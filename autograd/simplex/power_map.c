/* p_i = s_i^a / sum_j s_j^a, a >= 1;  ds_i = a s_i^(a-1) / sum_j s_j^a (dp_i - <p,dp>)
 *
 * a = 1 is the linear map. The centres of fuzzy c-means are averages whose weights are this map of the memberships
 * [Bezdek 1981].
 *
 * The scores must be >= 0. This is not checked; negative scores, -inf too, are excluded: no weight, no gradient.
 * Entries of +inf share the weight and the row has no gradient. A row with sum 0 has zero weights and no gradient.
 * Powers are taken of s_i/max, so none overflows. */
#include "row.h"

static double forward(const ts_simplex_row *row, const double *s, double *w) {
    const double max = ts_row_max(row->n, s);
    if (isnan(max) || max <= 0) return ts_row_undefined(row->n, isnan(max) ? max : -INFINITY, w);
    double z = 0;
    for (int64_t i = 0; i < row->n; i++) {
        if (max == INFINITY)
            w[i] = s[i] == INFINITY ? 1 : 0;
        else
            w[i] = s[i] < 0 ? 0 : ts_row_ratio_power(s[i], max, row->parameter);
        z += w[i];
    }
    return z;
}

static void backward(const ts_simplex_row *row, const double *s, const double *w, double z, const double *dp,
                     double *ds) {
    const double max = ts_row_max(row->n, s), a = row->parameter;
    const bool constant = max == INFINITY || max <= 0;
    const double mean = ts_row_inner(row->n, w, z, dp);
    for (int64_t i = 0; i < row->n; i++) {
        const double slope = constant || s[i] < 0 ? 0 : ts_row_ratio_power(s[i], max, a - 1);
        /* Divided by max after all else: max may be so small that 1/max overflows where the gradient is 0. */
        ds[i] = slope == 0 ? 0 : slope * (dp[i] - mean) / z / max * a;
    }
}

static bool power_ok(double a) {
    return a >= 1 && a <= DBL_MAX;
}

const ts_simplex ts_power_map = {
    .name = "power",
    .parameter = "a",
    .parameter_rule = "the power a must be >= 1 and finite",
    .parameter_ok = power_ok,
    .domain = TS_SCORES_NONNEGATIVE,
    .scale_invariant = true,
    .forward = forward,
    .backward = backward,
};
