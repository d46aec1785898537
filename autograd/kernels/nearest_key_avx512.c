/* The filter of nearest_key.h in registers of 64 bytes. */
#define SIMD_BYTES 64
#define KERNELS ts_nearest_kernels_avx512
#include "nearest_key_body.h"
