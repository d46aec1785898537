/* fast_attention_sparsemax.h: the threshold t of a row, sum_j [s_j - t]_+ = 1, and the mean of dP over its support.
 *
 * Newton's method on a convex, decreasing, piecewise linear function, started from below: t only grows, and stops once
 * no score has left the support, so there are fewer steps than scores, usually a few. A step that considers only some
 * of the keys ends below the threshold of all: the first pass takes one in every tile, while its scores are in cache.
 */
#ifndef TS_FAST_ATTENTION_SPARSEMAX_H
#define TS_FAST_ATTENTION_SPARSEMAX_H

#include "fast_attention_scores.h"

/* The threshold is found before the first weight and does not change. */
SIMD_INLINE vec sparsemax_statistic(const ts_real *s, int64_t step, int64_t keys, vec threshold) {
    (void)s, (void)step, (void)keys;
    return threshold;
}

SIMD_INLINE vec sparsemax_shrink(vec before, vec now) {
    (void)before, (void)now;
    return vec_all(1);
}

SIMD_INLINE vec sparsemax_weight(vec s, vec threshold) {
    return vec_max((vec){0}, s - threshold);
}

SIMD_INLINE vec sparsemax_slope(vec s, vec weight, vec threshold, vec d) {
    (void)s, (void)threshold;
    return vec_where(weight != (vec){0}, d);
}

#define MAP sparsemax
#include "fast_attention_map.h"

/* ---- the threshold ----------------------------------------------------------------------------------------------- */

enum { TOP, TOTAL, COUNT, LAST, LINES }; /* lines of SEARCH: maximum, sum, count, count of the last pass */

static ts_real *line(const block *b, const workspace *w, int which, int64_t v) {
    return w->buffer[SEARCH] + which * b->width + v * LANES;
}

/* Of the scores above the threshold: sum_j (s_j - t) and their number. */
typedef struct above {
    vec excess, count;
} above;

SIMD_INLINE above above_of(const ts_real *s, int64_t step, int64_t keys, vec threshold) {
    vec excess0 = {0}, excess1 = {0}, count0 = {0}, count1 = {0}; /* two of each hide latency */
    int64_t j = 0;
    for (; j + 2 <= keys; j += 2, s += 2 * step) {
        const vec x = vec_load(s) - threshold, y = vec_load(s + step) - threshold;
        excess0 += vec_where(x > (vec){0}, x), count0 += vec_where(x > (vec){0}, vec_all(1));
        excess1 += vec_where(y > (vec){0}, y), count1 += vec_where(y > (vec){0}, vec_all(1));
    }
    if (j < keys) {
        const vec x = vec_load(s) - threshold;
        excess0 += vec_where(x > (vec){0}, x), count0 += vec_where(x > (vec){0}, vec_all(1));
    }
    return (above){.excess = excess0 + excess1, .count = count0 + count1};
}

/* Where a step from `threshold` is taken: not where it rounds up to the maximum, which would leave no support. */
SIMD_INLINE vec_int grows(vec next, vec threshold, vec max) {
    return (next > threshold) & (next < max);
}

SIMD_INLINE vec choose(vec_int holds, vec x, vec y) {
    return (vec)(((vec_int)x & holds) | ((vec_int)y & ~holds));
}

/* A number below the threshold of any row with this maximum, and below the maximum itself however large that is. */
SIMD_INLINE vec lowest_threshold(vec max) {
    const ts_real last_digit = sizeof(ts_real) == sizeof(double) ? (ts_real)0x1p-52 : (ts_real)0x1p-23;
    const vec digit = vec_max(max, -max) * last_digit;
    return vec_max(vec_all(SIMD_LOWEST), max - vec_max(vec_all(1), digit));
}

static void first_look(const block *b, const workspace *w, const key_tile *t) {
    for (int64_t v = 0; v < b->vecs; v++) {
        const ts_real *s = t->scores + v * LANES;
        ts_real *threshold = w->buffer[STATISTICS] + v * LANES;
        const vec max = largest(s, b->width, t->keys, vec_load(line(b, w, TOP, v)));
        const vec from = vec_max(vec_load(threshold), lowest_threshold(max));
        const above a = above_of(s, b->width, t->keys, from);
        const vec next = from + (a.excess - 1) / a.count;
        vec_store(threshold, choose(grows(next, from, max), next, from));
        vec_store(line(b, w, TOP, v), max);
    }
}

static void look(const block *b, const workspace *w, const key_tile *t, const bool *moving) {
    for (int64_t v = 0; v < b->vecs; v++) {
        if (!moving[v]) continue;
        ts_real *total = line(b, w, TOTAL, v), *count = line(b, w, COUNT, v);
        const vec threshold = vec_load(w->buffer[STATISTICS] + v * LANES);
        const above a = above_of(t->scores + v * LANES, b->width, t->keys, threshold);
        vec_store(total, vec_load(total) + a.excess);
        vec_store(count, vec_load(count) + a.count);
    }
}

/* Takes a step in every row after a look at all keys; true while some row's support has shrunk. */
static bool take_steps(const block *b, const workspace *w, bool *moving) {
    bool any = false;
    for (int64_t v = 0; v < b->vecs; v++) {
        if (!moving[v]) continue;
        ts_real *threshold = w->buffer[STATISTICS] + v * LANES, *total = line(b, w, TOTAL, v);
        ts_real *count = line(b, w, COUNT, v), *last = line(b, w, LAST, v);
        const vec from = vec_load(threshold), counted = vec_load(count), max = vec_load(line(b, w, TOP, v));
        const vec next = from + (vec_load(total) - 1) / counted;
        const vec_int moves = grows(next, from, max) & (counted != vec_load(last));
        vec_store(threshold, choose(moves, next, from));
        vec_store(last, counted);
        vec_store(total, (vec){0});
        vec_store(count, (vec){0});
        moving[v] = false;
        for (int l = 0; l < LANES; l++) moving[v] = moving[v] || moves[l] != 0;
        any = any || moving[v];
    }
    return any;
}

static void sparsemax_find(const ts_fast_task *task, const block *b, const workspace *w) {
    const ts_fast_attention *a = task->a;
    const bool kept = keeps_scores(a);
    bool moving[BLOCK_VECS];
    for (int64_t v = 0; v < b->vecs; v++) {
        moving[v] = true;
        vec_store(line(b, w, TOP, v), vec_all(SIMD_LOWEST));
        vec_store(line(b, w, LAST, v), vec_all(-1));
        vec_store(line(b, w, TOTAL, v), (vec){0});
        vec_store(line(b, w, COUNT, v), (vec){0});
    }
    for (int64_t first = 0; first < a->m; first += TILE_KEYS) {
        const key_tile t = tile_at(b, w, first, a->m, kept, false);
        score(task, b, w, &t);
        first_look(b, w, &t);
    }
    do {
        for (int64_t first = 0; first < a->m; first += TILE_KEYS) {
            const key_tile t = tile_at(b, w, first, a->m, kept, false);
            if (!kept) score(task, b, w, &t);
            look(b, w, &t, moving);
        }
    } while (take_steps(b, w, moving));
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

/* Adds up dP over the support, and the size of the support. `drops` is a compile-time constant. */
SIMD_INLINE void add_support(const ts_fast_task *task, const block *b, const workspace *w, const key_tile *t, int64_t v,
                             const bool drops) {
    const vec threshold = vec_load(w->buffer[STATISTICS] + v * LANES);
    const uint32_t *columns = drops ? task->columns + t->first : NULL;
    const ts_real *s = t->scores + v * LANES, *d = t->slopes + v * LANES;
    vec sum = {0}, count = {0};
    for (int64_t j = 0; j < t->keys; j++, s += b->width, d += b->width) {
        const vec_int in = sparsemax_weight(vec_load(s), threshold) != (vec){0};
        const vec dp = vec_load(d);
        sum += vec_where(in, drops ? vec_where_at_least(draws(b->words[v], columns[j]), task->key.threshold, dp) : dp);
        count += vec_where(in, vec_all(1));
    }
    ts_real *total = line(b, w, TOTAL, v), *counted = line(b, w, COUNT, v);
    vec_store(total, vec_load(total) + sum);
    vec_store(counted, vec_load(counted) + count);
}

/* With `keep`, the scores and dP of all keys stay in the workspace. */
static void sparsemax_find_means(const ts_fast_task *task, const block *b, const workspace *w, bool keep) {
    const ts_fast_attention *a = task->a;
    memset(line(b, w, TOTAL, 0), 0, (size_t)b->width * sizeof(ts_real));
    memset(line(b, w, COUNT, 0), 0, (size_t)b->width * sizeof(ts_real));
    for (int64_t first = 0; first < a->m; first += TILE_KEYS) {
        const key_tile t = tile_at(b, w, first, a->m, keep, keep);
        score(task, b, w, &t);
        upstream(task, b, w, &t);
        for (int64_t v = 0; v < b->vecs; v++)
            if (task->drops)
                add_support(task, b, w, &t, v, true);
            else
                add_support(task, b, w, &t, v, false);
    }
    for (int64_t v = 0; v < b->vecs; v++) {
        const vec count = vec_load(line(b, w, COUNT, v)), mean = vec_load(line(b, w, TOTAL, v)) / count;
        vec_store(w->buffer[MEANS] + v * LANES, vec_where(count != (vec){0}, mean));
    }
}

#endif
