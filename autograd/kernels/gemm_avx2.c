/* The kernels of gemm.h in registers of 32 bytes. */
#define SIMD_BYTES 32
#define KERNELS ts_gemm_kernels_avx2
#include "gemm_body.h"
