/* parallel.h: threads, and the loops' one rule.
 *
 * Threads divide OUTPUTS; what is summed is summed in an order that depends on shapes only. So every kernel gives the
 * same bits at any number of threads. */
#ifndef TS_PARALLEL_H
#define TS_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

#include "double_names.h"

#ifdef _OPENMP
#include <omp.h>
/* In a child that was forked from a process with threads: fork copies only the one that calls it, and GCC's OpenMP
 * waits for the others for ever. There all work is done by one thread, so that no parallel region may be entered
 * without asking ts_max_threads or ts_pays. A child whose parent had not yet begun threads has its own, as many as it
 * likes. */
extern bool ts_threads_are_lost;

static inline int ts_max_threads(void) {
    return ts_threads_are_lost ? 1 : omp_get_max_threads();
}
static inline int ts_thread(void) {
    return omp_get_thread_num();
}
static inline bool ts_in_parallel(void) {
    return omp_in_parallel() != 0;
}
#else
static inline int ts_max_threads(void) {
    return 1;
}
static inline int ts_thread(void) {
    return 0;
}
static inline bool ts_in_parallel(void) {
    return false;
}
#endif

/* Fewer elementary steps than this, of a nanosecond or less each, are not worth waking the threads for: where other
 * work holds a core, a thread may take milliseconds to come. Tests lower it, so that small work meets threads. */
extern int64_t ts_parallel_cutoff;

/* Are there threads to wake for so many steps? Within a parallel region, where each thread has work of its own, there
 * are none; and a region of one thread, which is what an `if` clause makes, costs microseconds and calls to the kernel.
 */
static inline bool ts_pays(int64_t steps) {
    return steps > ts_parallel_cutoff && !ts_in_parallel() && ts_max_threads() > 1;
}

/* Are there threads to share out so many items among, each of them worth one? */
static inline bool ts_shares(int64_t items) {
    return items > 1 && ts_max_threads() > 1;
}

/* Multiplications and additions that kernels of products do in a step. */
enum { TS_VECTOR_STEPS = 32 };

/* run(call, 0) .. run(call, items - 1), by all threads if their `steps` pay, else in order. */
typedef void ts_item_fn(const void *call, int64_t item);
void ts_for_each(int64_t items, int64_t steps, ts_item_fn *run, const void *call);

/* A hot loop compiled for several vector widths, the best chosen when the program starts. Only widths differ: no
 * reassociation and no fused multiply-add, so the results are the same on all of them. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(TS_NO_CLONES)
#define TS_CLONES __attribute__((noinline, target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TS_CLONES
#endif

#endif
