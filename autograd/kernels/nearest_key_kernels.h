/* nearest_key_kernels.h: what nearest_key.c, which decides close cases, and the kernels of each instruction set, which
 * find them, know of each other. */
#ifndef TS_NEAREST_KEY_KERNELS_H
#define TS_NEAREST_KEY_KERNELS_H

#include "../tensor.h"

/* Rows of one call of a kernel. */
enum { TS_NEAREST_ROWS = 48 * (int)sizeof(float) / (int)sizeof(ts_real) };

typedef struct ts_nearest_keys {
    int64_t d, k;
    bool dot;
    double gamma;
    const double *keys;      /* [k,d] */
    const ts_real *middle;   /* [d] x - a */
    const ts_real *factors;  /* [k,d] -2 b, or -b */
    const ts_real *offsets;  /* [k] ||b||^2, or 0 */
    ts_real slope, constant; /* keys within slope A^2 + constant of the least score may be nearest */
} ts_nearest_keys;

/* A workspace. */
typedef struct ts_nearest_work {
    ts_real *lanes;  /* [d,TS_NEAREST_ROWS] a, transposed */
    ts_real *scores; /* [k,TS_NEAREST_ROWS] */
    ts_real *limits; /* [TS_NEAREST_ROWS] keys with higher scores are not nearest; maybe NaN */
    ts_real *padded; /* [TS_NEAREST_ROWS,d] rows, where there are fewer */
} ts_nearest_work;

/* nearest[i] of at most TS_NEAREST_ROWS rows, -1 where the scores leave more than one key. `ahead` rows more follow in
 * memory, and will be asked for next. */
typedef void (*ts_nearest_kernel)(const ts_nearest_keys *s, int64_t rows, int64_t ahead, const ts_real *x,
                                  const ts_nearest_work *w, int32_t *nearest);

extern const ts_nearest_kernel ts_nearest_kernels_base;
/* Those of the wider sets are there as isa.h says. */
extern const ts_nearest_kernel ts_nearest_kernels_avx2, ts_nearest_kernels_avx512;

#endif
