#include "noise.h"

#include <string.h>

#include "../autograd/kernels/parallel.h"
#include "../autograd/kernels/series.h"

/* ---- uniforms ---------------------------------------------------------------------------------------------------- */

enum { BLOCK = 64, ROUNDS = 10 };

/* The middle of one of 2^52 equal cells of (0,1), as in rng.c. */
static inline double to_uniform(uint64_t high, uint64_t low) {
    return (series_of_whole(high << 20 | low >> 12) + 0.5) * 0x1p-52;
}

/* ts_philox of counters first, first + stride, ..., each 32-bit number in a 64-bit place; [128 bits as two uniforms].
 */
TS_CLONES static void uniforms_of_block(ts_rng rng, const uint32_t keys[2 * ROUNDS], uint64_t first, uint64_t stride,
                                        double *restrict u) {
    uint64_t c0[BLOCK], c1[BLOCK], c2[BLOCK], c3[BLOCK];
    for (int l = 0; l < BLOCK; l++) {
        const uint64_t element = first + (uint64_t)l * stride;
        c0[l] = (uint32_t)element, c1[l] = element >> 32, c2[l] = rng.step, c3[l] = rng.stream;
    }
    for (int round = 0; round < ROUNDS; round++)
#pragma omp simd
        for (int l = 0; l < BLOCK; l++) {
            const uint64_t product0 = (uint64_t)0xD2511F53u * (uint32_t)c0[l];
            const uint64_t product1 = (uint64_t)0xCD9E8D57u * (uint32_t)c2[l];
            c0[l] = product1 >> 32 ^ c1[l] ^ keys[2 * round];
            c1[l] = (uint32_t)product1;
            c2[l] = product0 >> 32 ^ c3[l] ^ keys[2 * round + 1];
            c3[l] = (uint32_t)product0;
        }
#pragma omp simd
    for (int l = 0; l < BLOCK; l++) {
        u[2 * l] = to_uniform(c0[l], c1[l]);
        u[2 * l + 1] = to_uniform(c2[l], c3[l]);
    }
}

void ts_noise_uniforms(ts_rng rng, uint64_t first, uint64_t stride, int64_t pairs, double *values) {
    uint32_t keys[2 * ROUNDS] = {(uint32_t)rng.seed, (uint32_t)(rng.seed >> 32)};
    for (int i = 2; i < 2 * ROUNDS; i++) keys[i] = keys[i - 2] + (i % 2 == 0 ? 0x9E3779B9u : 0xBB67AE85u);
    for (int64_t i = 0; i < pairs; i += BLOCK) {
        const int64_t count = pairs - i < BLOCK ? pairs - i : BLOCK;
        double u[2 * BLOCK];
        uniforms_of_block(rng, keys, first + (uint64_t)i * stride, stride, u);
        memcpy(values + 2 * i, u, (size_t)(2 * count) * sizeof *u);
    }
}

/* ---- families ---------------------------------------------------------------------------------------------------- */

TS_CLONES void ts_noise_normal(int64_t pairs, double *values) {
#pragma omp simd
    for (int64_t i = 0; i < pairs; i++) {
        const double radius = sqrt(-2 * series_log(values[2 * i]));
        const series_point c = series_circle(values[2 * i + 1]);
        values[2 * i] = radius * c.cosine;
        values[2 * i + 1] = radius * c.sine;
    }
}

/* The distance from the nearer end of (0,1): exact in the tails, where u - 1/2 would lose digits. */
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
