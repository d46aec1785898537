#include "threads.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

void cli_set_threads(int64_t threads) {
#ifdef _OPENMP
    if (threads > 0) omp_set_num_threads((int)threads);
#else
    (void)threads;
#endif
}

#if defined(_OPENMP) && defined(__linux__)
/* How long waiting threads spin: of GCC's OpenMP in turns of a loop, these some tenths of a millisecond, and of
 * LLVM's in milliseconds. */
static const char *const waiting[][2] = {{"GOMP_SPINCOUNT", "10000"}, {"KMP_BLOCKTIME", "0"}};
enum { WAITING = sizeof waiting / sizeof *waiting };

static void forget_waiting(void) {
    for (int i = 0; i < WAITING; i++) unsetenv(waiting[i][0]);
}

void cli_wait_briefly(char **words) {
    static const char mark[] = "TESSERA_WAITS_BRIEFLY";
    if (getenv(mark) != NULL) { /* started anew: what it starts itself finds the environment as it was */
        unsetenv(mark);
        forget_waiting();
        return;
    }
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    bool told = getenv("OMP_WAIT_POLICY") != NULL;
    for (int i = 0; i < WAITING; i++) told = told || getenv(waiting[i][0]) != NULL;
    if (length <= 0 || told) return;
    path[length] = '\0';
    bool set = setenv(mark, "", 1) == 0;
    for (int i = 0; i < WAITING; i++) set = set && setenv(waiting[i][0], waiting[i][1], 1) == 0;
    if (set) execv(path, words);
    unsetenv(mark);
    forget_waiting();
}
#else
void cli_wait_briefly(char **words) {
    (void)words;
}
#endif

int cli_threads_used(void) {
    int threads = 1;
#pragma omp parallel
    {
#pragma omp single
        {
#ifdef _OPENMP
            threads = omp_get_num_threads();
#endif
        }
    }
    return threads;
}

int cli_processors(void) {
#ifdef _OPENMP
    return omp_get_num_procs();
#else
    return 1;
#endif
}

int cli_threads(void) {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}
