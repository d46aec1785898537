/* series.h: logarithm, exponential, sine and cosine in double, for loops that the compiler vectorises.
 *
 * The C library's functions give one number per call. These are plain power series, accurate to about 4 units in the
 * last place on the ranges stated, without branches or fused operations, so that every processor and every vector width
 * gives the same bits. */
#ifndef TS_SERIES_H
#define TS_SERIES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t series_bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double series_of_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* An integer below 2^52 as a double. */
static inline double series_of_whole(uint64_t n) {
    return series_of_bits(n | 0x4330000000000000u) - 0x1p52;
}

/* Adding it rounds a number to an integer, which is then in the low bits. */
#define SERIES_SHIFT 0x1.8p52
/* ln 2 in two parts. The first ends in 20 zero bits, so its products with exponents are exact. */
#define SERIES_LN2_HIGH 0x1.62e42feep-1
#define SERIES_LN2_LOW 0x1.a39ef35793c76p-33

/* x = 2^e m with m in [sqrt(1/2), sqrt(2)]; ln m = 2 artanh s with s = (m - 1)/(m + 1), by its series: |s| < 0.172.
 * For positive, normal x. */
static inline double series_log(double x) {
    const uint64_t bits = series_bits_of(x);
    double m = series_of_bits((bits & 0xFFFFFFFFFFFFFu) | 0x3FF0000000000000u), e = series_of_whole(bits >> 52) - 1023;
    const double half = m > 0x1.6a09e667f3bcdp0 ? 1 : 0;
    m = m * (1 - 0.5 * half);
    e = e + half;
    const double s = (m - 1) / (m + 1), z = s * s;
    double p = 1.0 / 21;
    p = p * z + 1.0 / 19, p = p * z + 1.0 / 17, p = p * z + 1.0 / 15, p = p * z + 1.0 / 13, p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9, p = p * z + 1.0 / 7, p = p * z + 1.0 / 5, p = p * z + 1.0 / 3;
    return e * SERIES_LN2_HIGH + (2 * s + (2 * s * (z * p) + e * SERIES_LN2_LOW));
}

/* e^x = 2^n e^r with |r| <= ln 2 / 2, by its series. Terms are added in pairs, as rows are too short to hide the
 * latency of a chain of sums. For |x| <= 700. */
static inline double series_exp(double x) {
    const double t = x * 0x1.71547652b82fep0 + SERIES_SHIFT, n = t - SERIES_SHIFT;
    const double r = (x - n * SERIES_LN2_HIGH) - n * SERIES_LN2_LOW, r2 = r * r, r4 = r2 * r2;
    const double p2 = (0.5 + 1.0 / 6 * r) + r2 * (1.0 / 24 + 1.0 / 120 * r);
    const double p6 = (1.0 / 720 + 1.0 / 5040 * r) + r2 * (1.0 / 40320 + 1.0 / 362880 * r);
    const double p10 = (1.0 / 3628800 + 1.0 / 39916800 * r) + r2 * (1.0 / 479001600 + 1.0 / 6227020800 * r);
    const double p = p2 + r4 * (p6 + r4 * (p10 + r4 * (1.0 / 87178291200)));
    return (1 + (r + r2 * p)) * series_of_bits((series_bits_of(t) + 1023) << 52);
}

typedef struct series_point {
    double cosine, sine;
} series_point;

/* The point of the unit circle at angle 2 pi u, u in [0,1]: q quarter turns and r, |r| <= pi/4, with series in r. Small
 * u lose no digits, as r is then a multiple of u. */
static inline series_point series_circle(double u) {
    const double t = 4 * u + SERIES_SHIFT, q = t - SERIES_SHIFT, r = (4 * u - q) * 1.5707963267948966192, z = r * r;
    const uint64_t quarter = series_bits_of(t);
    double s = 1.0 / 355687428096000, c = -1.0 / 6402373705728000;
    s = s * z - 1.0 / 1307674368000, s = s * z + 1.0 / 6227020800, s = s * z - 1.0 / 39916800;
    s = s * z + 1.0 / 362880, s = s * z - 1.0 / 5040, s = s * z + 1.0 / 120, s = s * z - 1.0 / 6;
    c = c * z + 1.0 / 20922789888000, c = c * z - 1.0 / 87178291200, c = c * z + 1.0 / 479001600;
    c = c * z - 1.0 / 3628800, c = c * z + 1.0 / 40320, c = c * z - 1.0 / 720, c = c * z + 1.0 / 24, c = c * z - 0.5;
    const uint64_t sine = series_bits_of(r + r * (z * s)), cosine = series_bits_of(1 + z * c), swap = 0 - (quarter & 1);
    const uint64_t x = (cosine & ~swap) | (sine & swap), y = (sine & ~swap) | (cosine & swap);
    return (series_point){series_of_bits(x ^ (quarter + 1) << 62 >> 63 << 63),
                          series_of_bits(y ^ quarter << 62 >> 63 << 63)};
}

#endif
