/* p_i = [s_i/2 - tau]_+^2 with sum p = 1: 1.5-entmax, Omega = 4/3 sum p^(3/2) but for a constant;
 * with g_i = sqrt(p_i):  ds_i = g_i (dp_i - <g,dp> / sum g) [Peters, Niculae & Martins 2019]
 *
 * The unknown is t = tau - max/2 in [-1,0), with x_i = (s_i - max)/2. */
#include "row.h"

enum { MAX_STEPS = 200 }; /* guards against a step that rounding repeats */

/* The t with sum [x_i - t]_+^2 = 1.
 *
 * The sum is convex and decreasing in t and at least 1 at t = -1, so Newton's method from there only moves right and
 * never passes the solution. Each step divides (value - 1) x slope by at least 4: fewer than 50 steps for 10^6 scores.
 */
static double solve(int64_t n, const double *s, double max) {
    double t = -1;
    for (int step = 0; step < MAX_STEPS; step++) {
        double value = 0, half_slope = 0;
        for (int64_t i = 0; i < n; i++) {
            const double above = ts_row_below(s[i], max) / 2 - t;
            if (!(above > 0)) continue;
            value += above * above;
            half_slope += above;
        }
        const double next = t + (value - 1) / (2 * half_slope);
        if (!(next > t) || next >= 0) break;
        t = next;
    }
    return t;
}

static double forward(const ts_simplex_row *row, const double *s, double *w) {
    const double max = ts_row_max(row->n, s);
    if (ts_row_is_undefined(max)) return ts_row_undefined(row->n, max, w);
    const double t = solve(row->n, s, max);
    double z = 0; /* 1 up to rounding */
    for (int64_t i = 0; i < row->n; i++) {
        const double above = ts_row_below(s[i], max) / 2 - t;
        w[i] = above > 0 ? above * above : 0;
        z += w[i];
    }
    return z;
}

static void backward(const ts_simplex_row *row, const double *s, const double *w, double z, const double *dp,
                     double *ds) {
    (void)s;
    double sum = 0, inner = 0;
    for (int64_t i = 0; i < row->n; i++) {
        if (w[i] == 0) continue;
        const double g = sqrt(w[i] / z);
        sum += g;
        inner += g * dp[i];
    }
    const double mean = inner / sum; /* not used when the support is empty */
    for (int64_t i = 0; i < row->n; i++) ds[i] = w[i] == 0 ? 0 : sqrt(w[i] / z) * (dp[i] - mean);
}

const ts_simplex ts_entmax15_map = {.name = "entmax-1.5", .forward = forward, .backward = backward};
