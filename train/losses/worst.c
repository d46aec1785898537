/* worst.c: n times the mean of m_i = min_j r_ij over the points where it is largest, a share F of all, at least one:
 * what few far points cost. Its gradient is that of the nearest centres of these points [the conditional value at risk
 * of Rockafellar & Uryasev 2000, of a sample]. */
#include <math.h>

#include "../../autograd/ops.h"
#include "../loss.h"

enum { SHARE };
static const ts_field fields[] = {
    [SHARE] = {"share", TS_FIELD_REAL, .initial = 0.1, .least = 0, .above = true, .most = 1, .help = "of the points"},
    {.name = NULL}};

static ts_tensor *of_distances(ts_tape *tape, ts_tensor *distances, const ts_loss_spec *spec) {
    ts_tensor *least = ts_min(tape, distances, -1, false);
    if (ts_tape_status(tape) != TS_OK) return least;
    const double n = (double)least->shape.dim[least->shape.rank - 1], count = fmax(1, floor(spec->field[SHARE] * n));
    const ts_simplex_spec top = {.map = &ts_top_m_map, .parameter = 1 - count / n};
    ts_tensor *weights = ts_simplex_apply(tape, least, -1, &top);
    weights = ts_borrow(tape, weights->shape, weights->data); /* which points they are does not change with them */
    return ts_scale(tape, ts_sum(tape, ts_mul(tape, weights, least), -1, false), n);
}

const ts_loss ts_worst_loss = {.name = "worst",
                               .summary = "the mean over the worst share of the points",
                               .has_tau = false,
                               .fields = fields,
                               .of_distances = of_distances};
