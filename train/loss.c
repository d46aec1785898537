/* loss.c: losses by name, and what they are composed of. */
#include "loss.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "../autograd/ops.h"
#include "train/losses_list.h" /* written by meson from its list */

#define DECLARE(name) extern const ts_loss ts_##name##_loss;
#define ENTRY(name) &ts_##name##_loss,
TS_LOSSES_LIST(DECLARE)
static const ts_loss *const LOSSES[] = {TS_LOSSES_LIST(ENTRY)};
const int ts_loss_kinds = sizeof LOSSES / sizeof *LOSSES;

bool ts_loss_by_name(const char *name, ts_loss_kind *kind) {
    for (int i = 0; i < ts_loss_kinds; i++)
        if (strcmp(name, LOSSES[i]->name) == 0) {
            *kind = i;
            return true;
        }
    return false;
}

const char *ts_loss_name(ts_loss_kind kind) {
    return kind >= 0 && kind < ts_loss_kinds ? LOSSES[kind]->name : NULL;
}

const ts_loss *ts_loss_of(const ts_loss_spec *spec) {
    if (spec->own != NULL) return spec->own;
    return spec->kind >= 0 && spec->kind < ts_loss_kinds ? LOSSES[spec->kind] : NULL;
}

void ts_loss_set_defaults(ts_loss_spec *spec) {
    const ts_loss *loss = ts_loss_of(spec);
    if (loss != NULL) ts_fields_set_defaults(loss->fields, spec->field);
}

ts_status ts_loss_check(const ts_loss_spec *spec, ts_error *error) {
    const ts_loss *loss = ts_loss_of(spec);
    if (loss == NULL) return ts_error_set(error, TS_ERROR_VALUE, "clustering loss: there is no kind %d", spec->kind);
    if (loss->has_tau && !(spec->tau > 0 && isfinite(spec->tau)))
        return ts_error_set(error, TS_ERROR_VALUE, "clustering loss %s: tau is %g; it must be above 0 and finite",
                            loss->name, spec->tau);
    if (!(spec->last_weight >= 0 && isfinite(spec->last_weight)))
        return ts_error_set(error, TS_ERROR_VALUE, "last_weight must be at least 0 and finite, not %g",
                            spec->last_weight);
    ts_error reason = {.status = TS_OK};
    if (ts_fields_check(loss->fields, spec->field, &reason) == TS_OK) return TS_OK;
    return ts_error_set(error, TS_ERROR_VALUE, "clustering loss %s: %s", loss->name, reason.text);
}

ts_tensor *ts_sum_of_tasks(ts_tape *tape, ts_tensor *x) {
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
ts_tensor *ts_soft_minimum(ts_tape *tape, ts_tensor *distances, double tau, const ts_simplex_spec *map) {
    ts_tensor *nearest = ts_min(tape, distances, -1, true);
    nearest = ts_borrow(tape, nearest->shape, nearest->data); /* the same numbers, without a gradient */
    ts_tensor *excess = ts_sub(tape, distances, nearest);
    ts_tensor *scores = ts_scale(tape, excess, -fmin(1 / tau, DBL_MAX));
    ts_tensor *weights = ts_simplex_apply(tape, scores, -1, map);
    return ts_add(tape, ts_sum_of_tasks(tape, ts_mul(tape, weights, excess)), ts_sum_of_tasks(tape, nearest));
}

ts_tensor *ts_clustering_loss(ts_tape *tape, ts_tensor *points, ts_tensor *centers, const ts_loss_spec *spec) {
    ts_error error = {.status = TS_OK};
    if (spec == NULL) return ts_fail(tape, TS_ERROR_USAGE, "clustering loss: the spec is NULL");
    if (ts_loss_check(spec, &error) != TS_OK) return ts_fail(tape, error.status, "%s", error.text);
    const ts_scope scope = ts_scope_begin(tape);
    ts_tensor *distances = ts_squared_distances(tape, points, centers);
    ts_tensor *total = ts_loss_of(spec)->of_distances(tape, distances, spec);
    if (spec->log) total = ts_log(tape, total);
    return ts_scope_end(tape, scope, ts_mean(tape, total, TS_ALL_AXES, false));
}

ts_tensor *ts_loss_over_steps(ts_tape *tape, int64_t steps, ts_tensor *const losses[], const ts_loss_spec *spec) {
    const double last = 1 + spec->last_weight * (double)steps;
    ts_tensor *sum = NULL;
    for (int64_t s = 0; s < steps; s++) {
        ts_tensor *one = s + 1 == steps && last != 1 ? ts_scale(tape, losses[s], last) : losses[s];
        sum = sum == NULL ? one : ts_add(tape, sum, one);
    }
    return ts_scale(tape, sum, 1 / ((double)(steps - 1) + last));
}
