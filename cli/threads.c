#include "threads.h"

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

void cli_wait_asleep(char **words) {
#if defined(_OPENMP) && defined(__linux__)
    static const char policy[] = "OMP_WAIT_POLICY", mark[] = "TESSERA_WAITS_ASLEEP";
    if (getenv(mark) != NULL) { /* started anew: what it starts itself finds the environment as it was */
        unsetenv(mark);
        unsetenv(policy);
        return;
    }
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0 || getenv(policy) != NULL || getenv("GOMP_SPINCOUNT") != NULL) return;
    path[length] = '\0';
    if (setenv(mark, "", 1) == 0 && setenv(policy, "passive", 1) == 0) execv(path, words);
    unsetenv(mark);
    unsetenv(policy);
#else
    (void)words;
#endif
}

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
