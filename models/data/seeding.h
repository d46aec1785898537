/* seeding.h: chooses initial centres among the points. */
#ifndef TS_SEEDING_H
#define TS_SEEDING_H

#include "clustering.h"

typedef enum ts_seeding {
    TS_SEED_KMEANS_PP, /* each further centre is drawn with probability proportional to D^2, the squared distance to
                          the nearest centre so far [Arthur & Vassilvitskii 2007]; if every D^2 is 0, uniformly among
                          the rows not chosen yet */
    TS_SEED_RANDOM,    /* k different rows, drawn uniformly */
    TS_SEED_GONZALEZ,  /* each further centre is the row farthest from the centres so far [Gonzalez 1985] */
    TS_SEED_FIRST      /* the first k rows */
} ts_seeding;

/* "kmeans++", "random", "gonzalez" or "first"; false for any other name. */
bool ts_seeding_by_name(const char *name, ts_seeding *seeding);

/* Writes k different row numbers to rows[k]. The first row of kmeans++ and gonzalez is `first`, or drawn if first < 0.
 * Fails unless 1 <= k <= n, and if memory is short. O(nkd). */
ts_status ts_seed_rows(ts_seeding seeding, const ts_points *points, int64_t k, int64_t first, uint64_t seed,
                       int64_t *rows, ts_error *error);

/* The first index whose cumulative weight exceeds u * total, for u in [0,1): however the sums round, it is in 0..n-1
 * and its weight is not 0, unless all weights are 0 (then 0). */
int64_t ts_pick_weighted(int64_t n, const double *weight, double u);

#endif
