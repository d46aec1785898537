/* row.h: what the maps of this folder share.
 *
 * All maps except linear, power and fuzzy, which are scale-invariant, are shift-invariant and work on s - max, which
 * lies in [-inf, 0]. So an entry of -inf is excluded, entries of +inf tie with each other and exclude all others, and
 * no difference is NaN. The three exceptions keep these rules. A NaN score makes every weight of its row NaN. */
#ifndef TS_SIMPLEX_ROW_H
#define TS_SIMPLEX_ROW_H

#include <float.h>
#include <math.h>

#include "../simplex.h"

/* The largest score; NaN if any score is NaN. */
static inline double ts_row_max(int64_t n, const double *s) {
    double max = -INFINITY;
    bool nan = false;
    for (int64_t i = 0; i < n; i++) {
        nan = nan || isnan(s[i]);
        max = s[i] > max ? s[i] : max;
    }
    return nan ? NAN : max;
}

/* Whether a row with this maximum has no weights: it holds a NaN, or nothing but -inf. */
static inline bool ts_row_is_undefined(double max) {
    return isnan(max) || max == -INFINITY;
}

/* The result for an undefined row: all NaN with z = NaN if max is NaN, else all 0 with z = 1. */
static inline double ts_row_undefined(int64_t n, double max, double *w) {
    const double value = isnan(max) ? NAN : 0;
    for (int64_t i = 0; i < n; i++) w[i] = value;
    return isnan(max) ? NAN : 1;
}

/* s - max, or 0 when both are +inf. */
static inline double ts_row_below(double s, double max) {
    return s == max ? 0 : s - max;
}

/* (part / whole)^power for 0 <= part/whole <= 1, both of the same sign, and power >= 0, with 0^0 = 1; exact to rounding
 * for any power. Near 1 the ratio's logarithm is taken from the difference, which is exact, as the power would amplify
 * the ratio's rounding; where the ratio would underflow, it is taken as a difference of logarithms. */
static inline double ts_row_ratio_power(double part, double whole, double power) {
    const double ratio = part / whole;
    if (power == 0) return isnan(ratio) ? ratio : 1;
    if (ratio > 0.5) return exp(power * log1p((part - whole) / whole));
    return exp(power * (ratio >= DBL_MIN ? log(ratio) : log(fabs(part)) - log(fabs(whole))));
}

/* sum p_i dp_i with p = w / z. An entry of weight 0 adds nothing, whatever its dp. */
static inline double ts_row_inner(int64_t n, const double *w, double z, const double *dp) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        if (w[i] != 0) sum += w[i] / z * dp[i];
    return sum;
}

/* The kappa with sum [s - max - kappa]_+ = 1, which is the maximum over m of (sum of the m largest s - max, minus 1)/m.
 *
 * Newton's method on a convex, decreasing, piecewise linear function, started where it is positive, so kappa only
 * grows. Each step divides (value x slope) by at least 4, so 10^6 scores take fewer than 50 passes, usually a few;
 * nothing is sorted. kappa stays below 0, so the maximum lies above it and count >= 1. */
static inline double ts_row_threshold(int64_t n, const double *s, double max) {
    double kappa = -1;
    for (;;) {
        double sum = 0;
        int64_t count = 0;
        for (int64_t i = 0; i < n; i++) {
            const double d = ts_row_below(s[i], max);
            if (d > kappa) sum += d, count++;
        }
        const double next = (sum - 1) / (double)count;
        if (!(next > kappa)) return kappa;
        kappa = next;
    }
}

#endif
