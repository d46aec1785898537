/* gemm.c: cuts products of matrices into blocks for the threads (gemm.h). */
#include "gemm.h"

#include <string.h>

#include "../isa.h"
#include "../parallel.h"
#include "gemm_kernels.h"

static const ts_gemm_kernel *const kernels[TS_ISAS] = TS_ISA_TABLE(ts_gemm_kernels);

static const ts_real *matrix_of(const ts_matrices *x, int64_t t, int64_t i, int64_t j) {
    return x->data + t * x->size + i * x->row + j * x->col;
}

/* A product cut into blocks. */
typedef struct call {
    const ts_product *p;
    ts_gemm_kernel kernel;
    int64_t rows, down, across; /* rows of a block; blocks of a matrix, down and across */
} call;

/* Computes one block of a matrix of c: the sum over the batches that the matrix serves, in order. */
static void compute_block(const void *context, int64_t item) {
    const call *k = context;
    const ts_product *p = k->p;
    const int64_t t = item / (k->down * k->across), i = item / k->across % k->down * k->rows;
    const int64_t j = item % k->across * TS_GEMM_COLS;
    const ts_batch_range range = ts_batches_of(p->full, p->c_grid, t);
    ts_gemm_block block = {.rows = p->m - i < k->rows ? p->m - i : k->rows,
                           .cols = p->n - j < TS_GEMM_COLS ? p->n - j : TS_GEMM_COLS,
                           .depth = p->k,
                           .bias = p->bias == NULL ? NULL : p->bias + j,
                           .a_row = p->a.row,
                           .a_col = p->a.col,
                           .b_row = p->b.row,
                           .b_col = p->b.col,
                           .c = p->c + (t * p->m + i) * p->n + j,
                           .c_row = p->n,
                           .add = p->add,
                           .dy_a = p->dy_a,
                           .dy_b = p->dy_b};
    for (int64_t s0 = range.from[0]; s0 < range.to[0]; s0++)
        for (int64_t s1 = range.from[1]; s1 < range.to[1]; s1++) {
            block.a = matrix_of(&p->a, ts_grid_at(p->a.grid, s0, s1), i, 0);
            block.b = matrix_of(&p->b, ts_grid_at(p->b.grid, s0, s1), 0, j);
            k->kernel(&block);
            block.add = true, block.bias = NULL;
        }
}

/* Blocks get fewer rows when there would otherwise be too few blocks for all threads. */
static int64_t rows_of_block(const ts_product *p, int64_t matrices, int64_t across) {
    enum { MOST = 192, LEAST = 24 };
    const int64_t wanted = ts_in_parallel() ? 1 : 4 * ts_max_threads();
    int64_t rows = MOST;
    while (rows > LEAST && matrices * across * ((p->m + rows - 1) / rows) < wanted) rows /= 2;
    return rows;
}

void ts_product_compute(const ts_product *p) {
    const int64_t matrices = ts_grid_count(p->c_grid), sources = ts_grid_count(p->full);
    call k = {.p = p, .kernel = *kernels[ts_isa_in_use()], .across = (p->n + TS_GEMM_COLS - 1) / TS_GEMM_COLS};
    k.rows = rows_of_block(p, matrices, k.across);
    k.down = (p->m + k.rows - 1) / k.rows;
    if (sources == 0 && !p->add && matrices > 0) memset(p->c, 0, (size_t)(matrices * p->m * p->n) * sizeof *p->c);
    const int64_t steps = sources * p->m * p->n * (p->k / TS_VECTOR_STEPS + 1);
    if (sources > 0) ts_for_each(matrices * k.down * k.across, steps, compute_block, &k);
}
