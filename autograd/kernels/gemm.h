/* gemm.h: products of dense matrices, by kernels of the instruction set in use (isa.h).
 *
 * The sum over the inner index is taken in runs of 256, which are added in order, with any number of threads: the value
 * of an element depends only on its row, its column and the inner length.
 *
 * A factor that is an upstream gradient is marked as such: a 0 in it adds 0, whatever it is multiplied by (upstream.h).
 * This has no measurable cost: an infinity or NaN in the other factor spoils a whole row or column of sums, so the
 * first column or row of a block shows whether the block must be computed again with care. */
#ifndef TS_GEMM_H
#define TS_GEMM_H

#include "grid.h"

/* Element (i,j) of matrix t of a tensor is data[t * size + i * row + j * col]. */
typedef struct ts_matrices {
    const ts_real *data;
    ts_grid grid;
    int64_t size, row, col;
} ts_matrices;

/* For every matrix t of c's grid: c_t [m,n] = (or +=) bias + the sum of a_s [m,k] b_s [k,n] over the batches s of
 * `full` that t serves. 2mnk flops per batch. */
typedef struct ts_product {
    int64_t m, n, k;
    ts_grid full, c_grid;
    ts_matrices a, b;
    const ts_real *bias; /* [n], added once; NULL: zeros */
    ts_real *c;
    bool add;        /* c += instead of c = */
    bool dy_a, dy_b; /* this factor is an upstream gradient; not both */
} ts_product;

void ts_product_compute(const ts_product *p);

#endif
