/* parallel.h: threads, and the loops' one rule.
 *
 * Threads divide OUTPUTS; what is summed is summed in an order that depends on shapes only. So every kernel gives the
 * same bits at any number of threads. */
#ifndef TS_PARALLEL_H
#define TS_PARALLEL_H

#ifdef _OPENMP
#include <omp.h>
static inline int ts_max_threads(void) {
    return omp_get_max_threads();
}
static inline int ts_thread(void) {
    return omp_get_thread_num();
}
static inline int ts_in_parallel(void) {
    return omp_in_parallel();
}
#else
static inline int ts_max_threads(void) {
    return 1;
}
static inline int ts_thread(void) {
    return 0;
}
static inline int ts_in_parallel(void) {
    return 0;
}
#endif

/* Fewer elementary steps than this are not worth waking the threads for. */
enum { TS_PARALLEL_CUTOFF = 16384 };

/* A hot loop compiled for several vector widths, the best chosen when the program starts. Only widths differ: no
 * reassociation and no fused multiply-add, so the results are the same on all of them. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(TS_NO_CLONES)
#define TS_CLONES __attribute__((noinline, target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TS_CLONES
#endif

#endif
