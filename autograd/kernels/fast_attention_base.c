/* The kernels of fast attention in registers of 16 bytes. */
#define SIMD_BYTES 16
#define KERNELS ts_fast_kernels_base
#include "fast_attention_body.h"
