/* optimiser.h: the update of parameters from their gradients.
 *
 * x are the parameters, g their gradients, t = 1, 2, .. is the step; all is elementwise, and the moments start at 0.
 *
 * sgd     v = momentum v + g                    x -= rate v, or with nesterov x -= rate (g + momentum v)
 *         [Polyak 1964; Sutskever et al. 2013, with the rate outside the velocity]
 * adam    m = beta1 m + (1 - beta1) g           mh = m / (1 - beta1^t)
 *         v = beta2 v + (1 - beta2) g^2         vh = v / (1 - beta2^t)
 *         x -= rate mh / (sqrt(vh) + epsilon)   [Kingma & Ba 2015, algorithm 1: epsilon outside the root]
 * adamw   x -= rate (mh / (sqrt(vh) + epsilon) + decay x), with the old x on the right [Loshchilov & Hutter 2019,
 *         algorithm 2: the decay does not enter the moments and is scaled by the rate]
 *
 * Each element is computed in double from the stored numbers and rounded once, so the same steps give the same bits at
 * any number of threads, also when continued from a saved state. */
#ifndef TS_OPTIMISER_H
#define TS_OPTIMISER_H

#include "../layers/field.h"
#include "../layers/params.h"

/* By number, in the order of train/meson.build. */
typedef int ts_optimiser_kind;
enum { TS_SGD, TS_ADAM, TS_ADAMW };
extern const int ts_optimisers; /* how many there are */

enum { TS_OPTIMISER_MOMENTS = 3, TS_OPTIMISER_NUMBERS = 8 };

/* The numbers of the kind, in the order of its described fields (ts_optimiser_type). */
typedef struct ts_optimiser_spec {
    ts_optimiser_kind kind;
    union {
        double number[TS_OPTIMISER_NUMBERS];
        struct {
            double momentum; /* sgd: in [0,1) */
            double nesterov; /* sgd: 0 or 1 */
        };
        struct {
            double beta1, beta2; /* adam, adamw: in [0,1) */
            double epsilon;      /* adam, adamw: above 0 */
            double decay;        /* adamw: at least 0 */
        };
    };
} ts_optimiser_spec;

/* A checkpoint stores spec, steps and moments, and restores them into an optimiser created with the same spec. */
typedef struct ts_optimiser {
    ts_optimiser_spec spec;
    int64_t size;                          /* the number of parameters, and of elements of each moment */
    int64_t steps;                         /* steps taken so far: t of the formulas */
    int moments;                           /* sgd: 1, v; adam and adamw: 2, m and v */
    ts_real *moment[TS_OPTIMISER_MOMENTS]; /* NULL from `moments` on */
    bool *frozen;                          /* [size] elements that no step changes; NULL: none */
} ts_optimiser;

/* An optimiser: a descriptor in a file of optimisers/. */
typedef struct ts_optimiser_type {
    const char *name, *summary;
    const ts_field *fields; /* of its numbers */
    int moments;
    /* Would all moments be finite after a step? An infinite one would silently stop its parameter from changing. */
    bool (*fits)(const ts_optimiser *optimiser, const ts_real *grads);
    /* A step, number optimiser->steps + 1; values and moments of frozen elements stay as they are. */
    void (*step)(const ts_optimiser *optimiser, double rate, ts_real *values, const ts_real *grads);
} ts_optimiser_type;

const ts_optimiser_type *ts_optimiser_type_of(ts_optimiser_kind kind); /* NULL: there is none */

/* "sgd", "adam" or "adamw"; false for any other name. */
bool ts_optimiser_by_name(const char *name, ts_optimiser_kind *kind);
/* The name, or NULL if there is no such optimiser. */
const char *ts_optimiser_name(ts_optimiser_kind kind);

/* sgd: momentum 0. adam, adamw: beta1 0.9, beta2 0.999, epsilon 1e-8. adamw: decay 0.01. All else is 0. */
ts_optimiser_spec ts_optimiser_defaults(ts_optimiser_kind kind);

/* For `size` parameters, of which those with frozen[i] (copied; NULL: none) are changed by neither gradients nor decay.
 * NULL with *error set if a field that the kind reads is wrong, or memory is short. */
ts_optimiser *ts_optimiser_create(const ts_optimiser_spec *spec, int64_t size, const bool *frozen, ts_error *error);
/* For the numbers of ts_params_values, with fixed parameters frozen; refused before ts_params_allocate. */
ts_optimiser *ts_optimiser_create_for(const ts_optimiser_spec *spec, ts_params *params, ts_error *error);
void ts_optimiser_free(ts_optimiser *optimiser); /* NULL is fine */

/* One step; allocates nothing. TS_ERROR_USAGE if size is not the optimiser's or an array is NULL. TS_ERROR_VALUE if the
 * rate is negative or not finite, or if a moment would not be finite, because a gradient is not or is too large for
 * ts_real (adam: beyond about 1e20 in float, where its square overflows). After an error nothing has changed, and the
 * caller should report that the step was skipped. */
ts_status ts_optimiser_step(ts_optimiser *optimiser, double rate, int64_t size, ts_real *values, const ts_real *grads);

/* Clipping by global norm [Pascanu et al. 2013]: if ||g|| > limit > 0, g *= limit / ||g||. Returns ||g|| before
 * clipping, with the squares added in double in a fixed order; limit = INFINITY only measures. If the norm is not
 * finite, because an element is not or the norm exceeds double, the gradients are unchanged and the caller should skip
 * the step. */
double ts_clip_gradients(double limit, int64_t size, ts_real *grads);

#endif
