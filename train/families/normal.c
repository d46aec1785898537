/* normal.c: normal noise, by Box-Muller. */
#include "../../autograd/parallel.h"
#include "../../autograd/series.h"
#include "../family.h"

TS_CLONES void ts_noise_normal(int64_t pairs, double *values) {
#pragma omp simd
    for (int64_t i = 0; i < pairs; i++) {
        const double radius = sqrt(-2 * series_log(values[i]));
        const series_point c = series_circle(values[pairs + i]);
        values[i] = radius * c.cosine;
        values[pairs + i] = radius * c.sine;
    }
}

const ts_family_type ts_normal_family = {.name = "normal", .summary = "normal", .noise = ts_noise_normal};
