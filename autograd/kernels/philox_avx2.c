/* Random numbers in registers of 32 bytes. */
#define SIMD_BYTES 32
#define KERNELS ts_philox_kernels_avx2
#include "philox_body.h"
