/* noise.c: vectorised draws from the families. */
#include "noise.h"

#include "../autograd/parallel.h"
#include "../autograd/series.h"

TS_CLONES void ts_noise_normal(int64_t pairs, double *values) {
#pragma omp simd
    for (int64_t i = 0; i < pairs; i++) {
        const double radius = sqrt(-2 * series_log(values[i]));
        const series_point c = series_circle(values[pairs + i]);
        values[i] = radius * c.cosine;
        values[pairs + i] = radius * c.sine;
    }
}

/* The distance from u to the nearer end of (0,1): exact in the tails, where u - 1/2 would lose digits. */
static inline double tail_of(double u) {
    return u < 0.5 ? u : 1 - u;
}

/* tan(pi (u - 1/2)) = -1 / tan(pi u) */
TS_CLONES void ts_noise_cauchy(int64_t pairs, double *values) {
#pragma omp simd
    for (int64_t i = 0; i < 2 * pairs; i++) {
        const series_point c = series_circle(tail_of(values[i]) / 2);
        values[i] = copysign(c.cosine / c.sine, values[i] - 0.5);
    }
}

TS_CLONES void ts_noise_gumbel(int64_t pairs, double *values) {
#pragma omp simd
    for (int64_t i = 0; i < 2 * pairs; i++) values[i] = -series_log(-series_log(values[i]));
}

TS_CLONES void ts_noise_laplace(int64_t pairs, double *values) {
#pragma omp simd
    for (int64_t i = 0; i < 2 * pairs; i++) values[i] = copysign(series_log(2 * tail_of(values[i])), values[i] - 0.5);
}

TS_CLONES void ts_noise_exponential(int64_t n, double *values) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) values[i] = series_exp(values[i]);
}
