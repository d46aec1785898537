/* loss.c: the clustering losses, composed of ops. */
#include "loss.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "../autograd/ops.h"

static const struct {
    const char *name;
    const ts_simplex *map;
} KINDS[TS_LOSS_KINDS] = {
    [TS_LOSS_SOFTMIN] = {"softmin", &ts_softmax_map},
    [TS_LOSS_SPARSEMIN] = {"sparsemin", &ts_sparsemax_map},
};

bool ts_loss_by_name(const char *name, ts_loss_kind *kind) {
    for (int i = 0; i < TS_LOSS_KINDS; i++)
        if (strcmp(name, KINDS[i].name) == 0) {
            *kind = (ts_loss_kind)i;
            return true;
        }
    return false;
}

const char *ts_loss_name(ts_loss_kind kind) {
    return (unsigned)kind < TS_LOSS_KINDS ? KINDS[kind].name : NULL;
}

/* Sums over the last two axes, [..,n,k] -> [..], rounded once. */
static ts_tensor *sum_of_tasks(ts_tape *tape, ts_tensor *x) {
    if (ts_tape_status(tape) != TS_OK) return x;
    ts_shape flat = x->shape;
    flat.dim[flat.rank - 2] *= flat.dim[flat.rank - 1];
    flat.rank--;
    return ts_sum(tape, ts_reshape(tape, x, flat), -1, false);
}

/* P and its derivative do not change when a row is shifted, so with m_i = min_j r_ij held constant
 *
 *     L = sum_i m_i + sum_ij p_ij (r_ij - m_i),  p_i = P(-(r_i - m_i) / tau)
 *
 * has the same value and gradient as the formula in loss.h. Its terms are not negative, so L stays at least the sum of
 * the m_i after rounding; and the nearest centre has score 0 whatever tau is, so no row consists of -inf only. */
ts_tensor *ts_clustering_loss(ts_tape *tape, ts_tensor *points, ts_tensor *centers, const ts_loss_spec *spec) {
    if (spec == NULL) return ts_fail(tape, TS_ERROR_USAGE, "clustering loss: the spec is NULL");
    const char *name = ts_loss_name(spec->kind);
    if (name == NULL) return ts_fail(tape, TS_ERROR_VALUE, "clustering loss: there is no kind %d", (int)spec->kind);
    if (!(spec->tau > 0 && isfinite(spec->tau)))
        return ts_fail(tape, TS_ERROR_VALUE, "clustering loss %s: tau is %g; it must be above 0 and finite", name,
                       spec->tau);
    const ts_scope scope = ts_scope_begin(tape);
    const ts_simplex_spec map = {.map = KINDS[spec->kind].map};
    ts_tensor *distances = ts_squared_distances(tape, points, centers);
    ts_tensor *nearest = ts_min(tape, distances, -1, true);
    nearest = ts_borrow(tape, nearest->shape, nearest->data); /* the same numbers, without a gradient */
    ts_tensor *excess = ts_sub(tape, distances, nearest);
    ts_tensor *scores = ts_scale(tape, excess, -fmin(1 / spec->tau, DBL_MAX));
    ts_tensor *weights = ts_simplex_apply(tape, scores, -1, &map);
    ts_tensor *total = ts_add(tape, sum_of_tasks(tape, ts_mul(tape, weights, excess)), sum_of_tasks(tape, nearest));
    if (spec->log) total = ts_log(tape, total);
    return ts_scope_end(tape, scope, ts_mean(tape, total, TS_ALL_AXES, false));
}
