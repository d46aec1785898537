/* parallel.h: threads, and the one rule of parallel loops.
 *
 * Threads divide OUTPUTS, and every sum is taken in an order that depends on shapes only. So every kernel gives the
 * same bits with any number of threads. */
#ifndef TS_PARALLEL_H
#define TS_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

#include "double_names.h"

#ifdef _OPENMP
#include <omp.h>
/* True in a child forked from a process that had threads: fork copies only the calling thread, and GCC's OpenMP would
 * wait for the others forever. One thread then does all work, so no parallel region may be entered without asking
 * ts_max_threads, ts_worth_parallel or ts_can_share. A child whose parent had not started threads may start its own. */
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

/* The number of elementary steps, of a nanosecond or less each, up to which work is not worth waking the threads: where
 * other work holds a core, a thread may take milliseconds to start. Tests lower it, so that small work uses threads. */
extern int64_t ts_parallel_cutoff;

/* Is this much work worth a parallel region? Never within another region, where each thread has work of its own. When
 * the answer is used in an `if` clause, "no" still makes a region of one thread, which costs microseconds and system
 * calls; ts_for_each avoids that. */
static inline bool ts_worth_parallel(int64_t steps) {
    return steps > ts_parallel_cutoff && !ts_in_parallel() && ts_max_threads() > 1;
}

/* Are there several items, each large enough for a thread, and threads to divide them among? */
static inline bool ts_can_share(int64_t items) {
    return items > 1 && ts_max_threads() > 1;
}

/* Multiply-adds that the matrix product kernels do in one elementary step. */
enum { TS_VECTOR_STEPS = 32 };

/* run(call, 0) .. run(call, items - 1): by all threads if `steps`, the work of all items, pays; else in order. */
typedef void ts_item_fn(const void *call, int64_t item);
void ts_for_each(int64_t items, int64_t steps, ts_item_fn *run, const void *call);

/* Compiles a hot loop for several vector widths; the best is chosen when the program starts. Only the widths differ,
 * without reassociation or fused multiply-adds, so the results are the same for all of them. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(TS_NO_CLONES)
#define TS_CLONES __attribute__((noinline, target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TS_CLONES
#endif

#endif
