/* optimiser.c: SGD, Adam and AdamW, and clipping of gradients. */
#include "optimiser.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../autograd/parallel.h"

static const char *const NAMES[TS_OPTIMISERS] = {[TS_SGD] = "sgd", [TS_ADAM] = "adam", [TS_ADAMW] = "adamw"};

bool ts_optimiser_by_name(const char *name, ts_optimiser_kind *kind) {
    for (int i = 0; i < TS_OPTIMISERS; i++)
        if (strcmp(name, NAMES[i]) == 0) {
            *kind = (ts_optimiser_kind)i;
            return true;
        }
    return false;
}

const char *ts_optimiser_name(ts_optimiser_kind kind) {
    return (unsigned)kind < TS_OPTIMISERS ? NAMES[kind] : NULL;
}

ts_optimiser_spec ts_optimiser_defaults(ts_optimiser_kind kind) {
    if (kind == TS_SGD) return (ts_optimiser_spec){.kind = kind};
    return (ts_optimiser_spec){
        .kind = kind, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay = kind == TS_ADAMW ? 0.01 : 0};
}

/* ---- creating ------------------------------------------------------------------------------------------------ */

static bool is_share(double x) {
    return x >= 0 && x < 1;
}

static ts_status check(const ts_optimiser_spec *spec, ts_error *error) {
    const char *name = ts_optimiser_name(spec->kind);
    if (name == NULL) return ts_error_set(error, TS_ERROR_VALUE, "there is no optimiser %d", (int)spec->kind);
    if (spec->kind == TS_SGD && !is_share(spec->momentum))
        return ts_error_set(error, TS_ERROR_VALUE, "%s: momentum is %g; it must be in [0,1)", name, spec->momentum);
    if (spec->kind != TS_SGD && !(is_share(spec->beta1) && is_share(spec->beta2)))
        return ts_error_set(error, TS_ERROR_VALUE, "%s: beta1 and beta2 are %g and %g; they must be in [0,1)", name,
                            spec->beta1, spec->beta2);
    if (spec->kind != TS_SGD && !(spec->epsilon > 0 && isfinite(spec->epsilon)))
        return ts_error_set(error, TS_ERROR_VALUE, "%s: epsilon is %g; it must be above 0 and finite", name,
                            spec->epsilon);
    if (!(spec->decay >= 0 && isfinite(spec->decay)))
        return ts_error_set(error, TS_ERROR_VALUE, "%s: decay is %g; it must be at least 0 and finite", name,
                            spec->decay);
    if (spec->decay > 0 && spec->kind != TS_ADAMW)
        return ts_error_set(error, TS_ERROR_VALUE, "%s: it has no decay; adamw has", name);
    return TS_OK;
}

ts_optimiser *ts_optimiser_create(const ts_optimiser_spec *spec, int64_t size, const bool *frozen, ts_error *error) {
    if (check(spec, error) != TS_OK) return NULL;
    if (size < 0) {
        ts_error_set(error, TS_ERROR_VALUE, "%s: %lld parameters", NAMES[spec->kind], (long long)size);
        return NULL;
    }
    ts_optimiser *o = calloc(1, sizeof *o);
    const size_t count = size > 0 ? (size_t)size : 1;
    bool complete = o != NULL;
    if (complete) *o = (ts_optimiser){.spec = *spec, .size = size, .moments = spec->kind == TS_SGD ? 1 : 2};
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
    ts_error_set(error, TS_ERROR_MEMORY, "%s: out of memory for %lld parameters", NAMES[spec->kind], (long long)size);
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

static bool is_frozen(const ts_optimiser *o, int64_t i) {
    return o->frozen != NULL && o->frozen[i];
}

/* The largest finite number of type ts_real. */
static const double MOST = sizeof(ts_real) == sizeof(float) ? FLT_MAX : DBL_MAX;

static bool sgd_fits(const ts_optimiser *o, const ts_real *grads) {
    const double momentum = o->spec.momentum;
    bool fits = true;
#pragma omp parallel for reduction(&& : fits) if (ts_worth_parallel(o->size))
    for (int64_t i = 0; i < o->size; i++)
        fits = (is_frozen(o, i) || fabs(momentum * (double)o->moment[0][i] + (double)grads[i]) <= MOST) && fits;
    return fits;
}

static void sgd_step(const ts_optimiser *o, double rate, ts_real *values, const ts_real *grads) {
    const double momentum = o->spec.momentum;
#pragma omp parallel for if (ts_worth_parallel(o->size))
    for (int64_t i = 0; i < o->size; i++) {
        if (is_frozen(o, i)) continue;
        const double g = (double)grads[i], v = momentum * (double)o->moment[0][i] + g;
        o->moment[0][i] = (ts_real)v;
        values[i] = (ts_real)((double)values[i] - rate * (o->spec.nesterov ? g + momentum * v : v));
    }
}

/* The numbers of a step of Adam that all parameters share. */
typedef struct adam {
    double beta1, beta2, correct1, correct2, epsilon, decay, rate;
    double most; /* the largest second moment that is finite as stored and when corrected */
} adam;

static inline double adam_first(const adam *a, double g, ts_real first) {
    return a->beta1 * (double)first + (1 - a->beta1) * g;
}

static inline double adam_second(const adam *a, double g, ts_real second) {
    return a->beta2 * (double)second + (1 - a->beta2) * g * g;
}

static inline void adam_one(const adam *a, double g, ts_real *first, ts_real *second, ts_real *value) {
    const double x = (double)*value, m = adam_first(a, g, *first), v = adam_second(a, g, *second);
    const double direction = m / a->correct1 / (sqrt(v / a->correct2) + a->epsilon);
    *first = (ts_real)m;
    *second = (ts_real)v;
    *value = (ts_real)(x - a->rate * (direction + a->decay * x));
}

TS_CLONES static void adam_run(const ts_optimiser *o, const adam *a, int64_t from, int64_t to, ts_real *values,
                               const ts_real *grads) {
    ts_real *restrict first = o->moment[0], *restrict second = o->moment[1];
    if (o->frozen != NULL) {
        for (int64_t i = from; i < to; i++)
            if (!o->frozen[i]) adam_one(a, (double)grads[i], &first[i], &second[i], &values[i]);
        return;
    }
#pragma omp simd
    for (int64_t i = from; i < to; i++) adam_one(a, (double)grads[i], &first[i], &second[i], &values[i]);
}

static inline int adam_overflows(const adam *a, double g, ts_real first, ts_real second) {
    const int fits1 = fabs(adam_first(a, g, first)) <= MOST, fits2 = adam_second(a, g, second) <= a->most;
    return 1 - (fits1 & fits2);
}

/* Would all moments be finite? An infinite one would silently stop its parameter from changing ever again. */
TS_CLONES static bool adam_run_fits(const ts_optimiser *o, const adam *a, int64_t from, int64_t to,
                                    const ts_real *grads) {
    const ts_real *first = o->moment[0], *second = o->moment[1];
    int overflow = 0;
#pragma omp simd reduction(| : overflow)
    for (int64_t i = from; i < to; i++) overflow |= adam_overflows(a, (double)grads[i], first[i], second[i]);
    if (overflow == 0 || o->frozen == NULL) return overflow == 0;
    for (int64_t i = from; i < to; i++)
        if (!o->frozen[i] && adam_overflows(a, (double)grads[i], first[i], second[i])) return false;
    return true;
}

enum { RUN = 4096 }; /* elements that a thread updates at a time */

static int64_t run_end(const ts_optimiser *o, int64_t from) {
    return from + RUN < o->size ? from + RUN : o->size;
}

static bool adam_fits(const ts_optimiser *o, const adam *a, const ts_real *grads) {
    bool fits = true;
#pragma omp parallel for reduction(&& : fits) if (ts_worth_parallel(4 * o->size))
    for (int64_t from = 0; from < o->size; from += RUN)
        fits = adam_run_fits(o, a, from, run_end(o, from), grads) && fits;
    return fits;
}

static void adam_step(const ts_optimiser *o, const adam *a, ts_real *values, const ts_real *grads) {
#pragma omp parallel for if (ts_worth_parallel(4 * o->size))
    for (int64_t from = 0; from < o->size; from += RUN) adam_run(o, a, from, run_end(o, from), values, grads);
}

ts_status ts_optimiser_step(ts_optimiser *o, double rate, int64_t size, ts_real *values, const ts_real *grads) {
    if (size != o->size || values == NULL || grads == NULL) return TS_ERROR_USAGE;
    if (!(rate >= 0 && isfinite(rate))) return TS_ERROR_VALUE;
    const double t = (double)(o->steps + 1);
    const double correct2 = 1 - pow(o->spec.beta2, t);
    const adam a = {.beta1 = o->spec.beta1,
                    .beta2 = o->spec.beta2,
                    .correct1 = 1 - pow(o->spec.beta1, t),
                    .correct2 = correct2,
                    .epsilon = o->spec.epsilon,
                    .decay = o->spec.decay,
                    .rate = rate,
                    .most = fmin(MOST, DBL_MAX * correct2)};
    const bool is_sgd = o->spec.kind == TS_SGD;
    if (!(is_sgd ? sgd_fits(o, grads) : adam_fits(o, &a, grads))) return TS_ERROR_VALUE;
    o->steps++;
    is_sgd ? sgd_step(o, rate, values, grads) : adam_step(o, &a, values, grads);
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
