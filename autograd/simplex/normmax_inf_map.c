/* p_i = 1/m for the m largest scores, 0 elsewhere, m = argmax (sum of the m largest - 1)/m;  ds = 0
 *
 * The greatest quotient is sparsemax's threshold, and the m scores are those above it. Nothing is sorted, and equal
 * scores are in or out together. Of two equally good m the smaller is taken. */
#include "row.h"

static double forward(const ts_simplex_row *row, const double *s, double *w) {
    const double max = ts_row_max(row->n, s);
    if (ts_row_is_undefined(max)) return ts_row_undefined(row->n, max, w);
    const double kappa = ts_row_threshold(row->n, s, max);
    double count = 0;
    for (int64_t i = 0; i < row->n; i++) {
        w[i] = ts_row_below(s[i], max) > kappa ? 1 : 0;
        count += w[i];
    }
    return count;
}

const ts_simplex ts_normmax_inf_map = {.name = "normmax-inf", .forward = forward};
