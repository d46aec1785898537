/* The kernels of gemm.h in registers of 64 bytes. */
#define SIMD_BYTES 64
#define KERNELS ts_gemm_kernels_avx512
#include "gemm_body.h"
