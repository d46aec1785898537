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
    double parameter; /* see each map; ignored by maps without one */
    ts_rng rng;       /* only for maps that draw */
} ts_simplex_spec;

typedef struct ts_simplex_row {
    double parameter;
    ts_rng rng;
    uint64_t first; /* the element of the stream that the row's first entry draws */
    int64_t n;      /* length of the row, >= 1 */
    double *work;   /* work_rows * n doubles */
} ts_simplex_row;

/* The scores that a map is meant for. */
typedef enum ts_score_domain { TS_SCORES_ANY, TS_SCORES_NONNEGATIVE, TS_SCORES_NONPOSITIVE } ts_score_domain;

/* Maps that give all weight to the largest scores: to the first of equal ones, or to all of them in equal parts. */
typedef enum ts_argmax_kind { TS_NO_ARGMAX, TS_FIRST_ARGMAX, TS_EVERY_ARGMAX } ts_argmax_kind;

/* The kernels of fast attention (kernels/fast_attention.h) that compute a map. */
typedef enum ts_fast_map {
    TS_NO_FAST_MAP,
    TS_FAST_SOFTMAX,
    TS_FAST_SPARSEMAX,
    TS_FAST_HARDMAX,
    TS_FAST_LINEAR
} ts_fast_map;

typedef struct ts_simplex {
    const char *name;

    /* The properties that callers ask for; a map that sets none is a function of any scores, without a parameter. */
    const char *parameter;                  /* its parameter's letter: alpha, tau, F, a, m; NULL: there is none */
    const char *parameter_rule;             /* what it must satisfy, for messages */
    bool (*parameter_ok)(double parameter); /* NULL: anything does */
    ts_score_domain domain;
    bool scale_invariant; /* p(c s) = p(s) for c > 0 */
    bool random;          /* draws from the spec's rng */
    ts_argmax_kind argmax;
    ts_fast_map fast;

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

/* The maps of the library, ts_softmax_map and so on: adding one is its file in simplex/ and its line here. p maximises
 * <p,s> - Omega(p) over the simplex. */
// clang-format off
#define TS_SIMPLEX_MAPS(MAP)                                                                                          \
    MAP(softmax)        /* Omega = sum p log p:  exp(s - max) / sum */                                                \
    MAP(hardmax)        /* Omega = 0: uniform over the set of maximisers */                                           \
    MAP(argmax)         /* all weight on the first maximiser: hardmax with ties to the lowest index */                \
    MAP(sparsemax)      /* Omega = ||p||^2 / 2: [s - kappa]_+ */                                                      \
    MAP(normmax)        /* Omega = ||p||_alpha, 1 < alpha < inf: p ~ [s - tau]_+^(1/(alpha-1)) */                     \
    MAP(normmax_inf)    /* Omega = ||p||_inf: uniform over the m largest, m = argmax (sum_{i<=m} s_(i) - 1)/m */      \
    MAP(linear)         /* s / sum s, for scores >= 0 */                                                              \
    MAP(gumbel_softmax) /* softmax((s + G)/tau), G = -log(-log U); parameter tau > 0 */                               \
    MAP(gumbel_hardmax) /* one-hot at argmax (s + G)/tau; gradient of gumbel-softmax (straight-through) */            \
    MAP(top_m)          /* uniform over the m largest, m = n - floor(F n), n the entries that are not -inf; parameter \
                           0 <= F < 1, the share that gets no weight (F n within 1e-9 n of a whole number is that     \
                           number). Ties at the border: the lowest index */                                           \
    MAP(entmax15)       /* Omega = 4/3 sum p^(3/2): [s/2 - tau]_+^2; named entmax-1.5 */                              \
    MAP(power)          /* s^a / sum s^a, for scores >= 0; parameter a >= 1 */                                        \
    MAP(fuzzy)          /* p ~ (-s)^(-1/(m-1)), for scores <= 0; parameter m > 1 [Bezdek 1981] */
// clang-format on

#define TS_DECLARE_MAP(name) extern const ts_simplex ts_##name##_map;
TS_SIMPLEX_MAPS(TS_DECLARE_MAP)
#undef TS_DECLARE_MAP

/* map->backward, and ds = 0 for a row whose dp is all 0, whatever its weights are: nobody asks (upstream.h). */
void ts_simplex_backward(const ts_simplex *map, const ts_simplex_row *row, const double *s, const double *w, double z,
                         const double *dp, double *ds);

/* The built-in maps, ending with NULL; and one of them by name, NULL when there is none. */
extern const ts_simplex *const ts_simplex_maps[];
const ts_simplex *ts_simplex_by_name(const char *name);

/* Writes why the spec cannot be used, or returns TS_OK. */
ts_status ts_simplex_check(const ts_simplex_spec *spec, ts_error *error);

#endif
