/* philox_kernels.h: the interface between rng.c and the kernels of each instruction set. */
#ifndef TS_PHILOX_KERNELS_H
#define TS_PHILOX_KERNELS_H

#include <stdint.h>

#include "../double_names.h"

enum { TS_PHILOX_ROUNDS = 10, TS_PHILOX_BLOCK = 64 };

typedef struct ts_philox_keys {
    uint64_t step, stream;                /* the upper half of the counters */
    uint64_t round[2 * TS_PHILOX_ROUNDS]; /* two 32-bit keys for each round */
} ts_philox_keys;

/* u[i] and v[i], i < TS_PHILOX_BLOCK, become the two uniforms of element first + i * stride. */
typedef void (*ts_philox_kernel)(const ts_philox_keys *keys, uint64_t first, uint64_t stride, double *u, double *v);

extern const ts_philox_kernel ts_philox_kernels_base;
/* Only where TS_HAVE_AVX2 and TS_HAVE_AVX512 are defined (isa.h). */
extern const ts_philox_kernel ts_philox_kernels_avx2, ts_philox_kernels_avx512;

#endif
