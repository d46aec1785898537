#include "threads.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef __linux__
#include <sys/auxv.h>
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

/* Would a new start run something else? The loader, where it was named as the program; or nothing under valgrind, which
 * loses sight of a program that starts another. */
static bool starts_anew_elsewhere(void) {
    const char *preloaded = getenv("LD_PRELOAD");
    return getauxval(AT_BASE) == 0 || (preloaded != NULL && strstr(preloaded, "vgpreload") != NULL);
}

void cli_wait_briefly(char **words) {
    static const char mark[] = "TESSERA_WAITS_BRIEFLY";
    char path[4096], me[32];
    const char *marked = getenv(mark);
    snprintf(me, sizeof me, "%ld", (long)getpid()); /* the same after a new start */
    if (marked != NULL) {
        const bool anew = strcmp(marked, me) == 0;
        unsetenv(mark);
        if (anew) forget_waiting(); /* what it starts itself finds the environment as it was */
        if (anew) return;
    }
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    bool told = getenv("OMP_WAIT_POLICY") != NULL;
    for (int i = 0; i < WAITING; i++) told = told || getenv(waiting[i][0]) != NULL;
    if (length <= 0 || told || starts_anew_elsewhere()) return;
    path[length] = '\0';
    bool set = setenv(mark, me, 1) == 0;
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
