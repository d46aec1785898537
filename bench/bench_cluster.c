/* bench_cluster: milliseconds a step of the exact transformer and of plain Lloyd, side by side in one run.
 *
 *     build/bench/bench_cluster [n d k [runs]]        defaults 1000000 32 10 7
 *
 * Prints the median and the range over runs, interleaved, of one step from random centres, and the tape's memory. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../autograd/rng.h"
#include "../models/circuit.h"
#include "../models/plain_lloyd.h"

enum { MAX_RUNS = 101 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, double *ms, int runs) {
    qsort(ms, (size_t)runs, sizeof *ms, compare);
    printf("%-12s %9.1f ms a step    (%.1f to %.1f)\n", name, ms[runs / 2], ms[0], ms[runs - 1]);
}

int main(int argc, char **argv) {
    const int64_t n = argc > 1 ? atoll(argv[1]) : 1000000, d = argc > 2 ? atoll(argv[2]) : 32;
    const int64_t k = argc > 3 ? atoll(argv[3]) : 10;
    const int runs = argc > 4 ? atoi(argv[4]) : 7;
    if (n < 1 || d < 1 || k < 1 || k > n || runs < 1 || runs > MAX_RUNS) {
        fprintf(stderr, "usage: bench_cluster [n d k [runs]]\n");
        return 2;
    }
    ts_real *x = malloc((size_t)(n * d) * sizeof *x);
    if (x == NULL) return 1;
    for (int64_t i = 0; i < n * d; i++) x[i] = (ts_real)ts_rng_uniform((ts_rng){1, 1, 1}, (uint64_t)i);
    const ts_problem problem = {.n = n, .d = d, .k = k, .points = x, .centers = x};
    const ts_definition definition = ts_lloyd_onehot(INFINITY, false);
    ts_error error = {.status = TS_OK};
    ts_circuit *circuit = ts_circuit_create(&definition, &problem, &error);
    ts_plain_lloyd *lloyd = ts_plain_lloyd_create(&problem, &error);
    double ms[2][MAX_RUNS];
    for (int r = -1; r < runs && error.status == TS_OK; r++) { /* run -1 warms up */
        const double start = now();
        ts_circuit_step(circuit, &error);
        const double middle = now();
        ts_plain_lloyd_step(lloyd, &error);
        if (r >= 0) ms[0][r] = middle - start, ms[1][r] = now() - middle;
    }
    if (error.status != TS_OK) {
        fprintf(stderr, "bench_cluster: %s\n", error.text);
        return 1;
    }
    printf("n = %lld, d = %lld, k = %lld, median of %d runs\n", (long long)n, (long long)d, (long long)k, runs);
    report("transformer", ms[0], runs);
    report("plain Lloyd", ms[1], runs);
    printf("tape memory  %9.1f MB = %.2f times the points\n", (double)ts_circuit_bytes(circuit) / 1e6,
           (double)ts_circuit_bytes(circuit) / (double)(n * d * (int64_t)sizeof(ts_real)));
    ts_circuit_free(circuit);
    ts_plain_lloyd_free(lloyd);
    free(x);
    return 0;
}
