/* gemm_body.h: the kernel for one block of a product of matrices, compiled once for each instruction set by the file
 * that defines SIMD_BYTES and KERNELS, the kernel's name.
 *
 * b is packed into whole, padded vectors, TS_GEMM_DEPTH rows at a time. a is read in place, as a tile takes single
 * numbers of it at any stride; it is packed only at strides where its lines would evict each other from the first-level
 * cache. Sums are taken in whole vectors, BUFFER_ROWS rows at a time; the block's own columns of them go to c. */
#include "gemm_kernels.h"
#include "simd_nonzero.h"

enum {
    BUFFER_ROWS = 48,
    ALIASING = 64 /* numbers; lines at multiples of this distance share few sets of the cache */
};

static int64_t whole_vectors(int64_t n) {
    return (n + LANES - 1) / LANES * LANES;
}

/* packed[l][j] = b[first + l][j]; columns t->cols .. width-1 only affect sums that are not used. */
static void pack_b(const ts_gemm_block *t, int64_t first, int64_t depth, int64_t width, ts_real *packed) {
    const ts_real *b = t->b + first * t->b_row;
    const int64_t tail = t->cols - (width - LANES); /* columns in the last vector */
    if (t->b_col == 1) {
        for (int64_t l = 0; l < depth; l++, b += t->b_row, packed += width) {
            for (int64_t j = 0; j < width - LANES; j += LANES) vec_store(packed + j, vec_load(b + j));
            vec_store(packed + width - LANES, vec_load_part(b + width - LANES, tail));
        }
        return;
    }
    if (t->b_row == 1)
        transpose(b, t->b_col, t->cols, depth, packed, width, false, 1);
    else
        for (int64_t l = 0; l < depth; l++)
            for (int64_t j = 0; j < t->cols; j++) packed[l * width + j] = b[l * t->b_row + j * t->b_col];
    for (int64_t l = 0; l < depth; l++)
        for (int64_t j = t->cols; j < width; j++) packed[l * width + j] = 0;
}

/* packed[l][i] = a[i][first + l] */
static void pack_a(const ts_gemm_block *t, int64_t first, int64_t depth, ts_real *packed) {
    const ts_real *a = t->a + first * t->a_col;
    if (t->a_col == 1)
        transpose(a, t->a_row, t->rows, depth, packed, t->rows, false, 1);
    else
        for (int64_t l = 0; l < depth; l++)
            for (int64_t i = 0; i < t->rows; i++) packed[l * t->rows + i] = a[i * t->a_row + l * t->a_col];
}

static bool aliases(const ts_gemm_block *t) {
    return t->rows > TILE_ROWS && (t->a_row % ALIASING == 0 || t->a_col % ALIASING == 0);
}

/* c = (or +=) bias + sums; `add` and `biased` are compile-time constants. */
SIMD_INLINE void finish(const ts_gemm_block *t, int64_t width, const ts_real *sums, const bool add, const bool biased) {
    const int64_t last = width - LANES, tail = t->cols - last;
    const vec last_bias = biased ? vec_load_part(t->bias + last, tail) : (vec){0};
    for (int64_t i = 0; i < t->rows; i++, sums += width) {
        ts_real *c = t->c + i * t->c_row;
        for (int64_t j = 0; j < last; j += LANES) {
            const vec s = biased ? vec_load(sums + j) + vec_load(t->bias + j) : vec_load(sums + j);
            vec_store(c + j, add ? vec_load(c + j) + s : s);
        }
        const vec s = biased ? vec_load(sums + last) + last_bias : vec_load(sums + last);
        vec_store_part(c + last, tail, add ? vec_load_part(c + last, tail) + s : s);
    }
}

/* Whether the factor beside an upstream gradient holds infinities or NaN. One in b spoils a whole column of sums, which
 * shows in the first row; one in a spoils a whole row, which shows in the first column. */
static bool is_spoilt(const ts_gemm_block *t, int64_t width, const ts_real *sums) {
    int nonfinite = 0;
    for (int64_t i = 0; i < t->rows && t->dy_b; i++) nonfinite |= !(sums[i * width] - sums[i * width] == 0);
    return nonfinite || (t->dy_a && !is_finite(sums, t->cols));
}

/* Multiplies the rows of t, at most BUFFER_ROWS, over the inner indices first .. first+depth-1. */
static void multiply_rows(const ts_gemm_block *t, int64_t first, int64_t depth, int64_t width,
                          const ts_real *packed_b) {
    ts_real packed_a[BUFFER_ROWS * TS_GEMM_DEPTH], sums[BUFFER_ROWS * TS_GEMM_COLS];
    product p = {.rows = t->rows, .vecs = width / LANES, .depth = depth, .b = packed_b, .b_step = width};
    p.a = t->a + first * t->a_col, p.a_row = t->a_row, p.a_step = t->a_col;
    p.c = sums, p.c_step = width;
    if (aliases(t)) {
        pack_a(t, first, depth, packed_a);
        p.a = packed_a, p.a_row = 1, p.a_step = t->rows;
    }
    multiply(&p);
    if (is_spoilt(t, width, sums)) multiply_nonzero(&p, t->dy_a, t->dy_b);
    if (t->bias != NULL)
        t->add ? finish(t, width, sums, true, true) : finish(t, width, sums, false, true);
    else
        t->add ? finish(t, width, sums, true, false) : finish(t, width, sums, false, false);
}

static void multiply_block(const ts_gemm_block *t) {
    const int64_t width = whole_vectors(t->cols);
    ts_real packed_b[TS_GEMM_COLS * TS_GEMM_DEPTH];
    int64_t first = 0;
    do {
        const int64_t depth = t->depth - first < TS_GEMM_DEPTH ? t->depth - first : TS_GEMM_DEPTH;
        pack_b(t, first, depth, width, packed_b);
        for (int64_t i = 0; i < t->rows; i += BUFFER_ROWS) {
            ts_gemm_block part = *t;
            part.rows = t->rows - i < BUFFER_ROWS ? t->rows - i : BUFFER_ROWS;
            part.a += i * t->a_row;
            part.c += i * t->c_row;
            if (first > 0) part.bias = NULL, part.add = true;
            multiply_rows(&part, first, depth, width, packed_b);
        }
        first += depth;
    } while (first < t->depth);
}

const ts_gemm_kernel KERNELS = multiply_block;
