/* nearest_key_kernels.h: the interface between nearest_key.c, which decides close cases, and the kernels of each
 * instruction set, which find them. */
#ifndef TS_NEAREST_KEY_KERNELS_H
#define TS_NEAREST_KEY_KERNELS_H

#include "../tensor.h"

/* Rows in one call of a kernel. */
enum { TS_NEAREST_ROWS = 48 * (int)sizeof(float) / (int)sizeof(ts_real) };

typedef struct ts_nearest_keys {
    int64_t d, k;
    bool dot;
    double gamma;
    const double *keys;      /* [k,d] */
    const ts_real *middle;   /* [d] m, or by dot product 0: x - a */
    const ts_real *factors;  /* [k,d] -2 b, or by dot product -b */
    const ts_real *offsets;  /* [k] ||b||^2, or by dot product 0 */
    ts_real slope, constant; /* keys within slope A^2 + constant of the least score may be nearest */
} ts_nearest_keys;

/* One thread's workspace. */
typedef struct ts_nearest_work {
    ts_real *lanes;  /* [d,TS_NEAREST_ROWS] a, transposed */
    ts_real *scores; /* [k,TS_NEAREST_ROWS] */
    ts_real *limits; /* [TS_NEAREST_ROWS] keys with higher scores are not nearest; may be NaN */
    ts_real *padded; /* [TS_NEAREST_ROWS,d] copies of the rows when there are fewer */
} ts_nearest_work;

/* nearest[i] for at most TS_NEAREST_ROWS rows, -1 where the scores leave more than one key. `ahead` more rows follow in
 * memory and come next. */
typedef void (*ts_nearest_kernel)(const ts_nearest_keys *s, int64_t rows, int64_t ahead, const ts_real *x,
                                  const ts_nearest_work *w, int32_t *nearest);

extern const ts_nearest_kernel ts_nearest_kernels_base;
/* Only where TS_HAVE_AVX2 and TS_HAVE_AVX512 are defined (isa.h). */
extern const ts_nearest_kernel ts_nearest_kernels_avx2, ts_nearest_kernels_avx512;

#endif
