/* isa.h: kernels compiled once for each instruction set, and which of them run.
 *
 * "base" is what every processor of the architecture has; "avx2" (with FMA) and "avx512" are there on x86-64 when the
 * compiler knows them. The widest that the processor has is used, or the environment's TESSERA_ISA if that is narrower,
 * found once. Results have the same bits at any number of threads, not on every instruction set: the wider ones round
 * x y + z once. */
#ifndef TS_ISA_H
#define TS_ISA_H

#include <stdbool.h>

#include "double_names.h"

typedef enum ts_isa { TS_ISA_BASE, TS_ISA_AVX2, TS_ISA_AVX512, TS_ISAS } ts_isa;

ts_isa ts_isa_in_use(void);
const char *ts_isa_name(ts_isa isa);

/* For tests and measurements: uses the one named (NULL: the widest again) from now on; false when there is none here.
 * Not while another thread computes. */
bool ts_isa_use(const char *name);

/* A table of kernels, one entry for each instruction set; NULL where there is none. */
#if defined(TS_HAVE_AVX2) && defined(TS_HAVE_AVX512)
#define TS_ISA_TABLE(name) \
    { &name##_base, &name##_avx2, &name##_avx512 }
#elif defined(TS_HAVE_AVX2)
#define TS_ISA_TABLE(name) \
    { &name##_base, &name##_avx2, NULL }
#else
#define TS_ISA_TABLE(name) \
    { &name##_base, NULL, NULL }
#endif

#endif
