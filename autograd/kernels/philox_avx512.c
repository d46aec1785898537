/* Random numbers in registers of 64 bytes. */
#define SIMD_BYTES 64
#define KERNELS ts_philox_kernels_avx512
#include "philox_body.h"
