/* p_i = 1/m for the m maximisers of s, 0 elsewhere;  ds = 0 */
#include "row.h"

static double forward(const ts_simplex_row *row, const double *s, double *w) {
    const double max = ts_row_max(row->n, s);
    if (ts_row_is_undefined(max)) return ts_row_undefined(row->n, max, w);
    double count = 0;
    for (int64_t i = 0; i < row->n; i++) {
        w[i] = s[i] == max ? 1 : 0;
        count += w[i];
    }
    return count;
}

const ts_simplex ts_hardmax_map = {
    .name = "hardmax",
    .scale_invariant = true,
    .argmax = TS_EVERY_ARGMAX,
    .fast = TS_FAST_HARDMAX,
    .forward = forward,
};
