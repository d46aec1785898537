/* p_i = 1 for the first maximiser of s, 0 elsewhere;  ds = 0 */
#include "row.h"

static double forward(const ts_simplex_row *row, const double *s, double *w) {
    const double max = ts_row_max(row->n, s);
    if (ts_row_is_undefined(max)) return ts_row_undefined(row->n, max, w);
    bool found = false;
    for (int64_t i = 0; i < row->n; i++) {
        w[i] = !found && s[i] == max ? 1 : 0;
        found = found || s[i] == max;
    }
    return 1;
}

const ts_simplex ts_argmax_map = {
    .name = "argmax",
    .scale_invariant = true,
    .argmax = TS_FIRST_ARGMAX,
    .forward = forward,
};
