/* The filter of nearest_key.h in registers of 32 bytes. */
#define SIMD_BYTES 32
#define KERNELS ts_nearest_kernels_avx2
#include "nearest_key_body.h"
