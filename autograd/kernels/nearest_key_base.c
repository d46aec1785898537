/* The filter of nearest_key.h in registers of 16 bytes. */
#define SIMD_BYTES 16
#define KERNELS ts_nearest_kernels_base
#include "nearest_key_body.h"
