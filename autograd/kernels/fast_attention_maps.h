/* fast_attention_maps.h: the row maps of fast attention as functions of vectors of rows, see fast_attention_map.h. A
 * statistic starts at SIMD_LOWEST; a score of -inf has weight 0 under every map, and a NaN score has weight NaN. */
#ifndef TS_FAST_ATTENTION_MAPS_H
#define TS_FAST_ATTENTION_MAPS_H

#include "fast_attention_sparsemax.h"

/* ---- softmax: 2^(s - max) ---------------------------------------------------------------------------------------- */

#define softmax_statistic largest

SIMD_INLINE vec softmax_shrink(vec before, vec now) {
    return vec_exp2(before - now);
}

SIMD_INLINE vec softmax_weight(vec s, vec max) {
    return vec_exp2(s - max);
}

SIMD_INLINE vec softmax_slope(vec s, vec weight, vec max, vec d) {
    (void)s, (void)max;
    return vec_times(weight, d);
}

#define MAP softmax
#include "fast_attention_map.h"

/* ---- hardmax: 1 where s = max ------------------------------------------------------------------------------------ */

#define hardmax_statistic largest

SIMD_INLINE vec hardmax_shrink(vec before, vec now) {
    return vec_where(before == now, vec_all(1));
}

SIMD_INLINE vec hardmax_weight(vec s, vec max) {
    const vec below = s - max; /* 0, less or NaN */
    return vec_where(~(below < (vec){0}), below + 1);
}

SIMD_INLINE vec hardmax_slope(vec s, vec weight, vec max, vec d) {
    (void)s, (void)weight, (void)max, (void)d;
    return (vec){0};
}

#define MAP hardmax
#include "fast_attention_map.h"

/* ---- linear: s; once the maximum is +inf, 1 where s is that and 0 elsewhere -------------------------------------- */

#define linear_statistic largest

SIMD_INLINE vec linear_shrink(vec before, vec now) {
    const vec infinite = vec_all((ts_real)INFINITY);
    return vec_where(~((now == infinite) & (before < infinite)), vec_all(1));
}

SIMD_INLINE vec linear_weight(vec s, vec max) {
    const vec infinite = vec_all((ts_real)INFINITY);
    const vec_int shared = max == infinite;
    const vec share = vec_where(~(s < infinite), -vec_max(vec_all(-1), -s)); /* 1, 0 or NaN */
    return vec_where(shared, share) + vec_where(~shared & (s != -infinite), s);
}

SIMD_INLINE vec linear_slope(vec s, vec weight, vec max, vec d) {
    const vec infinite = vec_all((ts_real)INFINITY);
    (void)weight;
    return vec_where((max != infinite) & (s != -infinite), d);
}

#define MAP linear
#include "fast_attention_map.h"

/* ---- the table --------------------------------------------------------------------------------------------------- */

typedef struct row_map {
    /* Finds the statistics of a block's rows from all keys; NULL: weigh updates them tile by tile. */
    void (*find)(const ts_fast_task *task, const block *b, const workspace *w);
    void (*weigh)(const ts_fast_task *task, const block *b, const workspace *w, const key_tile *t);
    /* Finds what is subtracted from dP, for a map whose slopes do not depend on the sum of weights; NULL: it is dy.y.
     */
    void (*find_means)(const ts_fast_task *task, const block *b, const workspace *w, bool keep);
    void (*slopes)(const ts_fast_task *task, const block *b, const workspace *w, const key_tile *t, bool slopes);
} row_map;

static const row_map row_maps[] = {
    [TS_FAST_SOFTMAX] = {.weigh = softmax_weigh, .slopes = softmax_slopes},
    [TS_FAST_SPARSEMAX] = {.find = sparsemax_find,
                           .weigh = sparsemax_weigh,
                           .find_means = sparsemax_find_means,
                           .slopes = sparsemax_slopes},
    [TS_FAST_HARDMAX] = {.weigh = hardmax_weigh, .slopes = hardmax_slopes},
    [TS_FAST_LINEAR] = {.weigh = linear_weigh, .slopes = linear_slopes},
};

#endif
