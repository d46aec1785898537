/* simd_product.h: small products of dense matrices whose right factor consists of whole vectors. Included by kernels
 * compiled once for each instruction set, see simd.h.
 *
 * A tile of c, TILE_ROWS rows by TILE_VECS vectors, is held in registers while the inner index runs: the left factor
 * supplies one number per row, at any stride, and the right one TILE_VECS vectors. An element of c is summed from its
 * start value in the order of the inner index, so its bits do not depend on how rows and columns are cut into tiles. */
#ifndef TS_SIMD_PRODUCT_H
#define TS_SIMD_PRODUCT_H

#include "simd.h"

/* As many accumulators as the registers hold beside a row of the right factor and a number of the left one. */
#if SIMD_BYTES == 64
enum { TILE_ROWS = 8, TILE_VECS = 3 };
#define TILE_EACH_SIZE(X, v) X(1, v) X(2, v) X(3, v) X(4, v) X(5, v) X(6, v) X(7, v) X(8, v)
#elif SIMD_BYTES == 32
enum { TILE_ROWS = 6, TILE_VECS = 2 };
#define TILE_EACH_SIZE(X, v) X(1, v) X(2, v) X(3, v) X(4, v) X(5, v) X(6, v)
#else
enum { TILE_ROWS = 4, TILE_VECS = 2 };
#define TILE_EACH_SIZE(X, v) X(1, v) X(2, v) X(3, v) X(4, v)
#endif

/* c[i][j] = start[i] + sum_l a[i][l] b[l][j], or += with `add`. */
typedef struct product {
    int64_t rows, vecs, depth; /* c is [rows, vecs * LANES] */
    const ts_real *a;          /* a[i][l] is a[i * a_row + l * a_step] */
    int64_t a_row, a_step;
    const ts_real *b; /* whole vectors */
    int64_t b_step;
    ts_real *c;
    int64_t c_step;
    const ts_real *start; /* NULL: zeros */
    bool add;
} product;

#define TILE_EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

/* The accumulators are separate variables because an array of them is not always kept in registers. */
#define TILE_BEGIN(r)                                                 \
    const ts_real *a##r = p->a + (i + (r < rows ? r : 0)) * p->a_row; \
    vec s##r##0 = vec_all(p->start == NULL || r >= rows ? 0 : p->start[i + r]), s##r##1 = s##r##0, s##r##2 = s##r##0;
#define TILE_MULTIPLY(r)                 \
    if (r < rows) {                      \
        const vec x = vec_all(a##r[at]); \
        s##r##0 += x * b0;               \
        if (vecs > 1) s##r##1 += x * b1; \
        if (vecs > 2) s##r##2 += x * b2; \
    }
#define TILE_ADD(r)                                                    \
    if (r < rows) {                                                    \
        s##r##0 += vec_load(c + r * c_step);                           \
        if (vecs > 1) s##r##1 += vec_load(c + r * c_step + LANES);     \
        if (vecs > 2) s##r##2 += vec_load(c + r * c_step + 2 * LANES); \
    }
#define TILE_END(r)                                                   \
    if (r < rows) {                                                   \
        vec_store(c + r * c_step, s##r##0);                           \
        if (vecs > 1) vec_store(c + r * c_step + LANES, s##r##1);     \
        if (vecs > 2) vec_store(c + r * c_step + 2 * LANES, s##r##2); \
    }

/* rows and vecs are compile-time constants. */
SIMD_INLINE void tile(const product *p, int64_t i, int64_t j, const int rows, const int vecs) {
    TILE_EACH_ROW(TILE_BEGIN)
    const ts_real *b = p->b + j;
    int64_t at = 0;
    for (int64_t l = 0; l < p->depth; l++, at += p->a_step, b += p->b_step) {
        const vec b0 = vec_load(b), b1 = vecs > 1 ? vec_load(b + LANES) : b0;
        const vec b2 = vecs > 2 ? vec_load(b + 2 * LANES) : b0;
        TILE_EACH_ROW(TILE_MULTIPLY)
    }
    const int64_t c_step = p->c_step;
    ts_real *c = p->c + i * c_step + j;
    if (p->add) {
        TILE_EACH_ROW(TILE_ADD)
    }
    TILE_EACH_ROW(TILE_END)
}

typedef void (*tile_function)(const product *p, int64_t i, int64_t j);

#define TILE_OF(r, v)                                                    \
    static void tile_##r##_##v(const product *p, int64_t i, int64_t j) { \
        tile(p, i, j, r, v);                                             \
    }
#define TILE_ENTRY(r, v) tile_##r##_##v,

/* clang-format off */
TILE_EACH_SIZE(TILE_OF, 1)
TILE_EACH_SIZE(TILE_OF, 2)
#if SIMD_BYTES == 64
TILE_EACH_SIZE(TILE_OF, 3)
#endif
static const tile_function tiles[TILE_VECS][TILE_ROWS] = {
    {TILE_EACH_SIZE(TILE_ENTRY, 1)},
    {TILE_EACH_SIZE(TILE_ENTRY, 2)},
#if SIMD_BYTES == 64
    {TILE_EACH_SIZE(TILE_ENTRY, 3)},
#endif
};
/* clang-format on */

/* Rows and vectors are cut into tiles of nearly equal sizes: 42 rows make six tiles of seven, not five of eight and one
 * of two, which would leave the multipliers idle. */
static void multiply(const product *p) {
    const int64_t down = (p->rows + TILE_ROWS - 1) / TILE_ROWS, across = (p->vecs + TILE_VECS - 1) / TILE_VECS;
    for (int64_t x = 0; x < across; x++) {
        const int64_t j = x * p->vecs / across, vecs = (x + 1) * p->vecs / across - j;
        for (int64_t y = 0; y < down; y++) {
            const int64_t i = y * p->rows / down, rows = (y + 1) * p->rows / down - i;
            tiles[vecs - 1][rows - 1](p, i, j * LANES);
        }
    }
}

#endif
