/* The kernels of gemm.h in registers of 16 bytes. */
#define SIMD_BYTES 16
#define KERNELS ts_gemm_kernels_base
#include "gemm_body.h"
