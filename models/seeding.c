#include "seeding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../autograd/rng.h"

bool ts_seeding_by_name(const char *name, ts_seeding *seeding) {
    static const char *const names[] = {"kmeans++", "random", "gonzalez", "first"};
    for (int i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0) {
            *seeding = (ts_seeding)i;
            return true;
        }
    return false;
}

int64_t ts_pick_weighted(int64_t n, const double *weight, double u) {
    double total = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) total += weight[i];
    int64_t last = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!(weight[i] > 0)) continue;
        sum += weight[i];
        last = i;
        if (sum > u * total) return i;
    }
    return last; /* the sums rounded short of u * total */
}

typedef struct seeder {
    int64_t n, d;
    const ts_real *points;
    double *nearest; /* [n] squared distance to the nearest chosen row */
    ts_rng rng;
} seeder;

static void update_nearest(seeder *s, int64_t chosen) {
    const ts_real *center = s->points + chosen * s->d;
#pragma omp parallel for if (s->n * s->d > 16384)
    for (int64_t i = 0; i < s->n; i++) {
        double distance = 0;
        for (int64_t a = 0; a < s->d; a++) {
            const double difference = (double)s->points[i * s->d + a] - (double)center[a];
            distance += difference * difference;
        }
        if (distance < s->nearest[i]) s->nearest[i] = distance;
    }
}

static bool is_chosen(const int64_t *rows, int64_t count, int64_t row) {
    for (int64_t j = 0; j < count; j++)
        if (rows[j] == row) return true;
    return false;
}

/* A row not among rows[0..count-1], uniformly: the r-th of those left. */
static int64_t draw_unchosen(const seeder *s, const int64_t *rows, int64_t count) {
    int64_t left = ts_rng_below(s->rng, (uint64_t)count, s->n - count);
    for (int64_t i = 0; i < s->n; i++)
        if (!is_chosen(rows, count, i) && left-- == 0) return i;
    return 0;
}

static int64_t next_row(const seeder *s, ts_seeding seeding, const int64_t *rows, int64_t count) {
    int64_t farthest = 0;
    for (int64_t i = 1; i < s->n; i++)
        if (s->nearest[i] > s->nearest[farthest]) farthest = i;
    if (!(s->nearest[farthest] > 0)) return draw_unchosen(s, rows, count); /* every row equals a chosen one */
    if (seeding == TS_SEED_GONZALEZ) return farthest;
    return ts_pick_weighted(s->n, s->nearest, ts_rng_uniform(s->rng, (uint64_t)count));
}

/* The first k places of a random permutation. */
static ts_status random_rows(int64_t n, int64_t k, ts_rng rng, int64_t *rows, ts_error *error) {
    int64_t *all = malloc((size_t)n * sizeof *all);
    if (all == NULL) return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for the initial centres");
    for (int64_t i = 0; i < n; i++) all[i] = i;
    for (int64_t j = 0; j < k; j++) {
        const int64_t other = j + ts_rng_below(rng, (uint64_t)j, n - j);
        rows[j] = all[other];
        all[other] = all[j];
    }
    free(all);
    return TS_OK;
}

ts_status ts_seed_rows(ts_seeding seeding, int64_t n, int64_t d, int64_t k, const ts_real *points, int64_t first,
                       uint64_t seed, int64_t *rows, ts_error *error) {
    if (k < 1 || k > n || first >= n)
        return ts_error_set(error, TS_ERROR_VALUE, "k = %lld centres cannot be chosen among %lld rows", (long long)k,
                            (long long)n);
    seeder s = {.n = n, .d = d, .points = points, .rng = {seed, ts_rng_stream("seeding"), 0}};
    if (seeding == TS_SEED_RANDOM) return random_rows(n, k, s.rng, rows, error);
    if (seeding == TS_SEED_FIRST) {
        for (int64_t j = 0; j < k; j++) rows[j] = j;
        return TS_OK;
    }
    s.nearest = malloc((size_t)n * sizeof *s.nearest);
    if (s.nearest == NULL) return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for the initial centres");
    for (int64_t i = 0; i < n; i++) s.nearest[i] = INFINITY;
    rows[0] = first >= 0 ? first : ts_rng_below(s.rng, 0, n);
    for (int64_t j = 1; j < k; j++) {
        update_nearest(&s, rows[j - 1]);
        rows[j] = next_row(&s, seeding, rows, j);
    }
    free(s.nearest);
    return TS_OK;
}
