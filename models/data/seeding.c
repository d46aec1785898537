/* seeding.c: the methods of choosing initial centres. */
#include "seeding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../autograd/parallel.h"
#include "../../autograd/rng.h"
#include "row_distance.h"

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
    return last; /* rounding left all sums below u * total */
}

enum { BLOCK = 4096 }; /* rows whose weights are summed separately, by any thread */

typedef struct seeder {
    int64_t n, d;
    ts_points points;
    double *newest;  /* [d] the row chosen last */
    double *nearest; /* [n] squared distance to the nearest chosen row */
    int64_t *owner;  /* [n] the number of that row among those chosen */
    double *apart;   /* [k] squared distances from the newest row to those chosen before it */
    int64_t blocks;
    double *sum;       /* [blocks] sums of `nearest` */
    int64_t *farthest; /* [blocks] the first row with the greatest `nearest` */
    ts_rng rng;
} seeder;

/* Writes the rows of a block that may be nearer to the newest row, number `count`, and returns how many. By the
 * triangle inequality a row is at least as far from the newest as the newest is from the row's owner, less the row's
 * own distance to that owner: most rows need not even be read. */
TS_CLONES static int64_t find_open(const seeder *s, int64_t first, int64_t end, int64_t count, int32_t *open) {
    const double clearly = 4 * (1 + 1e-6);
    int64_t found = 0;
    for (int64_t i = first; i < end; i++) {
        open[found] = (int32_t)(i - first);
        found += count == 0 || !(s->apart[s->owner[i]] >= clearly * s->nearest[i]);
    }
    return found;
}

static inline void fetch(const ts_points *points, int64_t row) {
    enum { LINE = 64 };
    const size_t size = points->exact != NULL ? sizeof(double) : sizeof(ts_real), bytes = (size_t)points->d * size;
    const char *x = (points->exact != NULL ? (const char *)points->exact : (const char *)points->real);
    for (size_t at = 0; at < bytes; at += LINE) __builtin_prefetch(x + (size_t)row * bytes + at);
}

TS_CLONES static void measure(const seeder *s, int64_t first, const int32_t *open, int64_t found, int64_t count) {
    enum { AHEAD = 16 };
    for (int64_t l = 0; l < found; l++) {
        const int64_t i = first + open[l];
        fetch(&s->points, first + open[l + AHEAD < found ? l + AHEAD : l]);
        const double distance = ts_squared_distance(&s->points, i, NULL, s->newest);
        if (distance < s->nearest[i]) s->nearest[i] = distance, s->owner[i] = count;
    }
}

static void update_block(const seeder *s, int64_t block, int64_t count) {
    const int64_t first = block * BLOCK, end = s->n - first < BLOCK ? s->n : first + BLOCK;
    int64_t farthest = first;
    int32_t open[BLOCK];
    double sum = 0;
    measure(s, first, open, find_open(s, first, end, count, open), count);
    for (int64_t i = first; i < end; i++) {
        sum += s->nearest[i];
        if (s->nearest[i] > s->nearest[farthest]) farthest = i;
    }
    s->sum[block] = sum;
    s->farthest[block] = farthest;
}

/* Takes the newest chosen row, number `count`, into account. */
static void update_nearest(const seeder *s, const int64_t *rows, int64_t count) {
    for (int64_t a = 0; a < s->d; a++) s->newest[a] = ts_point_at(&s->points, rows[count], a);
    for (int64_t j = 0; j < count; j++) s->apart[j] = ts_squared_distance(&s->points, rows[j], NULL, s->newest);
#pragma omp parallel for schedule(static) if (ts_worth_parallel(s->n * s->d))
    for (int64_t block = 0; block < s->blocks; block++) update_block(s, block, count);
}

/* Draws a row not among rows[0..count-1] uniformly: the r-th of the others, which is r plus the chosen rows before it.
 */
static int64_t draw_unchosen(const seeder *s, const int64_t *rows, int64_t count) {
    const int64_t r = ts_rng_below(s->rng, (uint64_t)count, s->n - count);
    int64_t row = r, last = -1;
    while (row != last) {
        last = row;
        row = r;
        for (int64_t j = 0; j < count; j++) row += rows[j] <= last;
    }
    return row;
}

/* Draws a row with probability proportional to its weight: first a block, then a row of it. */
static int64_t draw_weighted(const seeder *s, double u) {
    double total = 0, before = 0;
    for (int64_t b = 0; b < s->blocks; b++) total += s->sum[b];
    const int64_t block = ts_pick_weighted(s->blocks, s->sum, u), first = block * BLOCK;
    for (int64_t b = 0; b < block; b++) before += s->sum[b];
    const int64_t rows = s->n - first < BLOCK ? s->n - first : BLOCK;
    return first + ts_pick_weighted(rows, s->nearest + first, (u * total - before) / s->sum[block]);
}

static int64_t next_row(const seeder *s, ts_seeding seeding, const int64_t *rows, int64_t count) {
    int64_t farthest = s->farthest[0];
    for (int64_t b = 1; b < s->blocks; b++)
        if (s->nearest[s->farthest[b]] > s->nearest[farthest]) farthest = s->farthest[b];
    if (!(s->nearest[farthest] > 0)) return draw_unchosen(s, rows, count); /* every row equals a chosen row */
    if (seeding == TS_SEED_GONZALEZ) return farthest;
    return draw_weighted(s, ts_rng_uniform(s->rng, (uint64_t)count));
}

static bool take_memory(seeder *s, int64_t k) {
    const size_t n = (size_t)s->n, blocks = (size_t)s->blocks;
    s->newest = malloc((size_t)s->d * sizeof *s->newest);
    s->nearest = malloc(n * sizeof *s->nearest);
    s->owner = malloc(n * sizeof *s->owner);
    s->apart = malloc((size_t)k * sizeof *s->apart);
    s->sum = malloc(blocks * sizeof *s->sum);
    s->farthest = malloc(blocks * sizeof *s->farthest);
    return s->newest && s->nearest && s->owner && s->apart && s->sum && s->farthest;
}

static void release(seeder *s) {
    free(s->newest);
    free(s->nearest);
    free(s->owner);
    free(s->apart);
    free(s->sum);
    free(s->farthest);
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

ts_status ts_seed_rows(ts_seeding seeding, const ts_points *points, int64_t k, int64_t first, uint64_t seed,
                       int64_t *rows, ts_error *error) {
    const int64_t n = points->n;
    if (k < 1 || k > n || first >= n)
        return ts_error_set(error, TS_ERROR_VALUE, "k = %lld centres cannot be chosen among %lld rows", (long long)k,
                            (long long)n);
    seeder s = {.n = n, .d = points->d, .points = *points, .blocks = (n + BLOCK - 1) / BLOCK};
    s.rng = (ts_rng){seed, ts_rng_stream("seeding"), 0};
    if (seeding == TS_SEED_RANDOM) return random_rows(n, k, s.rng, rows, error);
    if (seeding == TS_SEED_FIRST) {
        for (int64_t j = 0; j < k; j++) rows[j] = j;
        return TS_OK;
    }
    const bool room = take_memory(&s, k);
    for (int64_t i = 0; room && i < n; i++) s.nearest[i] = INFINITY;
    rows[0] = first >= 0 ? first : ts_rng_below(s.rng, 0, n);
    for (int64_t j = 1; room && j < k; j++) {
        update_nearest(&s, rows, j - 1);
        rows[j] = next_row(&s, seeding, rows, j);
    }
    release(&s);
    return room ? TS_OK : ts_error_set(error, TS_ERROR_MEMORY, "out of memory for the initial centres");
}
