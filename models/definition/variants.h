/* variants.h: the clustering algorithms that one layer of attention becomes when its mechanisms are changed one at a
 * time.
 *
 * They are the rows of ONE table in variants.c. To add a variant, add a row with the plain algorithm (plain.h) that it
 * must equal. Sources: [C26] theorems 2.1 and 2.2 and section 2.3, [P26] theorem 2.1 (definition.h); the classical
 * algorithms are cited in plain.h. */
#ifndef TS_VARIANTS_H
#define TS_VARIANTS_H

#include "../data/clustering.h"
#include "../reference/plain.h"
#include "definition.h"

/* The scores that gamma multiplies in a variant. */
typedef enum ts_gamma_role {
    TS_GAMMA_NONE,   /* none: the weights do not depend on it */
    TS_GAMMA_ASSIGN, /* those of points: softmax(-gamma ||x - c||^2); INFINITY selects the nearest centre */
    TS_GAMMA_SOFT,   /* the same, with a finite gamma */
    TS_GAMMA_UPDATE  /* those of centres over their own points, with a finite gamma */
} ts_gamma_role;

typedef struct ts_variant {
    const char *name, *title, *summary;
    const char *constructions; /* its constructions, e.g. "onehot|binary|dot"; the first is the default */
    ts_gamma_role gamma;
    const ts_simplex *assign; /* weights of points over centres if assignments are hard; soft ones use softmax */
    const ts_simplex *codes;  /* weights of centres over the codes of points, if `update` is NULL */
    const ts_simplex *update; /* weights of centres over the scores -gamma ||x - c||^2 of their own points */
    bool unit_length, trims, medoids;
    ts_cost cost;
    const ts_plain_algorithm *plain; /* the classical algorithm that it equals; see ts_variant_plain */
} ts_variant;

extern const ts_variant ts_variants[]; /* ends with a NULL name */
const ts_variant *ts_variant_by_name(const char *name);

/* Does a map of the variant have the parameter of this letter (simplex.h): "alpha" of norm-max, "m" of fuzzy c-means?
 */
bool ts_variant_has(const ts_variant *variant, const char *parameter);

/* The default settings, for the runner and the plain algorithm. gamma = 0 stands for the default: INFINITY, or the
 * value of ts_variant_gamma. */
ts_settings ts_variant_settings(const ts_variant *variant);

/* Must a finite gamma be chosen because none is given? */
bool ts_variant_chooses_gamma(const ts_variant *variant, const ts_settings *settings);

/* A gamma that suits the scale of the data. Let v be the median of the points' squared distances to the nearest initial
 * centre, of an even number the mean of the middle two (if that is 0, their mean; if that is 0, 1):
 *   soft and k-medoids:            d / (2 v),      the responsibilities of Gaussians as wide as the clusters;
 *   trimmed and robust families:   k / (16 n v),   which leaves out points beyond about four times the usual
 *                                               distance.
 * NAN when out of memory. O(nkd + n log n). */
double ts_variant_gamma(const ts_variant *variant, const ts_problem *problem);

/* The plain algorithm that the variant equals with these settings. */
const ts_plain_algorithm *ts_variant_plain(const ts_variant *variant, const ts_settings *settings);

/* Writes the definition. Refuses settings that the variant does not have, and names them: a construction, a gamma, a
 * trimmed share, shared ties. */
ts_status ts_variant_define(const ts_variant *variant, const ts_settings *settings, ts_definition *definition,
                            ts_error *error);

#endif
