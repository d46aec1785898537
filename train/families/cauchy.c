/* cauchy.c: Cauchy noise, without mean or variance: tan(pi (u - 1/2)) = -1 / tan(pi u). */
#include "../../autograd/parallel.h"
#include "../../autograd/series.h"
#include "../family.h"

/* The distance from u to the nearer end of (0,1): exact in the tails, where u - 1/2 would lose digits. */
static inline double tail_of(double u) {
    return u < 0.5 ? u : 1 - u;
}

TS_CLONES static void noise(int64_t pairs, double *values) {
#pragma omp simd
    for (int64_t i = 0; i < 2 * pairs; i++) {
        const series_point c = series_circle(tail_of(values[i]) / 2);
        values[i] = copysign(c.cosine / c.sine, values[i] - 0.5);
    }
}

const ts_family_type ts_cauchy_family = {.name = "cauchy", .summary = "cauchy", .noise = noise};
