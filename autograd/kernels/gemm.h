/* gemm.h: products of dense matrices, by kernels of the widest instruction set (isa.h).
 *
 * The sum over the inner length is taken in runs of 256, added up in order, whatever the threads: an element's value
 * depends on its row, its column and the inner length only.
 *
 * A factor that is an upstream gradient is named as such: a 0 in it counts for nothing, whatever it meets (upstream.h).
 * That costs nothing that can be measured: an infinity or NaN in the other factor spoils a row or a column of sums
 * whole, so a look at the first of each block tells whether the block has to be taken again with care. */
#ifndef TS_GEMM_H
#define TS_GEMM_H

#include "grid.h"

/* Element (i,j) of matrix t of a tensor is data[t * size + i * row + j * col]. */
typedef struct ts_matrices {
    const ts_real *data;
    ts_grid grid;
    int64_t size, row, col;
} ts_matrices;

/* For every matrix t of c's grid: c_t [m,n] (+)= bias + sum of a_s [m,k] b_s [k,n] over the batches s of `full` that t
 * serves. */
typedef struct ts_product {
    int64_t m, n, k;
    ts_grid full, c_grid;
    ts_matrices a, b;
    const ts_real *bias; /* [n], once; NULL: zeros */
    ts_real *c;
    bool add;        /* to what is in c */
    bool dy_a, dy_b; /* that factor is an upstream gradient; not both */
} ts_product;

void ts_product_compute(const ts_product *p);

#endif
