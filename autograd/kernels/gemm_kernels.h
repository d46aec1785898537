/* gemm_kernels.h: the interface between gemm.c, which divides the work, and the kernels of each instruction set. */
#ifndef TS_GEMM_KERNELS_H
#define TS_GEMM_KERNELS_H

#include "../tensor.h"

/* The greatest width of a block, and the number of inner indices that are summed at a time. */
enum { TS_GEMM_COLS = 96, TS_GEMM_DEPTH = 256 };

/* c[i][j] = (or +=) bias[j] + sum_l a[i][l] b[l][j], where x[i][j] is x[i * x_row + j * x_col], and c_col is 1. */
typedef struct ts_gemm_block {
    int64_t rows, cols, depth;   /* cols at most TS_GEMM_COLS; depth 0 is an empty sum */
    const ts_real *a, *b, *bias; /* bias [cols]; NULL: zeros */
    int64_t a_row, a_col, b_row, b_col;
    ts_real *c;
    int64_t c_row;
    bool add;        /* c += instead of c = */
    bool dy_a, dy_b; /* a zero of this factor adds 0, whatever it is multiplied by; not both */
} ts_gemm_block;

typedef void (*ts_gemm_kernel)(const ts_gemm_block *block);

extern const ts_gemm_kernel ts_gemm_kernels_base;
/* Only where TS_HAVE_AVX2 and TS_HAVE_AVX512 are defined (isa.h). */
extern const ts_gemm_kernel ts_gemm_kernels_avx2, ts_gemm_kernels_avx512;

#endif
