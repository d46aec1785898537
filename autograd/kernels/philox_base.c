/* Random numbers in registers of 16 bytes. */
#define SIMD_BYTES 16
#define KERNELS ts_philox_kernels_base
#include "philox_body.h"
