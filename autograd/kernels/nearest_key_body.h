/* nearest_key_body.h: the filter of nearest_key.h on one block of rows, compiled once for each instruction set by the
 * file that defines SIMD_BYTES and KERNELS, the kernel's name.
 *
 * Rows lie side by side in vectors, so that a score is one lane of a vector, and keeping the best keys needs no
 * operation across lanes. */
#include <math.h>

#include "nearest_key_kernels.h"
#include "simd_product.h"

enum {
    BLOCK_VECS = TS_NEAREST_ROWS / LANES,
    TILE_KEYS = 64 /* the scores of this many keys stay in the first-level cache */
};

/* The search so far, with one lane for each row of the block. */
typedef struct block_state {
    vec squares[BLOCK_VECS];                   /* ||a||^2 */
    vec least[BLOCK_VECS], second[BLOCK_VECS]; /* the two least scores */
    vec_int nearest[BLOCK_VECS];
} block_state;

/* lanes[c][r] = x[r][c] - middle[c] for LANES rows; returns their squared lengths. */
SIMD_INLINE vec center_rows(const ts_nearest_keys *s, const ts_real *x, ts_real *lanes) {
    const int64_t d = s->d;
    vec squares = vec_all(0);
    int64_t c = 0;
#if SIMD_QUADS > 0
    for (; c + 4 <= d; c += 4) {
        vec a[4];
        load_columns(x + c, d, a);
        for (int i = 0; i < 4; i++) {
            a[i] -= s->middle[c + i];
            squares += a[i] * a[i];
            vec_store(lanes + (c + i) * TS_NEAREST_ROWS, a[i]);
        }
    }
#endif
    for (; c < d; c++) {
        ts_real column[LANES];
        for (int l = 0; l < LANES; l++) column[l] = x[l * d + c];
        const vec a = vec_load(column) - s->middle[c];
        squares += a * a;
        vec_store(lanes + c * TS_NEAREST_ROWS, a);
    }
    return squares;
}

/* Prefetches the next block, which the processor does not foresee while it computes this one. */
static void fetch(const ts_real *x, int64_t count) {
    enum { LINE = 64 / (int)sizeof(ts_real) };
    for (int64_t i = 0; i < count; i += LINE) __builtin_prefetch(x + i);
}

static void begin(const ts_nearest_keys *s, int64_t ahead, const ts_real *x, ts_real *lanes, block_state *b) {
    for (int v = 0; v < BLOCK_VECS; v++) {
        const int64_t first = v * LANES, next = TS_NEAREST_ROWS + first;
        if (ahead >= first + LANES) fetch(x + next * s->d, LANES * s->d);
        b->squares[v] = center_rows(s, x + first * s->d, lanes + first);
        b->least[v] = b->second[v] = vec_all(INFINITY);
        b->nearest[v] = (vec_int){0};
    }
}

/* Updates the search with the scores [count,rows] of keys first .. first+count-1. */
static void compare(int64_t first, int64_t count, const ts_real *scores, block_state *b) {
    for (int v = 0; v < BLOCK_VECS; v++) {
        vec least = b->least[v], second = b->second[v];
        vec_int nearest = b->nearest[v];
        for (int64_t j = 0; j < count; j++) {
            const vec score = vec_load(scores + j * TS_NEAREST_ROWS + v * LANES);
            second = vec_min(second, vec_max(least, score));
            nearest = vec_pick_less(score, least, (simd_int)(first + j) - (vec_int){0}, nearest);
            least = vec_min(least, score);
        }
        b->least[v] = least, b->second[v] = second, b->nearest[v] = nearest;
    }
}

/* nearest = the nearest key, or -1 where the second-least score does not exceed the limit or the limit is NaN. */
static void settle(const ts_nearest_keys *s, const block_state *b, ts_real *limits, int32_t *nearest) {
    for (int v = 0; v < BLOCK_VECS; v++) {
        const vec limit = b->least[v] + (b->squares[v] * 4 * (s->slope / 4) + s->constant);
        const vec_int settled = vec_pick_less(limit, b->second[v], b->nearest[v], (vec_int){0} - 1);
        simd_int index[LANES];
        memcpy(index, &settled, sizeof index);
        vec_store(limits + v * LANES, limit);
        for (int l = 0; l < LANES; l++) nearest[v * LANES + l] = (int32_t)index[l];
    }
}

static void find_block(const ts_nearest_keys *s, int64_t rows, int64_t ahead, const ts_real *x,
                       const ts_nearest_work *w, int32_t *nearest) {
    int32_t all[TS_NEAREST_ROWS];
    block_state b;
    if (rows < TS_NEAREST_ROWS) {
        memcpy(w->padded, x, (size_t)(rows * s->d) * sizeof *x);
        memset(w->padded + rows * s->d, 0, (size_t)((TS_NEAREST_ROWS - rows) * s->d) * sizeof *x);
        x = w->padded;
    }
    begin(s, ahead, x, w->lanes, &b);
    for (int64_t j = 0; j < s->k; j += TILE_KEYS) {
        const int64_t count = s->k - j < TILE_KEYS ? s->k - j : TILE_KEYS;
        ts_real *scores = w->scores + j * TS_NEAREST_ROWS;
        multiply(&(product){.rows = count,
                            .vecs = BLOCK_VECS,
                            .depth = s->d,
                            .a = s->factors + j * s->d,
                            .a_row = s->d,
                            .a_step = 1,
                            .b = w->lanes,
                            .b_step = TS_NEAREST_ROWS,
                            .c = scores,
                            .c_step = TS_NEAREST_ROWS,
                            .start = s->offsets + j});
        compare(j, count, scores, &b);
    }
    settle(s, &b, w->limits, rows < TS_NEAREST_ROWS ? all : nearest);
    if (rows < TS_NEAREST_ROWS) memcpy(nearest, all, (size_t)rows * sizeof *nearest);
}

const ts_nearest_kernel KERNELS = find_block;
