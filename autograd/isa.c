/* isa.c: which instruction set is in use (isa.h). */
#include "isa.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[TS_ISAS] = {"base", "avx2", "avx512"};

static bool is_here(ts_isa isa) {
    if (isa == TS_ISA_BASE) return true;
#ifdef TS_HAVE_AVX2
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (isa == TS_ISA_AVX2) return avx2;
#ifdef TS_HAVE_AVX512
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
#endif
    return false;
}

static ts_isa widest(const char *no_wider_than) {
    ts_isa best = TS_ISA_BASE;
    for (ts_isa isa = TS_ISA_BASE; isa < TS_ISAS; isa++) {
        if (is_here(isa)) best = isa;
        if (no_wider_than != NULL && strcmp(names[isa], no_wider_than) == 0) break;
    }
    return best;
}

static atomic_int chosen = -1;

ts_isa ts_isa_in_use(void) {
    int isa = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (isa < 0) {
        isa = (int)widest(getenv("TESSERA_ISA"));
        atomic_store_explicit(&chosen, isa, memory_order_relaxed);
    }
    return (ts_isa)isa;
}

const char *ts_isa_name(ts_isa isa) {
    return names[isa];
}

bool ts_isa_use(const char *name) {
    const ts_isa isa = widest(name);
    if (name != NULL && strcmp(names[isa], name) != 0) return false;
    atomic_store_explicit(&chosen, (int)isa, memory_order_relaxed);
    return true;
}
