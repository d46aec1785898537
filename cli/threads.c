#include "threads.h"

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
