/* bench_attention: fast attention against the processor's own limit, in one run.
 *
 *     build/bench/bench_attention [runs [cpu|wall [map [masked]]]]        default 9 wall softmax
 *
 * First the multiply-adds per second of registers alone, on one thread and on all; then forward and backward passes,
 * with and without dropout, as medians, in useful operations: 4 B n m e forward, 10 B n m e backward. The limit is
 * measured again beside every run, so that a busy machine moves both. TESSERA_ISA=base or avx2 measures narrower
 * registers, OMP_NUM_THREADS fewer threads. With "cpu", for one thread on a machine that others use, time is the
 * process's own. Maps are softmax, sparsemax, hardmax and linear; "masked" puts a mask of ones before them. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../autograd/kernels/fast_attention.h"
#include "../autograd/kernels/isa.h"
#include "../autograd/kernels/parallel.h"

enum { MAX_RUNS = 101, CHAINS = 12, MAPS = 4 };

static const char *const maps[] = {"softmax", "sparsemax", "hardmax", "linear"}; /* in the order of ts_fast_map */

static bool by_processor, masked;
static int map;

static double now(void) {
    struct timespec t;
    clock_gettime(by_processor ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n) {
    qsort(x, (size_t)n, sizeof *x, compare);
    return x[n / 2];
}

/* ---- the limit --------------------------------------------------------------------------------------------------- */

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

static double peak(int64_t times, float *out) {
#if defined(__x86_64__)
    if (strcmp(ts_isa_name(ts_isa_in_use()), "avx512") == 0) return peak_avx512(times, out);
    if (strcmp(ts_isa_name(ts_isa_in_use()), "avx2") == 0) return peak_avx2(times, out);
#endif
    return peak_base(times, out);
}

/* GFLOP/s of all threads, or of one. */
static double limit(int threads) {
    const int64_t times = 1 << 18;
    double work = 0;
    (void)threads; /* without OpenMP there is one */
    const double start = now();
#pragma omp parallel num_threads(threads) reduction(+ : work)
    {
        float out[3] = {0.5f, 0.25f, 0};
        for (int i = 0; i < 4; i++) work += peak(times, out);
        if (out[2] < 0) work = 0;
    }
    return work / (now() - start) * 1e-9;
}

/* ---- attention --------------------------------------------------------------------------------------------------- */

static ts_real *numbers(int64_t count, uint32_t stream) {
    ts_real *x = malloc((size_t)count * sizeof *x);
    if (x == NULL) exit(1);
    for (int64_t i = 0; i < count; i++) x[i] = (ts_real)(ts_rng_uniform((ts_rng){1, stream, 0}, (uint64_t)i) - 0.5);
    return x;
}

static void measure(int64_t b, int64_t n, int64_t m, int64_t e, double dropout, int runs) {
    ts_fast_attention a = {.batches = b, .n = n, .m = m, .e = e, .f = e, .euclidean = true, .gamma = 0.2};
    a.map = (ts_fast_map)map, a.dropout = dropout, a.wants_grad = true;
    ts_real *q = numbers(b * n * e, 1), *k = numbers(b * m * e, 2), *v = numbers(b * m * e, 3);
    ts_real *dy = numbers(b * n * e, 4), *mask = masked ? numbers(b * n * m, 6) : NULL;
    for (int64_t i = 0; i < b * n * m && masked; i++) mask[i] = 1;
    a.q = q, a.k = k, a.v = v, a.dy = dy, a.mask = mask, a.y = numbers(b * n * e, 5), a.stats = numbers(2 * b * n, 5);
    a.dq = numbers(b * n * e, 5), a.dk = numbers(b * m * e, 5), a.dv = numbers(b * m * e, 5);
    void *scratch = aligned_alloc(64, (ts_fast_attention_scratch(&a) + 63) / 64 * 64);
    if (scratch == NULL) exit(1);
    const double work = (double)(b * n * m * e) * 1e-9;
    double ms[2][MAX_RUNS], share[2][MAX_RUNS], all[MAX_RUNS];
    for (int r = -1; r < runs; r++) { /* run -1 warms up */
        const double top = limit(ts_max_threads()), start = now();
        ts_fast_attention_forward(&a, scratch);
        const double middle = now();
        ts_fast_attention_backward(&a, scratch);
        const double end = now();
        if (r < 0) continue;
        all[r] = top, ms[0][r] = (middle - start) * 1e3, ms[1][r] = (end - middle) * 1e3;
        share[0][r] = 4 * work / (middle - start) / top, share[1][r] = 10 * work / (end - middle) / top;
    }
    const double forward = median(ms[0], runs), backward = median(ms[1], runs);
    printf("%3d %5d %5d %4d %8g %10.0f %10.2f %8.0f %6.0f%% %10.2f %8.0f %6.0f%%\n", (int)b, (int)n, (int)m, (int)e,
           dropout, median(all, runs), forward, 4e3 * work / forward, 100 * median(share[0], runs), backward,
           1e4 * work / backward, 100 * median(share[1], runs));
    free(q), free(k), free(v), free(dy), free(mask), free(a.y), free(a.stats), free(a.dq), free(a.dk), free(a.dv),
        free(scratch);
}

int main(int argc, char **argv) {
    static const int shapes[][4] = {
        {32, 512, 512, 42}, {32, 128, 128, 42}, {32, 512, 512, 10}, {32, 512, 10, 42}, {32, 10, 512, 42}};
    const int runs = argc > 1 ? atoi(argv[1]) : 9;
    by_processor = argc > 2 && strcmp(argv[2], "cpu") == 0;
    while (argc > 3 && map < MAPS && strcmp(maps[map], argv[3]) != 0) map++;
    masked = argc > 4;
    if (runs < 1 || runs > MAX_RUNS || map == MAPS) {
        fprintf(stderr, "usage: bench_attention [runs [cpu|wall [map [masked]]]]\n");
        return 2;
    }
    double one[MAX_RUNS], all[MAX_RUNS];
    for (int r = 0; r < runs; r++) one[r] = limit(1), all[r] = limit(ts_max_threads());
    printf("%s, %s%s, median of %d runs; limit %.0f GFLOP/s on 1 thread, %.0f on %d\n", ts_isa_name(ts_isa_in_use()),
           maps[map], masked ? " masked" : "", runs, median(one, runs), median(all, runs), ts_max_threads());
    printf("  B     n     m    e  dropout limit now  forward ms  GFLOP/s share backward ms  GFLOP/s  share\n");
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int drops = 0; drops < 2; drops++)
            measure(shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3], drops ? 0.01 : 0, runs);
    return 0;
}
