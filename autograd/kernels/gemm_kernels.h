/* gemm_kernels.h: what gemm.c, which shares out the work, and the kernels of each instruction set, which do it, know of
 * each other. */
#ifndef TS_GEMM_KERNELS_H
#define TS_GEMM_KERNELS_H

#include "../tensor.h"

/* The widest block, and how much of the inner length is summed at a time. */
enum { TS_GEMM_COLS = 96, TS_GEMM_DEPTH = 256 };

/* c[i][j] (+)= bias[j] + sum_l a[i][l] b[l][j], where x[i][j] is x[i * x_row + j * x_col]. */
typedef struct ts_gemm_block {
    int64_t rows, cols, depth;   /* cols at most TS_GEMM_COLS; depth 0 is an empty sum */
    const ts_real *a, *b, *bias; /* bias [cols]; NULL: zeros */
    int64_t a_row, a_col, b_row, b_col;
    ts_real *c;
    int64_t c_row;
    bool add;        /* to what is in c */
    bool dy_a, dy_b; /* a zero of that factor counts for nothing, whatever it meets; not both */
} ts_gemm_block;

typedef void (*ts_gemm_kernel)(const ts_gemm_block *block);

extern const ts_gemm_kernel ts_gemm_kernels_base;
/* Those of the wider sets are there as isa.h says. */
extern const ts_gemm_kernel ts_gemm_kernels_avx2, ts_gemm_kernels_avx512;

#endif
