/* optimiser.h: from gradients to the next parameters.
 *
 * x the parameters, g their gradients, t = 1, 2, .. the step, all elementwise; moments start at 0.
 *
 * sgd     v = momentum v + g                    x -= rate v, or with nesterov x -= rate (g + momentum v)
 *         [Polyak 1964; Sutskever et al. 2013, with the rate outside the velocity]
 * adam    m = beta1 m + (1 - beta1) g           mh = m / (1 - beta1^t)
 *         v = beta2 v + (1 - beta2) g^2         vh = v / (1 - beta2^t)
 *         x -= rate mh / (sqrt(vh) + epsilon)   [Kingma & Ba 2015, algorithm 1: epsilon outside the root]
 * adamw   x -= rate (mh / (sqrt(vh) + epsilon) + decay x), the x on the right the old one [Loshchilov & Hutter 2019,
 *         algorithm 2: the decay does not pass through the moments; scaled by the rate]
 *
 * An element is computed in double from the stored numbers and rounded once, so the same steps give the same bits at
 * any number of threads, and so do steps continued from a saved state. */
#ifndef TS_OPTIMISER_H
#define TS_OPTIMISER_H

#include "../layers/params.h"

typedef enum ts_optimiser_kind { TS_SGD, TS_ADAM, TS_ADAMW } ts_optimiser_kind;

enum { TS_OPTIMISERS = 3, TS_OPTIMISER_MOMENTS = 2 };

typedef struct ts_optimiser_spec {
    ts_optimiser_kind kind;
    double momentum;     /* sgd: in [0,1) */
    bool nesterov;       /* sgd */
    double beta1, beta2; /* adam, adamw: in [0,1) */
    double epsilon;      /* adam, adamw: above 0 */
    double decay;        /* adamw: at least 0 */
} ts_optimiser_spec;

/* A checkpoint stores spec, steps and the moments, and puts them into an optimiser created with the same spec. */
typedef struct ts_optimiser {
    ts_optimiser_spec spec;
    int64_t size;                          /* numbers in each moment, and parameters that a step takes */
    int64_t steps;                         /* taken so far: t of the formulas */
    int moments;                           /* sgd: 1, v; adam and adamw: 2, m and v */
    ts_real *moment[TS_OPTIMISER_MOMENTS]; /* those beyond `moments` are NULL */
    bool *frozen;                          /* elements that no step changes; NULL: none */
} ts_optimiser;

/* "sgd", "adam", "adamw"; false when it is none of them. */
bool ts_optimiser_by_name(const char *name, ts_optimiser_kind *kind);
/* The name, or NULL when there is no such optimiser. */
const char *ts_optimiser_name(ts_optimiser_kind kind);

/* sgd: momentum 0. adam, adamw: beta 0.9 and 0.999, epsilon 1e-8. adamw: decay 0.01. The rest 0. */
ts_optimiser_spec ts_optimiser_defaults(ts_optimiser_kind kind);

/* For `size` parameters, of which frozen[i] (copied; NULL: none) do not learn: neither gradients nor decay touch them.
 * NULL with *error set when a field that its kind reads is wrong, decay is asked of another kind than adamw, or memory
 * is short. */
ts_optimiser *ts_optimiser_create(const ts_optimiser_spec *spec, int64_t size, const bool *frozen, ts_error *error);
/* For the numbers of ts_params_values, those of fixed parameters frozen; refused before ts_params_allocate. */
ts_optimiser *ts_optimiser_create_for(const ts_optimiser_spec *spec, ts_params *params, ts_error *error);
void ts_optimiser_free(ts_optimiser *optimiser); /* NULL is fine */

/* One step. Takes no memory. TS_ERROR_USAGE when size is not the optimiser's or an array is NULL; TS_ERROR_VALUE when
 * the rate is negative or not finite, and when a moment would not be finite: a gradient is not, or it is too large for
 * ts_real (adam: beyond some 1e20 in float, where its square overflows). Then nothing changes, and the caller should
 * say that the step was skipped. */
ts_status ts_optimiser_step(ts_optimiser *optimiser, double rate, int64_t size, ts_real *values, const ts_real *grads);

/* Clipping by global norm [Pascanu et al. 2013]: when ||g|| is above limit > 0, g *= limit / ||g||. Returns ||g|| from
 * before, its squares added in double, in order; limit = INFINITY only measures. When that is not finite (an element is
 * not, or it is beyond double) the gradients are left alone: the caller should skip the step. */
double ts_clip_gradients(double limit, int64_t size, ts_real *grads);

#endif
