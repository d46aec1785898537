/* parallel.c: the parallel loop, and the detection of forked children (parallel.h). */
#include "parallel.h"

int64_t ts_parallel_cutoff = 200000;

void ts_for_each(int64_t items, int64_t steps, ts_item_fn *run, const void *call) {
    if (!ts_worth_parallel(steps)) {
        for (int64_t item = 0; item < items; item++) run(call, item);
        return;
    }
    enum { SHARES = 8 }; /* chunks per thread, so that slower threads can take fewer */
    const int64_t shares = SHARES * ts_max_threads(), chunk = items > shares ? items / shares : 1;
#pragma omp parallel for schedule(dynamic, chunk)
    for (int64_t item = 0; item < items; item++) run(call, item);
    (void)chunk; /* unused without OpenMP */
}

/* ---- forked children ----------------------------------------------------------------------------------------- */

#ifdef _OPENMP
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool ts_threads_are_lost;
static bool had_threads; /* before the latest fork */

/* Whether this process has a single thread; false if that cannot be read. The number of threads is field 20 of
 * /proc/self/stat, the 18th after the program's name in parentheses. */
static bool is_single(void) {
    char text[1024];
    const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (size <= 0) return false;
    text[size] = '\0';
    const char *at = strrchr(text, ')');
    for (int field = 0; field < 18 && at != NULL; field++) at = strchr(at + 1, ' ');
    return at != NULL && strtol(at, NULL, 10) == 1;
}

static void before_fork(void) {
    had_threads = !is_single();
}

static void in_child(void) {
    ts_threads_are_lost = ts_threads_are_lost || had_threads;
}

__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(before_fork, NULL, in_child);
}
#endif
