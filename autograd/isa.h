/* isa.h: the choice between kernels that are compiled once for each instruction set.
 *
 * "base" is what every processor of the architecture has; "avx2" (with FMA) and "avx512" exist only on x86-64, when the
 * compiler supports them (TS_HAVE_AVX2, TS_HAVE_AVX512). The widest set that the processor has is used, or the set that
 * the environment variable TESSERA_ISA names if that is narrower; the choice is made once. Results have the same bits
 * with any number of threads, but not on every instruction set: the wider ones round x y + z once. */
#ifndef TS_ISA_H
#define TS_ISA_H

#include <stdbool.h>

#include "double_names.h"

typedef enum ts_isa { TS_ISA_BASE, TS_ISA_AVX2, TS_ISA_AVX512, TS_ISAS } ts_isa;

ts_isa ts_isa_in_use(void);
const char *ts_isa_name(ts_isa isa);

/* For tests and measurements: uses the named set (NULL: the widest) from now on; false when this build or processor
 * lacks it. Must not be called while another thread computes. */
bool ts_isa_use(const char *name);

/* A table of kernels, one entry for each instruction set, NULL for a set that was not compiled. */
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
