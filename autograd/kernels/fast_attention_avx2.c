/* The kernels of fast attention in registers of 32 bytes. */
#define SIMD_BYTES 32
#define KERNELS ts_fast_kernels_avx2
#include "fast_attention_body.h"
