#include "bench_peak.h"

#include <stdbool.h>
#include <stdlib.h>

#include "../autograd/isa.h"
#include "../autograd/parallel.h"
#include "../cli/common/progress.h"

/* ---- multiply-adds ----------------------------------------------------------------------------------------------- */

enum { CHAINS = 12 };

/* Twelve chains of x = x y + z, all different lest the compiler merge them, enough to hide each other's waiting;
 * returns the operations done. */
#define PEAK(name, bytes, attribute)                                                \
    attribute static double peak_##name(int64_t times, float *out) {                \
        typedef float vec __attribute__((vector_size(bytes)));                      \
        enum { WIDTH = (bytes) / sizeof(float) };                                   \
        vec x0 = {1}, x1 = {2}, x2 = {3}, x3 = {4}, x4 = {5}, x5 = {6};             \
        vec x6 = {7}, x7 = {8}, x8 = {9}, x9 = {10}, x10 = {11}, x11 = {12};        \
        const vec y = out[0] - (vec){0}, z = out[1] - (vec){0};                     \
        for (int64_t i = 0; i < times; i++) {                                       \
            x0 = x0 * y + z, x1 = x1 * y + z, x2 = x2 * y + z, x3 = x3 * y + z;     \
            x4 = x4 * y + z, x5 = x5 * y + z, x6 = x6 * y + z, x7 = x7 * y + z;     \
            x8 = x8 * y + z, x9 = x9 * y + z, x10 = x10 * y + z, x11 = x11 * y + z; \
        }                                                                           \
        x0 += x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10 + x11;               \
        out[2] = x0[0];                                                             \
        return 2.0 * CHAINS * WIDTH * (double)times;                                \
    }
PEAK(base, 16, )
#if defined(__x86_64__)
PEAK(avx2, 32, __attribute__((target("avx2,fma"))))
PEAK(avx512, 64, __attribute__((target("avx512f"))))
#endif

static double operations(int64_t times, float *out) {
#if defined(__x86_64__)
    if (ts_isa_in_use() == TS_ISA_AVX512) return peak_avx512(times, out);
    if (ts_isa_in_use() == TS_ISA_AVX2) return peak_avx2(times, out);
#endif
    return peak_base(times, out);
}

double cli_bench_peak(int threads) {
    const int64_t times = 1 << 20;
    double work = 0;
    (void)threads; /* without OpenMP there is one */
    const double began = cli_seconds();
#pragma omp parallel num_threads(threads) reduction(+ : work)
    {
        float out[3] = {0.5f, 0.25f, 0};
        work += operations(times, out);
        if (out[2] < 0) work = 0; /* never: but the compiler does not know */
    }
    return work / (cli_seconds() - began) * 1e-9;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

enum { ARRAYS = 3 };

/* Three arrays of so many floats, each part written first by the thread that will use it: memory that was never written
 * is one page of zeros, which comes from the cache; and pages lie with the processor that wrote them first. */
static bool make_arrays(float *array[ARRAYS], int64_t count, int threads) {
    bool room = true;
    (void)threads;
    for (int i = 0; i < ARRAYS; i++) {
        free(array[i]);
        array[i] = malloc((size_t)count * sizeof *array[i]);
        room = room && array[i] != NULL;
    }
    for (int i = 0; i < ARRAYS && !room; i++) {
        free(array[i]);
        array[i] = NULL;
    }
    if (!room) return false;
    float *x = array[0], *y = array[1], *z = array[2];
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < count; i++) x[i] = 0, y[i] = 1, z[i] = (float)(i % 8);
    return true;
}

double cli_bench_bandwidth(int threads, int64_t megabytes) {
    static float *array[ARRAYS];
    static int64_t held;
    static int held_by;
    const int64_t count = megabytes * 1000000 / (int64_t)sizeof(float);
    if (held != count || held_by != threads) {
        held = make_arrays(array, count, threads) ? count : 0;
        held_by = threads;
    }
    if (held == 0) return 0;
    float *restrict x = array[0];
    const float *restrict y = array[1], *restrict z = array[2];
    const double began = cli_seconds();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < count; i++) x[i] = y[i] + 3 * z[i];
    return ARRAYS * (double)count * (double)sizeof(float) / (cli_seconds() - began) * 1e-9;
}
