/* optimiser.c: optimisers by name, their memory, and clipping of gradients. */
#include "optimiser.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../autograd/parallel.h"
#include "train/optimisers_list.h" /* written by meson from its list */

#define DECLARE(name) extern const ts_optimiser_type ts_##name##_optimiser;
#define ENTRY(name) &ts_##name##_optimiser,
TS_OPTIMISERS_LIST(DECLARE)
static const ts_optimiser_type *const TYPES[] = {TS_OPTIMISERS_LIST(ENTRY)};
const int ts_optimisers = sizeof TYPES / sizeof *TYPES;

const ts_optimiser_type *ts_optimiser_type_of(ts_optimiser_kind kind) {
    return kind >= 0 && kind < ts_optimisers ? TYPES[kind] : NULL;
}

bool ts_optimiser_by_name(const char *name, ts_optimiser_kind *kind) {
    for (int i = 0; i < ts_optimisers; i++)
        if (strcmp(name, TYPES[i]->name) == 0) {
            *kind = i;
            return true;
        }
    return false;
}

const char *ts_optimiser_name(ts_optimiser_kind kind) {
    const ts_optimiser_type *type = ts_optimiser_type_of(kind);
    return type == NULL ? NULL : type->name;
}

ts_optimiser_spec ts_optimiser_defaults(ts_optimiser_kind kind) {
    const ts_optimiser_type *type = ts_optimiser_type_of(kind);
    ts_optimiser_spec spec = {.kind = kind};
    if (type != NULL) ts_fields_set_defaults(type->fields, spec.number);
    return spec;
}

/* ---- creating ------------------------------------------------------------------------------------------------ */

static ts_status check(const ts_optimiser_spec *spec, ts_error *error) {
    const ts_optimiser_type *type = ts_optimiser_type_of(spec->kind);
    ts_error reason = {.status = TS_OK};
    if (type == NULL) return ts_error_set(error, TS_ERROR_VALUE, "there is no optimiser %d", spec->kind);
    for (int i = ts_fields_places(type->fields); i < TS_OPTIMISER_NUMBERS; i++)
        if (spec->number[i] != 0)
            return ts_error_set(error, TS_ERROR_VALUE, "%s: number %d is %g, but it has %d", type->name, i + 1,
                                spec->number[i], ts_fields_places(type->fields));
    if (ts_fields_check(type->fields, spec->number, &reason) == TS_OK) return TS_OK;
    return ts_error_set(error, TS_ERROR_VALUE, "%s: %s", type->name, reason.text);
}

ts_optimiser *ts_optimiser_create(const ts_optimiser_spec *spec, int64_t size, const bool *frozen, ts_error *error) {
    if (check(spec, error) != TS_OK) return NULL;
    if (size < 0) {
        ts_error_set(error, TS_ERROR_VALUE, "%s: %lld parameters", TYPES[spec->kind]->name, (long long)size);
        return NULL;
    }
    ts_optimiser *o = calloc(1, sizeof *o);
    const size_t count = size > 0 ? (size_t)size : 1;
    bool complete = o != NULL;
    if (complete) *o = (ts_optimiser){.spec = *spec, .size = size, .moments = TYPES[spec->kind]->moments};
    for (int i = 0; complete && i < o->moments; i++) {
        o->moment[i] = calloc(count, sizeof(ts_real));
        complete = o->moment[i] != NULL;
    }
    if (complete && frozen != NULL) {
        o->frozen = calloc(count, sizeof *frozen);
        complete = o->frozen != NULL;
        if (complete) memcpy(o->frozen, frozen, (size_t)size * sizeof *frozen);
    }
    if (complete) return o;
    ts_error_set(error, TS_ERROR_MEMORY, "%s: out of memory for %lld parameters", TYPES[spec->kind]->name,
                 (long long)size);
    ts_optimiser_free(o);
    return NULL;
}

ts_optimiser *ts_optimiser_create_for(const ts_optimiser_spec *spec, ts_params *params, ts_error *error) {
    if (ts_params_values(params) == NULL) {
        ts_error_set(error, TS_ERROR_USAGE, "optimiser: the parameters are not allocated yet (ts_params_allocate)");
        return NULL;
    }
    bool *frozen = calloc((size_t)ts_params_size(params) + 1, sizeof *frozen), *at = frozen;
    if (frozen == NULL) {
        ts_error_set(error, TS_ERROR_MEMORY, "optimiser: out of memory");
        return NULL;
    }
    for (int i = 0; i < ts_params_count(params); i++)
        for (int64_t j = ts_shape_size(ts_params_shape(params, i)); j > 0; j--)
            *at++ = ts_params_grad(params, i) == NULL;
    ts_optimiser *o = ts_optimiser_create(spec, ts_params_size(params), frozen, error);
    free(frozen);
    return o;
}

void ts_optimiser_free(ts_optimiser *o) {
    if (o == NULL) return;
    for (int i = 0; i < o->moments; i++) free(o->moment[i]);
    free(o->frozen);
    free(o);
}

/* ---- stepping ------------------------------------------------------------------------------------------------ */

ts_status ts_optimiser_step(ts_optimiser *o, double rate, int64_t size, ts_real *values, const ts_real *grads) {
    const ts_optimiser_type *type = TYPES[o->spec.kind];
    if (size != o->size || values == NULL || grads == NULL) return TS_ERROR_USAGE;
    if (!(rate >= 0 && isfinite(rate)) || !type->fits(o, grads)) return TS_ERROR_VALUE;
    type->step(o, rate, values, grads);
    o->steps++;
    return TS_OK;
}

/* ---- clipping ------------------------------------------------------------------------------------------------ */

/* The norm, from eight interleaved partial sums that do not depend on each other. */
static double length(int64_t size, const ts_real *x) {
    enum { PARTS = 8 };
    double part[PARTS] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + PARTS <= size; i += PARTS)
        for (int p = 0; p < PARTS; p++) part[p] += (double)x[i + p] * (double)x[i + p];
    for (; i < size; i++) part[i % PARTS] += (double)x[i] * (double)x[i];
    for (int p = 0; p < PARTS; p++) sum += part[p];
    return sqrt(sum);
}

/* The norm if a square overflows double: elements are divided by the largest first. */
static double length_scaled(int64_t size, const ts_real *x) {
    double largest = 0, sum = 0;
    for (int64_t i = 0; i < size; i++) {
        if (!isfinite(x[i])) return INFINITY;
        largest = fmax(largest, fabs((double)x[i]));
    }
    for (int64_t i = 0; i < size; i++) sum += (double)x[i] / largest * ((double)x[i] / largest);
    return largest * sqrt(sum);
}

double ts_clip_gradients(double limit, int64_t size, ts_real *grads) {
    double norm = length(size, grads);
    if (isinf(norm)) norm = length_scaled(size, grads);
    if (!isfinite(norm) || !(norm > limit)) return norm;
#pragma omp parallel for if (ts_worth_parallel(size))
    for (int64_t i = 0; i < size; i++) grads[i] = (ts_real)((double)grads[i] / norm * limit);
    return norm;
}
