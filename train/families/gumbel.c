/* gumbel.c: Gumbel noise, -log(-log u): skewed. */
#include "../../autograd/parallel.h"
#include "../../autograd/series.h"
#include "../family.h"

TS_CLONES static void noise(int64_t pairs, double *values) {
#pragma omp simd
    for (int64_t i = 0; i < 2 * pairs; i++) values[i] = -series_log(-series_log(values[i]));
}

const ts_family_type ts_gumbel_family = {.name = "gumbel", .summary = "gumbel", .noise = noise};
