/* seeding.h: initial centres, chosen among the points. */
#ifndef TS_SEEDING_H
#define TS_SEEDING_H

#include "clustering.h"

typedef enum ts_seeding {
    TS_SEED_KMEANS_PP, /* each next centre drawn with probability proportional to D^2, the squared distance to the
                          nearest centre so far [Arthur & Vassilvitskii 2007]; when every D^2 is 0, uniformly among the
                          rows not chosen yet */
    TS_SEED_RANDOM,    /* k different rows, uniformly */
    TS_SEED_GONZALEZ,  /* each next centre the row farthest from the centres so far [Gonzalez 1985] */
    TS_SEED_FIRST      /* the first k rows */
} ts_seeding;

/* "kmeans++", "random", "gonzalez", "first"; false when it is none of them. */
bool ts_seeding_by_name(const char *name, ts_seeding *seeding);

/* Writes the chosen row numbers to rows[k], all different, and returns TS_OK, or an error when not 1 <= k <= n. The
 * first row of kmeans++ and gonzalez is `first`, or drawn when first < 0. O(nkd). */
ts_status ts_seed_rows(ts_seeding seeding, const ts_points *points, int64_t k, int64_t first, uint64_t seed,
                       int64_t *rows, ts_error *error);

/* The index whose cumulative weight first exceeds u * total, for u in [0,1): always 0..n-1, never an index of weight 0
 * unless all are 0 (then 0), however the sums round. */
int64_t ts_pick_weighted(int64_t n, const double *weight, double u);

#endif
