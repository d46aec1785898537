/* p_i = d_i^-r / sum_j d_j^-r,  d = -s >= 0 a squared distance, r = 1/(m - 1), m > 1: the memberships of fuzzy c-means;
 * ds_i = r / d_i p_i (dp_i - <p,dp>) [Bezdek 1981]
 *
 * If some distances are 0 (a score >= 0 counts as 0) those entries share the weight and the row has no gradient. A
 * score of -inf is infinitely far; entries of +inf exclude all others, even those of distance 0. Powers are taken of
 * (nearest distance)/d_i, so none overflows; m near 1 tends to hardmax and a large m to equal weights. */
#include "row.h"

/* At most 2^52, at the least double above 1. */
static double exponent_of(const ts_simplex_row *row) {
    return 1 / (row->parameter - 1);
}

static double forward(const ts_simplex_row *row, const double *s, double *w) {
    const double max = ts_row_max(row->n, s), r = exponent_of(row);
    if (ts_row_is_undefined(max)) return ts_row_undefined(row->n, max, w);
    double z = 0;
    for (int64_t i = 0; i < row->n; i++) {
        if (max == INFINITY)
            w[i] = s[i] == INFINITY ? 1 : 0;
        else if (max >= 0)
            w[i] = s[i] >= 0 ? 1 : 0;
        else
            w[i] = ts_row_ratio_power(max, s[i], r);
        z += w[i];
    }
    return z;
}

static void backward(const ts_simplex_row *row, const double *s, const double *w, double z, const double *dp,
                     double *ds) {
    const bool constant = ts_row_max(row->n, s) >= 0;
    const double mean = ts_row_inner(row->n, w, z, dp), r = exponent_of(row);
    /* r comes after the division by d: d may be so small that r/d overflows where the gradient is 0. */
    for (int64_t i = 0; i < row->n; i++) ds[i] = constant || w[i] == 0 ? 0 : w[i] / z * (dp[i] - mean) / -s[i] * r;
}

static bool fuzzifier_ok(double m) {
    return m > 1 && m <= DBL_MAX;
}

const ts_simplex ts_fuzzy_map = {
    .name = "fuzzy",
    .parameter = "m",
    .parameter_rule = "the fuzzifier m must be > 1 and finite",
    .parameter_ok = fuzzifier_ok,
    .domain = TS_SCORES_NONPOSITIVE,
    .scale_invariant = true,
    .forward = forward,
    .backward = backward,
};
