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

int cli_threads(void) {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}
