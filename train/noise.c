#include "noise.h"

#include <math.h>
#include <string.h>

#include "../autograd/kernels/parallel.h"

/* ---- functions of one number, for loops that become vectors ------------------------------------------------------ */

static inline uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double of_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A whole number below 2^52. */
static inline double of_whole(uint64_t n) {
    return of_bits(n | 0x4330000000000000u) - 0x1p52;
}

/* Added, it rounds to a whole number, which then stands in the low bits. */
static const double SHIFT = 0x1.8p52;
/* ln 2 in two parts, the first with 20 zeros at its end: times a whole number it is exact. */
static const double LN2_HIGH = 0x1.62e42feep-1, LN2_LOW = 0x1.a39ef35793c76p-33;

/* x = 2^e m with m in [sqrt(1/2), sqrt(2)]; ln m = 2 artanh s with s = (m - 1)/(m + 1), by its series: |s| < 0.172.
 * For positive x that are no denormals. */
static inline double series_log(double x) {
    const uint64_t bits = bits_of(x);
    double m = of_bits((bits & 0xFFFFFFFFFFFFFu) | 0x3FF0000000000000u), e = of_whole(bits >> 52) - 1023;
    const double half = m > 0x1.6a09e667f3bcdp0 ? 1 : 0;
    m = m * (1 - 0.5 * half);
    e = e + half;
    const double s = (m - 1) / (m + 1), z = s * s;
    double p = 1.0 / 21;
    p = p * z + 1.0 / 19, p = p * z + 1.0 / 17, p = p * z + 1.0 / 15, p = p * z + 1.0 / 13, p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9, p = p * z + 1.0 / 7, p = p * z + 1.0 / 5, p = p * z + 1.0 / 3;
    return e * LN2_HIGH + (2 * s + (2 * s * (z * p) + e * LN2_LOW));
}

/* e^x = 2^n e^r with |r| <= ln 2 / 2, by its series. For |x| <= 700. */
static inline double series_exp(double x) {
    const double t = x * 0x1.71547652b82fep0 + SHIFT, n = t - SHIFT;
    const double r = (x - n * LN2_HIGH) - n * LN2_LOW;
    double p = 1.0 / 87178291200;
    p = p * r + 1.0 / 6227020800, p = p * r + 1.0 / 479001600, p = p * r + 1.0 / 39916800, p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880, p = p * r + 1.0 / 40320, p = p * r + 1.0 / 5040, p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120, p = p * r + 1.0 / 24, p = p * r + 1.0 / 6, p = p * r + 0.5;
    return (1 + (r + r * r * p)) * of_bits((bits_of(t) + 1023) << 52);
}

typedef struct circle {
    double cosine, sine;
} circle;

/* The point at u in [0,1] of the way round: the angle is q quarters and r, |r| <= pi/4; series in r. Small u lose
 * nothing: r is their multiple. */
static inline circle series_circle(double u) {
    const double t = 4 * u + SHIFT, q = t - SHIFT, r = (4 * u - q) * 1.5707963267948966192, z = r * r;
    const uint64_t quarter = bits_of(t);
    double s = 1.0 / 355687428096000, c = -1.0 / 6402373705728000;
    s = s * z - 1.0 / 1307674368000, s = s * z + 1.0 / 6227020800, s = s * z - 1.0 / 39916800;
    s = s * z + 1.0 / 362880, s = s * z - 1.0 / 5040, s = s * z + 1.0 / 120, s = s * z - 1.0 / 6;
    c = c * z + 1.0 / 20922789888000, c = c * z - 1.0 / 87178291200, c = c * z + 1.0 / 479001600;
    c = c * z - 1.0 / 3628800, c = c * z + 1.0 / 40320, c = c * z - 1.0 / 720, c = c * z + 1.0 / 24, c = c * z - 0.5;
    const uint64_t sine = bits_of(r + r * (z * s)), cosine = bits_of(1 + z * c), swap = 0 - (quarter & 1);
    const uint64_t x = (cosine & ~swap) | (sine & swap), y = (sine & ~swap) | (cosine & swap);
    return (circle){of_bits(x ^ (quarter + 1) << 62 >> 63 << 63), of_bits(y ^ quarter << 62 >> 63 << 63)};
}

/* ---- uniforms ---------------------------------------------------------------------------------------------------- */

enum { BLOCK = 64, ROUNDS = 10 };

/* The middle of one of 2^52 equal cells of (0,1), as in rng.c. */
static inline double to_uniform(uint64_t high, uint64_t low) {
    return (of_whole(high << 20 | low >> 12) + 0.5) * 0x1p-52;
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
        const circle c = series_circle(values[2 * i + 1]);
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
        const circle c = series_circle(tail_of(values[i]) / 2);
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
