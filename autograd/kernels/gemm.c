#include "gemm.h"

#include "parallel.h"

/* A tile of TILE_ROWS x TILE_COLS elements of c is held in registers while the inner index runs. Before that DEPTH
 * columns of a and DEPTH rows of b are packed into the order in which the tiles read them, padded with zeros. */
enum {
    TILE_ROWS = 6,
    TILE_COLS = 16,
    DEPTH = 256,
    BLOCK_ROWS = 48,
    SMALL_ROWS = 24,
    BLOCK_COLS = 256,
    SMALL_COLS = 64
};

typedef struct view {
    const ts_real *data;
    int64_t row, col;
} view;

typedef struct block {
    int64_t rows, cols, k;
    view a, b;
    ts_real *c;
    int64_t c_step;
} block;

/* packed[tile][l][r] */
static inline void pack_a(const block *t, int64_t l0, int64_t depth, ts_real *packed) {
    for (int64_t i = 0; i < t->rows; i += TILE_ROWS, packed += depth * TILE_ROWS)
        for (int64_t r = 0; r < TILE_ROWS; r++) {
            const bool padding = i + r >= t->rows;
            const ts_real *a = t->a.data + (padding ? 0 : (i + r) * t->a.row + l0 * t->a.col);
            for (int64_t l = 0; l < depth; l++) packed[l * TILE_ROWS + r] = padding ? 0 : a[l * t->a.col];
        }
}

/* packed[l][c] for the tile of columns that begins at j. */
static inline void pack_b(const block *t, int64_t l0, int64_t depth, int64_t j, ts_real *packed) {
    const int64_t width = t->cols - j < TILE_COLS ? t->cols - j : TILE_COLS;
    const ts_real *b = t->b.data + l0 * t->b.row + j * t->b.col;
    if (width == TILE_COLS && t->b.col == 1)
        for (int64_t l = 0; l < depth; l++)
            for (int64_t c = 0; c < TILE_COLS; c++) packed[l * TILE_COLS + c] = b[l * t->b.row + c];
    else
        for (int64_t c = 0; c < TILE_COLS; c++)
            for (int64_t l = 0; l < depth; l++)
                packed[l * TILE_COLS + c] = c < width ? b[l * t->b.row + c * t->b.col] : 0;
}

static inline void multiply_tile(int64_t depth, const ts_real *restrict a, const ts_real *restrict b, int64_t b_step,
                                 ts_real *restrict sum) {
    ts_real s[TILE_ROWS][TILE_COLS] = {{0}};
    for (int64_t l = 0; l < depth; l++, a += TILE_ROWS, b += b_step)
        for (int r = 0; r < TILE_ROWS; r++) {
            const ts_real x = a[r];
#pragma omp simd
            for (int c = 0; c < TILE_COLS; c++) s[r][c] += x * b[c];
        }
    for (int r = 0; r < TILE_ROWS; r++)
        for (int c = 0; c < TILE_COLS; c++) sum[r * TILE_COLS + c] = s[r][c];
}

static inline void add_tile(const block *t, int64_t i, int64_t j, const ts_real *sum) {
    const int64_t rows = t->rows - i < TILE_ROWS ? t->rows - i : TILE_ROWS;
    const int64_t cols = t->cols - j < TILE_COLS ? t->cols - j : TILE_COLS;
    for (int64_t r = 0; r < rows; r++) {
        ts_real *c = t->c + (i + r) * t->c_step + j;
        for (int64_t q = 0; q < cols; q++) c[q] += sum[r * TILE_COLS + q];
    }
}

/* c += a b for a block of at most BLOCK_ROWS rows. */
TS_CLONES static void multiply_block(const block *t) {
    ts_real packed_a[BLOCK_ROWS * DEPTH], packed_b[TILE_COLS * DEPTH], sum[TILE_ROWS * TILE_COLS];
    for (int64_t l = 0; l < t->k; l += DEPTH) {
        const int64_t depth = t->k - l < DEPTH ? t->k - l : DEPTH;
        pack_a(t, l, depth, packed_a);
        for (int64_t j = 0; j < t->cols; j += TILE_COLS) {
            const bool as_it_is = t->b.col == 1 && t->rows <= TILE_ROWS && t->cols - j >= TILE_COLS;
            if (!as_it_is) pack_b(t, l, depth, j, packed_b);
            const ts_real *b = as_it_is ? t->b.data + l * t->b.row + j : packed_b;
            const int64_t b_step = as_it_is ? t->b.row : TILE_COLS;
            for (int64_t i = 0; i < t->rows; i += TILE_ROWS) {
                multiply_tile(depth, packed_a + i * depth, b, b_step, sum);
                add_tile(t, i, j, sum);
            }
        }
    }
}

static view view_of(const ts_matrices *x, int64_t t, int64_t i, int64_t j) {
    return (view){x->data + t * x->size + i * x->row + j * x->col, x->row, x->col};
}

/* One block of matrix t of c, from every batch it serves, in order. */
static void add_block(const ts_product *p, int64_t t, int64_t i, int64_t rows, int64_t j, int64_t cols) {
    const ts_batch_range range = ts_batches_of(p->full, p->c_grid, t);
    block one = {.rows = p->m - i < rows ? p->m - i : rows, .cols = p->n - j < cols ? p->n - j : cols, .k = p->k};
    one.c = p->c + (t * p->m + i) * p->n + j;
    one.c_step = p->n;
    for (int64_t s0 = range.from[0]; s0 < range.to[0]; s0++)
        for (int64_t s1 = range.from[1]; s1 < range.to[1]; s1++) {
            one.a = view_of(&p->a, ts_grid_at(p->a.grid, s0, s1), i, 0);
            one.b = view_of(&p->b, ts_grid_at(p->b.grid, s0, s1), 0, j);
            multiply_block(&one);
        }
}

void ts_product_add(const ts_product *p) {
    const int64_t targets = ts_grid_count(p->c_grid), sources = ts_grid_count(p->full);
    const bool small = p->m * p->n <= 256 * 256;
    const int64_t rows = small ? SMALL_ROWS : BLOCK_ROWS, cols = small ? SMALL_COLS : BLOCK_COLS;
    const int64_t down = (p->m + rows - 1) / rows, across = (p->n + cols - 1) / cols;
    if (targets == 0 || sources == 0 || p->m == 0 || p->n == 0 || p->k == 0) return;
#pragma omp parallel for schedule(dynamic) if (sources * p->m * p->n * p->k > TS_PARALLEL_CUTOFF)
    for (int64_t item = 0; item < targets * down * across; item++) {
        const int64_t t = item / (down * across), i = item / across % down * rows, j = item % across * cols;
        add_block(p, t, i, rows, j, cols);
    }
}
