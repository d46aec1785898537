/* adam_steps.c: the vectorised loops of Adam and AdamW. */
#include "adam_steps.h"

#include <float.h>
#include <math.h>

#include "../../autograd/parallel.h"

/* The largest finite number of type ts_real. */
static const double MOST = sizeof(ts_real) == sizeof(float) ? FLT_MAX : DBL_MAX;

/* The numbers of a step of Adam that all parameters share. */
typedef struct adam {
    double beta1, beta2, correct1, correct2, epsilon, decay, rate;
    double most; /* the largest second moment that is finite as stored and when corrected */
} adam;

static adam numbers_of(const ts_optimiser *o, double rate) {
    const double t = (double)(o->steps + 1), correct2 = 1 - pow(o->spec.beta2, t);
    const bool decays = ts_field_place(ts_optimiser_type_of(o->spec.kind)->fields, "decay") >= 0;
    return (adam){.beta1 = o->spec.beta1,
                  .beta2 = o->spec.beta2,
                  .correct1 = 1 - pow(o->spec.beta1, t),
                  .correct2 = correct2,
                  .epsilon = o->spec.epsilon,
                  .decay = decays ? o->spec.decay : 0,
                  .rate = rate,
                  .most = fmin(MOST, DBL_MAX * correct2)};
}

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

bool ts_adam_fits(const ts_optimiser *o, const ts_real *grads) {
    const adam numbers = numbers_of(o, 0), *a = &numbers;
    bool fits = true;
#pragma omp parallel for reduction(&& : fits) if (ts_worth_parallel(4 * o->size))
    for (int64_t from = 0; from < o->size; from += RUN)
        fits = adam_run_fits(o, a, from, run_end(o, from), grads) && fits;
    return fits;
}

void ts_adam_step(const ts_optimiser *o, double rate, ts_real *values, const ts_real *grads) {
    const adam numbers = numbers_of(o, rate), *a = &numbers;
#pragma omp parallel for if (ts_worth_parallel(4 * o->size))
    for (int64_t from = 0; from < o->size; from += RUN) adam_run(o, a, from, run_end(o, from), values, grads);
}
