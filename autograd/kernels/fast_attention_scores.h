/* fast_attention_scores.h: the scores of a tile, a block of rows by at most TILE_KEYS keys. */
#ifndef TS_FAST_ATTENTION_SCORES_H
#define TS_FAST_ATTENTION_SCORES_H

#include <math.h>

#include "fast_attention_blocks.h"
#include "simd_nonzero.h"

typedef struct key_tile {
    int64_t first, keys;
    ts_real *scores, *slopes; /* [keys,rows] */
} key_tile;

/* The tile from key `first` on, of keys before `end`. With `scores`, or `slopes`, every tile has its own place for
 * them, where they are kept. */
static key_tile tile_at(const block *b, const workspace *w, int64_t first, int64_t end, bool scores, bool slopes) {
    return (key_tile){.first = first,
                      .keys = least(end - first, TILE_KEYS),
                      .scores = w->buffer[SCORES] + (scores ? first * b->width : 0),
                      .slopes = w->buffer[SLOPES] + (slopes ? first * b->width : 0)};
}

static void load_mask(const ts_fast_task *task, const block *b, const workspace *w, const key_tile *t) {
    to_lanes(task->a, b, task->a->mask + t->first, task->a->m, t->keys, w->buffer[MASK_LANES]);
}

/* Gives excluded keys the score -inf, hence the weight 0, whatever they hold. */
static void exclude(const ts_fast_task *task, const block *b, const workspace *w, const key_tile *t) {
    const ts_real *lanes = w->buffer[MASK_LANES];
    load_mask(task, b, w, t);
    const vec_int lowest = (vec_int)vec_all((ts_real)-INFINITY);
    for (int64_t i = 0; i < t->keys * b->width; i += LANES) {
        const vec_int seen = vec_load(lanes + i) != (vec){0};
        vec_store(t->scores + i, (vec)(((vec_int)vec_load(t->scores + i) & seen) | (lowest & ~seen)));
    }
}

/* Subtracts Q_NORMS, which scores lack so far; the result is at most 0. */
static void complete(const block *b, const workspace *w, const key_tile *t) {
    for (int64_t v = 0; v < b->width; v += LANES) {
        const vec norm = vec_load(w->buffer[Q_NORMS] + v);
        for (int64_t i = v; i < t->keys * b->width; i += b->width)
            vec_store(t->scores + i, -vec_max((vec){0}, norm - vec_load(t->scores + i)));
    }
}

static void score(const ts_fast_task *task, const block *b, const workspace *w, const key_tile *t) {
    const ts_fast_attention *a = task->a;
    multiply(&(product){.rows = t->keys,
                        .vecs = b->vecs,
                        .depth = a->e,
                        .a = task->keys + t->first * task->key_step,
                        .a_row = task->key_step,
                        .a_step = 1,
                        .b = w->buffer[Q_LANES],
                        .b_step = b->width,
                        .c = t->scores,
                        .c_step = b->width,
                        .start = task->bias == NULL ? NULL : task->bias + t->first});
    if (task->whole) complete(b, w, t);
    if (a->mask != NULL) exclude(task, b, w, t);
}

/* The largest of a tile's scores, or `start` if that is larger; NaN is ignored. */
static vec largest(const ts_real *s, int64_t step, int64_t keys, vec start) {
    vec m0 = start, m1 = start, m2 = start, m3 = start; /* four independent maxima hide latency */
    int64_t j = 0;
    for (; j + 4 <= keys; j += 4, s += 4 * step) {
        m0 = vec_max(vec_load(s), m0);
        m1 = vec_max(vec_load(s + step), m1);
        m2 = vec_max(vec_load(s + 2 * step), m2);
        m3 = vec_max(vec_load(s + 3 * step), m3);
    }
    for (; j < keys; j++, s += step) m0 = vec_max(vec_load(s), m0);
    return vec_max(vec_max(m0, m1), vec_max(m2, m3));
}

/* A product; in careful blocks zeros of the left factor (with `left`) and the right one (with `right`) add 0. */
static void multiply_block(const block *b, const product *p, bool left, bool right) {
    if (b->careful)
        multiply_nonzero(p, left, right);
    else
        multiply(p);
}

/* dP of the tile, divided by the row's sum of weights where slopes depend on it. */
static void upstream(const ts_fast_task *task, const block *b, const workspace *w, const key_tile *t) {
    const int64_t f = task->a->f;
    const product p = {.rows = t->keys,
                       .vecs = b->vecs,
                       .depth = f,
                       .a = task->values + t->first * f,
                       .a_row = f,
                       .a_step = 1,
                       .b = w->buffer[DY_LANES],
                       .b_step = b->width,
                       .c = t->slopes,
                       .c_step = b->width};
    multiply_block(b, &p, false, true);
}

/* The dropout draws of a vector of rows and one key: ts_drop in vectors. */
SIMD_INLINE vec_signed draws(vec_word row, uint32_t column) {
    const vec_word x = (row ^ column) * 0x7feb352du;
    return (vec_signed)((x ^ x >> 15) * 0x846ca68bu);
}

#endif
