#include "gemm.h"

#include <string.h>

#include "gemm_kernels.h"
#include "isa.h"
#include "parallel.h"

static const ts_gemm_kernel *const kernels[TS_ISAS] = TS_ISA_TABLE(ts_gemm_kernels);

static const ts_real *matrix_of(const ts_matrices *x, int64_t t, int64_t i, int64_t j) {
    return x->data + t * x->size + i * x->row + j * x->col;
}

/* One block of matrix t of c, from every batch it serves, in order. */
static void compute_block(const ts_product *p, ts_gemm_kernel kernel, int64_t t, int64_t i, int64_t rows, int64_t j) {
    const ts_batch_range range = ts_batches_of(p->full, p->c_grid, t);
    ts_gemm_block block = {.rows = p->m - i < rows ? p->m - i : rows,
                           .cols = p->n - j < TS_GEMM_COLS ? p->n - j : TS_GEMM_COLS,
                           .depth = p->k,
                           .bias = p->bias == NULL ? NULL : p->bias + j,
                           .a_row = p->a.row,
                           .a_col = p->a.col,
                           .b_row = p->b.row,
                           .b_col = p->b.col,
                           .c = p->c + (t * p->m + i) * p->n + j,
                           .c_row = p->n,
                           .add = p->add};
    for (int64_t s0 = range.from[0]; s0 < range.to[0]; s0++)
        for (int64_t s1 = range.from[1]; s1 < range.to[1]; s1++) {
            block.a = matrix_of(&p->a, ts_grid_at(p->a.grid, s0, s1), i, 0);
            block.b = matrix_of(&p->b, ts_grid_at(p->b.grid, s0, s1), 0, j);
            kernel(&block);
            block.add = true, block.bias = NULL;
        }
}

/* Fewer rows a block where there would not be enough blocks for all threads. */
static int64_t rows_of_block(const ts_product *p, int64_t targets, int64_t across) {
    enum { MOST = 192, LEAST = 24 };
    const int64_t wanted = ts_in_parallel() ? 1 : 4 * ts_max_threads();
    int64_t rows = MOST;
    while (rows > LEAST && targets * across * ((p->m + rows - 1) / rows) < wanted) rows /= 2;
    return rows;
}

void ts_product_compute(const ts_product *p) {
    const ts_gemm_kernel kernel = *kernels[ts_isa_in_use()];
    const int64_t targets = ts_grid_count(p->c_grid), sources = ts_grid_count(p->full);
    const int64_t across = (p->n + TS_GEMM_COLS - 1) / TS_GEMM_COLS, rows = rows_of_block(p, targets, across);
    const int64_t down = (p->m + rows - 1) / rows;
    if (sources == 0 && !p->add && targets > 0) memset(p->c, 0, (size_t)(targets * p->m * p->n) * sizeof *p->c);
    if (sources == 0) return;
#pragma omp parallel for schedule(dynamic) if (sources * p->m * p->n * (p->k + 1) > TS_PARALLEL_CUTOFF)
    for (int64_t item = 0; item < targets * down * across; item++) {
        const int64_t t = item / (down * across), i = item / across % down * rows;
        compute_block(p, kernel, t, i, rows, item % across * TS_GEMM_COLS);
    }
}
