/* laplace.c: Laplace noise, with a peak and heavier tails. */
#include "../../autograd/parallel.h"
#include "../../autograd/series.h"
#include "../family.h"

/* The distance from u to the nearer end of (0,1): exact in the tails, where u - 1/2 would lose digits. */
static inline double tail_of(double u) {
    return u < 0.5 ? u : 1 - u;
}

TS_CLONES static void noise(int64_t pairs, double *values) {
#pragma omp simd
    for (int64_t i = 0; i < 2 * pairs; i++) values[i] = copysign(series_log(2 * tail_of(values[i])), values[i] - 0.5);
}

const ts_family_type ts_laplace_family = {.name = "laplace", .summary = "laplace", .noise = noise};
