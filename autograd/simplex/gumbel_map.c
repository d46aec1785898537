/* gumbel-softmax: p = softmax((s + G)/tau), G_i = -log(-log U_i);  ds_i = p_i (dp_i - <p,dp>) / tau
 * gumbel-hardmax: p = one-hot at argmax (s + G), a draw from softmax(s); ds as in gumbel-softmax, from the same noise
 *                 (straight-through) [Jang et al. 2017; Maddison et al. 2017]
 *
 * Among entries of +inf the noise alone decides; of equal sums the first wins. */
#include <float.h>

#include "row.h"

/* t_i = s_i - max + G_i; returns the largest, which is finite. */
static double perturb(const ts_simplex_row *row, const double *s, double max, double *t) {
    double largest = -INFINITY;
    for (int64_t i = 0; i < row->n; i++) {
        t[i] = ts_row_below(s[i], max) + ts_rng_gumbel(row->rng, row->first + (uint64_t)i);
        largest = t[i] > largest ? t[i] : largest;
    }
    return largest;
}

static double soft_forward(const ts_simplex_row *row, const double *s, double *w) {
    const double max = ts_row_max(row->n, s);
    if (ts_row_is_undefined(max)) return ts_row_undefined(row->n, max, w);
    const double largest = perturb(row, s, max, w);
    double z = 0;
    for (int64_t i = 0; i < row->n; i++) {
        w[i] = exp((w[i] - largest) / row->parameter);
        z += w[i];
    }
    return z;
}

static void soft_backward(const ts_simplex_row *row, const double *s, const double *w, double z, const double *dp,
                          double *ds) {
    (void)s;
    const double mean = ts_row_inner(row->n, w, z, dp);
    for (int64_t i = 0; i < row->n; i++) ds[i] = w[i] == 0 ? 0 : w[i] / z * (dp[i] - mean) / row->parameter;
}

static double hard_forward(const ts_simplex_row *row, const double *s, double *w) {
    const double max = ts_row_max(row->n, s);
    if (ts_row_is_undefined(max)) return ts_row_undefined(row->n, max, w);
    const double largest = perturb(row, s, max, w);
    bool found = false;
    for (int64_t i = 0; i < row->n; i++) {
        const bool chosen = !found && w[i] == largest;
        found = found || chosen;
        w[i] = chosen ? 1 : 0;
    }
    return 1;
}

static void hard_backward(const ts_simplex_row *row, const double *s, const double *w, double z, const double *dp,
                          double *ds) {
    (void)w, (void)z;
    const double soft_z = soft_forward(row, s, row->work);
    soft_backward(row, s, row->work, soft_z, dp, ds);
}

static bool tau_ok(double tau) {
    return tau > 0 && tau <= DBL_MAX;
}

const ts_simplex ts_gumbel_softmax_map = {
    .name = "gumbel-softmax",
    .parameter = "tau",
    .parameter_rule = "tau must be > 0 and finite",
    .parameter_ok = tau_ok,
    .random = true,
    .forward = soft_forward,
    .backward = soft_backward,
};

const ts_simplex ts_gumbel_hardmax_map = {
    .name = "gumbel-hardmax",
    .parameter = "tau",
    .parameter_rule = "tau must be > 0 and finite",
    .parameter_ok = tau_ok,
    .random = true,
    .work_rows = 1,
    .forward = hard_forward,
    .backward = hard_backward,
};
