/* variants.h: the clustering algorithms that one layer of attention is, when its mechanisms are changed one at a time.
 *
 * They are rows of ONE table, variants.c; adding a variant is adding a row, with the plain algorithm (plain.h) that it
 * must equal. Sources: [C26] theorems 2.1 and 2.2 and section 2.3, [P26] theorem 2.1 (definition.h); the classical
 * algorithms are cited in plain.h. */
#ifndef TS_VARIANTS_H
#define TS_VARIANTS_H

#include "../data/clustering.h"
#include "../reference/plain.h"
#include "definition.h"

/* What gamma multiplies in a variant. */
typedef enum ts_gamma_role {
    TS_GAMMA_NONE,   /* nothing: the weights do not depend on it */
    TS_GAMMA_ASSIGN, /* the scores of points: softmax(-gamma ||x - c||^2); INFINITY chooses the nearest centre */
    TS_GAMMA_SOFT,   /* the same, but INFINITY is not allowed */
    TS_GAMMA_UPDATE  /* the scores of centres over their own points; finite */
} ts_gamma_role;

typedef struct ts_variant {
    const char *name, *title, *summary;
    const char *schemes; /* the constructions it has, "onehot|binary|dot"; the first is the default */
    ts_gamma_role gamma;
    const ts_simplex *assign; /* weights of points over centres, when gamma leaves them hard; softmax otherwise */
    const ts_simplex *codes;  /* weights of centres over the codes of points, when `update` is NULL */
    const ts_simplex *update; /* weights of centres over -gamma ||x - c||^2 of their own points */
    bool unit_length, trims, medoids;
    ts_cost cost;
    const ts_plain_algorithm *plain; /* the classical algorithm that it equals; see ts_variant_plain */
} ts_variant;

extern const ts_variant ts_variants[]; /* ending with a NULL name */
const ts_variant *ts_variant_by_name(const char *name);

/* Does a map of the variant have the parameter of this letter (simplex.h): "alpha" of norm-max, "m" of fuzzy c-means?
 */
bool ts_variant_has(const ts_variant *variant, const char *parameter);

/* The settings of a run, for the circuit and the plain algorithm alike. `gamma` 0 stands for the default: infinite, or
 * what ts_variant_gamma chooses. */
ts_settings ts_variant_settings(const ts_variant *variant);

/* Does the variant need a finite gamma when none is given? */
bool ts_variant_chooses_gamma(const ts_variant *variant, const ts_settings *settings);

/* A gamma of the scale of the data. With v the median of the points' squared distances to the nearest initial centre,
 * the mean of the two in the middle of an even number (if that is 0 the mean of all, else 1):
 *   soft and k-medoids:            d / (2 v),      the responsibilities of Gaussians as wide as the clusters;
 *   trimmed and robust families:   k / (16 n v),   which leaves out what lies beyond some four times the usual
 * distance. NAN when out of memory. O(nkd). */
double ts_variant_gamma(const ts_variant *variant, const ts_problem *problem);

/* The plain algorithm that equals the variant with these settings. */
const ts_plain_algorithm *ts_variant_plain(const ts_variant *variant, const ts_settings *settings);

/* Writes the definition. Refuses, by name, settings that the variant does not have: a construction, a gamma, a trim, a
 * sharing of ties. */
ts_status ts_variant_define(const ts_variant *variant, const ts_settings *settings, ts_definition *definition,
                            ts_error *error);

#endif
