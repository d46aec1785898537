/* sgd.c: v = momentum v + g, x -= rate v; with nesterov x -= rate (g + momentum v) [Polyak 1964; Sutskever et al. 2013,
 * with the rate outside the velocity]. */
#include <float.h>
#include <math.h>

#include "../../autograd/parallel.h"
#include "../optimiser.h"

static const ts_field fields[] = {{"momentum", TS_FIELD_REAL, .initial = 0, .least = 0, .most = 1, .below = true,
                                   .help = "share of the velocity kept"},
                                  {"nesterov", TS_FIELD_FLAG, .initial = 0, .help = "looks ahead"},
                                  {.name = NULL}};

static bool is_frozen(const ts_optimiser *o, int64_t i) {
    return o->frozen != NULL && o->frozen[i];
}

/* The largest finite number of type ts_real. */
static const double MOST = sizeof(ts_real) == sizeof(float) ? FLT_MAX : DBL_MAX;

static bool fits_all(const ts_optimiser *o, const ts_real *grads) {
    const double momentum = o->spec.momentum;
    bool fits = true;
#pragma omp parallel for reduction(&& : fits) if (ts_worth_parallel(o->size))
    for (int64_t i = 0; i < o->size; i++)
        fits = (is_frozen(o, i) || fabs(momentum * (double)o->moment[0][i] + (double)grads[i]) <= MOST) && fits;
    return fits;
}

static void step(const ts_optimiser *o, double rate, ts_real *values, const ts_real *grads) {
    const double momentum = o->spec.momentum;
#pragma omp parallel for if (ts_worth_parallel(o->size))
    for (int64_t i = 0; i < o->size; i++) {
        if (is_frozen(o, i)) continue;
        const double g = (double)grads[i], v = momentum * (double)o->moment[0][i] + g;
        o->moment[0][i] = (ts_real)v;
        values[i] = (ts_real)((double)values[i] - rate * (o->spec.nesterov != 0 ? g + momentum * v : v));
    }
}

const ts_optimiser_type ts_sgd_optimiser = {.name = "sgd",
                                            .summary = "gradient descent with momentum",
                                            .fields = fields,
                                            .moments = 1,
                                            .fits = fits_all,
                                            .step = step};
