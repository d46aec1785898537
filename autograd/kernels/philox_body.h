/* philox_body.h: ts_philox for many counters, compiled once for each instruction set by the file that defines
 * SIMD_BYTES and KERNELS, the kernel's name.
 *
 * A 32-bit number has a 64-bit lane, which holds its products; its upper half is dropped when it is used. As a round
 * must wait for the one before, several vectors of counters go through the rounds together. */
#include "philox_kernels.h"
#include "simd.h"

typedef uint64_t vec_wide __attribute__((vector_size(SIMD_BYTES)));
typedef double vec_double __attribute__((vector_size(SIMD_BYTES)));

enum { WIDE_LANES = SIMD_BYTES / 8, TOGETHER = SIMD_BYTES == 64 ? 4 : 2 };

SIMD_INLINE vec_wide wide_all(uint64_t x) {
    return x - (vec_wide){0};
}

/* The 64-bit products of the lower halves of the lanes. */
SIMD_INLINE vec_wide wide_product(vec_wide x, vec_wide y) {
#if SIMD_BYTES == 64
    return (vec_wide)_mm512_mul_epu32((__m512i)x, (__m512i)y);
#elif SIMD_BYTES == 32
    return (vec_wide)_mm256_mul_epu32((__m256i)x, (__m256i)y);
#elif defined(__SSE2__)
    return (vec_wide)_mm_mul_epu32((__m128i)x, (__m128i)y);
#else
    return (x & 0xFFFFFFFFu) * (y & 0xFFFFFFFFu);
#endif
}

/* As to_uniform of rng.c: 52 bits under an exponent that makes them an integer. */
SIMD_INLINE void store_uniforms(double *u, vec_wide high, vec_wide low) {
    const vec_wide bits = (high & 0xFFFFFFFFu) << 20 | (low & 0xFFFFFFFFu) >> 12;
    const vec_double uniform = (((vec_double)(bits | 0x4330000000000000u) - 0x1p52) + 0.5) * 0x1p-52;
    memcpy(u, &uniform, sizeof uniform);
}

static void uniforms(const ts_philox_keys *keys, uint64_t first, uint64_t stride, double *u, double *v) {
    const vec_wide factor0 = wide_all(0xD2511F53u), factor1 = wide_all(0xCD9E8D57u);
    vec_wide element;
    for (int l = 0; l < WIDE_LANES; l++) element[l] = first + (uint64_t)l * stride;
    for (int i = 0; i < TS_PHILOX_BLOCK; i += TOGETHER * WIDE_LANES) {
        vec_wide c0[TOGETHER], c1[TOGETHER], c2[TOGETHER], c3[TOGETHER];
        for (int t = 0; t < TOGETHER; t++, element += WIDE_LANES * stride)
            c0[t] = element, c1[t] = element >> 32, c2[t] = wide_all(keys->step), c3[t] = wide_all(keys->stream);
        for (int round = 0; round < TS_PHILOX_ROUNDS; round++)
            for (int t = 0; t < TOGETHER; t++) {
                const vec_wide product0 = wide_product(factor0, c0[t]), product1 = wide_product(factor1, c2[t]);
                c0[t] = product1 >> 32 ^ c1[t] ^ wide_all(keys->round[2 * round]);
                c1[t] = product1;
                c2[t] = product0 >> 32 ^ c3[t] ^ wide_all(keys->round[2 * round + 1]);
                c3[t] = product0;
            }
        for (int t = 0; t < TOGETHER; t++) {
            store_uniforms(u + i + t * WIDE_LANES, c0[t], c1[t]);
            store_uniforms(v + i + t * WIDE_LANES, c2[t], c3[t]);
        }
    }
}

const ts_philox_kernel KERNELS = uniforms;
