/* simplex.h: descriptors of maps from a row of n scores to a row of n weights on the probability simplex.
 *
 * Attention takes a pointer to a map, and ts_simplex_apply (ops.h) applies one along an axis of a tensor, so a new map
 * is a descriptor in a file of its own, without an enum or a change to attention. Rows are double whatever ts_real is:
 * their cost is small beside the matrix products, and thresholds found in float lose the digits that decide ties.
 *
 * A map writes unnormalised weights w and returns their normaliser z > 0: the weights are p = w / z. Attention divides
 * once, after it has summed w_i v_i, so averages over equal weights are exact to the last rounding. A map costs a few
 * passes over the row; normmax, entmax-1.5, sparsemax and top-m, which search for a threshold, take a few more. */
#ifndef TS_SIMPLEX_H
#define TS_SIMPLEX_H

#include "rng.h"
#include "status.h"
#include "tensor.h"

/* A map, its parameter and its random stream, of which entry j of row r of a call draws element r * n + j. */
typedef struct ts_simplex_spec {
    const struct ts_simplex *map;
    double parameter; /* as each map defines it; ignored by maps without one */
    ts_rng rng;       /* used by random maps only */
} ts_simplex_spec;

typedef struct ts_simplex_row {
    double parameter;
    ts_rng rng;
    uint64_t first; /* the stream element that the row's first entry draws */
    int64_t n;      /* length of the row, >= 1 */
    double *work;   /* work_rows * n doubles */
} ts_simplex_row;

/* The scores for which a map is meant. */
typedef enum ts_score_domain { TS_SCORES_ANY, TS_SCORES_NONNEGATIVE, TS_SCORES_NONPOSITIVE } ts_score_domain;

/* Whether a map gives all weight to the maximal scores, and if so to the first of them or equally to all of them. */
typedef enum ts_argmax_kind { TS_NO_ARGMAX, TS_FIRST_ARGMAX, TS_EVERY_ARGMAX } ts_argmax_kind;

/* The kernel of fast attention (kernels/fast_attention.h) that computes a map. */
typedef enum ts_fast_map {
    TS_NO_FAST_MAP,
    TS_FAST_SOFTMAX,
    TS_FAST_SPARSEMAX,
    TS_FAST_HARDMAX,
    TS_FAST_LINEAR
} ts_fast_map;

typedef struct ts_simplex {
    const char *name;

    /* Properties. A map that sets none of them is deterministic, accepts all scores and has no parameter. */
    const char *parameter;                  /* the parameter's symbol: alpha, tau, F, a, m; NULL: it has none */
    const char *parameter_rule;             /* the condition on the parameter, for messages */
    bool (*parameter_ok)(double parameter); /* NULL: every value is allowed */
    ts_score_domain domain;
    bool scale_invariant; /* p(c s) = p(s) for c > 0 */
    bool random;          /* draws random numbers from the spec's rng */
    ts_argmax_kind argmax;
    ts_fast_map fast;

    int work_rows;

    /* Computes w[n] and returns z from the scores s[n], so that p = w / z lies in the simplex. A row on which the map
     * is undefined (every score -inf, or a linear row of zeros) gets w = 0 and z = 1: zero weights, zero gradients. */
    double (*forward)(const ts_simplex_row *row, const double *s, double *w);

    /* ds[n] = (dp/ds)^T dp, given the results of forward; not called when dp is all 0, see ts_simplex_backward. NULL:
     * the gradient is zero everywhere (piecewise constant weights). */
    void (*backward)(const ts_simplex_row *row, const double *s, const double *w, double z, const double *dp,
                     double *ds);

    /* Backward uses w / z only: it can start from stored, rounded weights, without another forward. */
    bool backward_of_weights;
} ts_simplex;

/* The maps of the library, ts_softmax_map and so on. To add one, write its file in simplex/ and its line here. Where an
 * Omega is given, p maximises <p,s> - Omega(p) over the simplex. Each file states its gradient and its source. */
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

/* map->backward, but ds = 0 for a row whose dp is all 0, whatever its weights are (upstream.h). */
void ts_simplex_backward(const ts_simplex *map, const ts_simplex_row *row, const double *s, const double *w, double z,
                         const double *dp, double *ds);

/* The maps of the library, ending with NULL; and the map of that name, NULL when there is none. */
extern const ts_simplex *const ts_simplex_maps[];
const ts_simplex *ts_simplex_by_name(const char *name);

/* TS_OK if the spec can be used; else records in *error why not. */
ts_status ts_simplex_check(const ts_simplex_spec *spec, ts_error *error);

#endif
