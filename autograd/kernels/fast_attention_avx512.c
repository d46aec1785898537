/* The kernels of fast attention in registers of 64 bytes. */
#define SIMD_BYTES 64
#define KERNELS ts_fast_kernels_avx512
#include "fast_attention_body.h"
