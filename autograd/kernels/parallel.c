#include "parallel.h"

int64_t ts_parallel_cutoff = 200000;

void ts_for_each(int64_t items, int64_t steps, ts_item_fn *run, const void *call) {
    if (!ts_pays(steps)) {
        for (int64_t item = 0; item < items; item++) run(call, item);
        return;
    }
    enum { SHARES = 8 }; /* of every thread: the slower ones take fewer */
    const int64_t shares = SHARES * ts_max_threads(), chunk = items > shares ? items / shares : 1;
#pragma omp parallel for schedule(dynamic, chunk)
    for (int64_t item = 0; item < items; item++) run(call, item);
    (void)chunk; /* without OpenMP */
}
