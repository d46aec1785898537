/* simplex.h: maps from a row of scores to a row of weights, as descriptors.
 *
 * Attention takes a pointer to one, and `ts_simplex_map` applies one to an axis of a tensor, so a new normaliser is a
 * descriptor in a file of its own: no enum, no edit of attention. Rows are double whatever ts_real is: a row is short
 * next to the products around it, and thresholds found in float lose the digits that decide ties.
 *
 * A map writes unnormalised weights w and returns their normaliser z > 0: the weights are p = w / z. Attention divides
 * once, after it has summed w_i v_i, so averages over equal weights are exact to the last rounding. */
#ifndef TS_SIMPLEX_H
#define TS_SIMPLEX_H

#include "rng.h"
#include "status.h"
#include "tensor.h"

/* A map with its parameter, and the stream its random numbers come from. Row r, entry j of a call draws element
 * r * n + j of the stream. */
typedef struct ts_simplex_spec {
    const struct ts_simplex *map;
    double parameter; /* alpha, tau, F, a, m; see each map; ignored by maps without one */
    ts_rng rng;       /* only for maps that draw */
} ts_simplex_spec;

typedef struct ts_simplex_row {
    double parameter;
    ts_rng rng;
    uint64_t first; /* the element of the stream that the row's first entry draws */
    int64_t n;      /* length of the row, >= 1 */
    double *work;   /* work_rows * n doubles */
} ts_simplex_row;

typedef struct ts_simplex {
    const char *name;
    const char *parameter_rule;             /* what the parameter must satisfy, for messages; NULL: there is none */
    bool (*parameter_ok)(double parameter); /* NULL: anything is */
    int work_rows;

    /* w[n] and the return value z from the scores s[n], so that p = w / z lies in the simplex. A row on which the map
     * is undefined (every score -inf, a linear row of zeros) gets w = 0 and z = 1: weights of zero, gradients of zero.
     */
    double (*forward)(const ts_simplex_row *row, const double *s, double *w);

    /* ds[n] = (d p / d s)^T dp, given what forward computed; not called where dp is all 0, see ts_simplex_backward.
     * NULL: the gradient is zero everywhere (piecewise constant weights). */
    void (*backward)(const ts_simplex_row *row, const double *s, const double *w, double z, const double *dp,
                     double *ds);

    /* Backward reads nothing but w / z: given weights, which it may get rounded, it needs no forward. */
    bool backward_of_weights;
} ts_simplex;

/* The maps of the library. p maximises <p,s> - Omega(p) over the simplex. */
extern const ts_simplex ts_softmax_map;   /* Omega = sum p log p:  exp(s - max) / sum */
extern const ts_simplex ts_hardmax_map;   /* Omega = 0: uniform over the set of maximisers */
extern const ts_simplex ts_argmax_map;    /* all weight on the first maximiser: hardmax with ties to the lowest index */
extern const ts_simplex ts_sparsemax_map; /* Omega = ||p||^2 / 2: [s - kappa]_+ */
extern const ts_simplex ts_normmax_map;   /* Omega = ||p||_alpha, 1 < alpha < inf: p ~ [s - tau]_+^(1/(alpha-1)) */
extern const ts_simplex
    ts_normmax_inf_map; /* Omega = ||p||_inf: uniform over the m largest, m = argmax (sum_{i<=m} s_(i) - 1)/m */
extern const ts_simplex ts_linear_map;         /* s / sum s, for scores >= 0 */
extern const ts_simplex ts_gumbel_softmax_map; /* softmax((s + G)/tau), G = -log(-log U); parameter tau > 0 */
extern const ts_simplex
    ts_gumbel_hardmax_map; /* one-hot at argmax (s + G)/tau; gradient of gumbel-softmax (straight-through) */
/* Uniform over the m largest, m = n - floor(F n), n the entries that are not -inf; parameter 0 <= F < 1, the share
 * that gets no weight (F n within 1e-9 n of a whole number is that number). Ties at the border: the lowest index. */
extern const ts_simplex ts_top_m_map;
extern const ts_simplex ts_entmax15_map; /* Omega = 4/3 sum p^(3/2): [s/2 - tau]_+^2; named entmax-1.5 */
extern const ts_simplex ts_power_map;    /* s^a / sum s^a, for scores >= 0; parameter a >= 1 */
extern const ts_simplex ts_fuzzy_map;    /* p ~ (-s)^(-1/(m-1)), for scores <= 0; parameter m > 1 [Bezdek 1981] */

/* map->backward, and ds = 0 for a row whose dp is all 0, whatever its weights are: nobody asks (op.h). */
void ts_simplex_backward(const ts_simplex *map, const ts_simplex_row *row, const double *s, const double *w, double z,
                         const double *dp, double *ds);

/* The built-in maps, ending with NULL; and one of them by name, NULL when there is none. */
extern const ts_simplex *const ts_simplex_maps[];
const ts_simplex *ts_simplex_by_name(const char *name);

/* Writes why the spec cannot be used, or returns TS_OK. */
ts_status ts_simplex_check(const ts_simplex_spec *spec, ts_error *error);

#endif
