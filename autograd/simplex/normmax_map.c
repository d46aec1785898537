/* p = u / ||u||_1,  u_i = [s_i - tau]_+^r,  r = 1/(alpha - 1),  tau such that ||u||_alpha = 1, that is
 * sum [s_i - tau]_+^(r+1) = 1 [Blondel, Martins & Niculae 2020].
 *
 * Gradient. That equation gives d tau = <p,ds>. With v_i = d p_i / d s_i at fixed tau and fixed sum,
 * v_i = r (s_i - tau)^(r-1) / ||u||_1 = r u_i^(2-alpha) / ||u||_1, and h = dp - <p,dp>:
 *
 *     ds_i = v_i h_i - p_i <v,h>
 *
 * Precision. The unknown is t = 1 + tau - max in [0,1), so s_i - tau = 1 - (t + max - s_i) and its logarithm is a
 * log1p: powers stay exact to rounding for alpha down to 1. The gradient's error is alpha times the rounding of u:
 * 1e-10 at alpha = 1e6. */
#include <float.h>

#include "row.h"

enum { MAX_STEPS = 200 }; /* guards against a step that rounding repeats */

/* The t with sum (1 - t - e_i)^(r+1) = 1 over e_i = max - s_i < 1 - t.
 *
 * The sum is convex and decreasing in t and at least 1 at t = 0, so Newton's method from there only moves right and
 * never passes the solution. Each step divides (value - 1) x slope by at least 4: fewer than 50 steps for 10^6 scores.
 */
static double solve(int64_t n, const double *s, double max, double r) {
    double t = 0;
    for (int step = 0; step < MAX_STEPS; step++) {
        double value = 0, slope = 0;
        for (int64_t i = 0; i < n; i++) {
            const double gap = t - ts_row_below(s[i], max);
            if (gap >= 1) continue;
            const double u = exp(r * log1p(-gap));
            value += u * (1 - gap);
            slope += u;
        }
        const double next = t + (value - 1) / ((r + 1) * slope);
        if (!(next > t) || next >= 1) break;
        t = next;
    }
    return t;
}

static double forward(const ts_simplex_row *row, const double *s, double *w) {
    const double max = ts_row_max(row->n, s), r = 1 / (row->parameter - 1);
    if (ts_row_is_undefined(max)) return ts_row_undefined(row->n, max, w);
    const double t = solve(row->n, s, max, r);
    double z = 0;
    for (int64_t i = 0; i < row->n; i++) {
        const double gap = t - ts_row_below(s[i], max);
        w[i] = gap < 1 ? exp(r * log1p(-gap)) : 0;
        z += w[i];
    }
    return z;
}

/* v_i: 0 off the support. */
static double slope_of(double u, double alpha, double z) {
    return u == 0 ? 0 : pow(u, 2 - alpha) / ((alpha - 1) * z);
}

static void backward(const ts_simplex_row *row, const double *s, const double *w, double z, const double *dp,
                     double *ds) {
    (void)s;
    const double mean = ts_row_inner(row->n, w, z, dp);
    double sum = 0;
    for (int64_t i = 0; i < row->n; i++) {
        ds[i] = w[i] == 0 ? 0 : slope_of(w[i], row->parameter, z) * (dp[i] - mean);
        sum += ds[i];
    }
    for (int64_t i = 0; i < row->n; i++) ds[i] -= w[i] / z * sum;
}

static bool alpha_ok(double alpha) {
    return alpha > 1 && alpha <= DBL_MAX;
}

const ts_simplex ts_normmax_map = {
    .name = "normmax",
    .parameter = "alpha",
    .parameter_rule = "alpha must be > 1 and finite",
    .parameter_ok = alpha_ok,
    .forward = forward,
    .backward = backward,
};
