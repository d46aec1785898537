/* rng.c: Philox and the distributions drawn from it. */
#include "rng.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "isa.h"
#include "kernels/philox_kernels.h"

static const double TWO_PI = 6.283185307179586476925287;

static const uint32_t NEXT_KEY0 = 0x9E3779B9u, NEXT_KEY1 = 0xBB67AE85u;

static const ts_philox_kernel *const kernels[TS_ISAS] = TS_ISA_TABLE(ts_philox_kernels);

static void multiply(uint32_t a, uint32_t b, uint32_t *high, uint32_t *low) {
    const uint64_t product = (uint64_t)a * b;
    *high = (uint32_t)(product >> 32);
    *low = (uint32_t)product;
}

void ts_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t random[4]) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < TS_PHILOX_ROUNDS; round++) {
        uint32_t high0, low0, high1, low1;
        multiply(0xD2511F53u, c0, &high0, &low0);
        multiply(0xCD9E8D57u, c2, &high1, &low1);
        c0 = high1 ^ c1 ^ k0;
        c1 = low1;
        c2 = high0 ^ c3 ^ k1;
        c3 = low0;
        k0 += NEXT_KEY0;
        k1 += NEXT_KEY1;
    }
    random[0] = c0, random[1] = c1, random[2] = c2, random[3] = c3;
}

uint32_t ts_rng_stream(const char *name) {
    uint32_t hash = 2166136261u;
    for (const char *p = name; *p != '\0'; p++) hash = (hash ^ (uint8_t)*p) * 16777619u;
    return hash;
}

static void draw(ts_rng rng, uint64_t element, uint32_t random[4]) {
    const uint32_t counter[4] = {(uint32_t)element, (uint32_t)(element >> 32), rng.step, rng.stream};
    const uint32_t key[2] = {(uint32_t)rng.seed, (uint32_t)(rng.seed >> 32)};
    ts_philox(counter, key, random);
}

static uint64_t join(uint32_t high, uint32_t low) {
    return (uint64_t)high << 32 | low;
}

/* The midpoint of one of 2^52 equal cells of (0,1), so the result is never 0 or 1. */
static double to_uniform(uint64_t bits) {
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

uint64_t ts_rng_bits(ts_rng rng, uint64_t element) {
    uint32_t r[4];
    draw(rng, element, r);
    return join(r[0], r[1]);
}

double ts_rng_uniform(ts_rng rng, uint64_t element) {
    return to_uniform(ts_rng_bits(rng, element));
}

void ts_rng_uniforms(ts_rng rng, uint64_t first, uint64_t stride, int64_t n, double *u, double *v) {
    const ts_philox_kernel kernel = *kernels[ts_isa_in_use()];
    ts_philox_keys keys = {.step = rng.step, .stream = rng.stream};
    for (uint32_t round = 0; round < TS_PHILOX_ROUNDS; round++) {
        keys.round[2 * round] = (uint32_t)rng.seed + round * NEXT_KEY0;
        keys.round[2 * round + 1] = (uint32_t)(rng.seed >> 32) + round * NEXT_KEY1;
    }
    for (int64_t i = 0; i < n; i += TS_PHILOX_BLOCK) {
        double block[2][TS_PHILOX_BLOCK];
        const bool whole = v != NULL && n - i >= TS_PHILOX_BLOCK;
        const size_t count = (size_t)(n - i < TS_PHILOX_BLOCK ? n - i : TS_PHILOX_BLOCK);
        kernel(&keys, first + (uint64_t)i * stride, stride, whole ? u + i : block[0], whole ? v + i : block[1]);
        if (whole) continue;
        memcpy(u + i, block[0], count * sizeof *u);
        if (v != NULL) memcpy(v + i, block[1], count * sizeof *v);
    }
}

double ts_rng_normal(ts_rng rng, uint64_t element) {
    uint32_t r[4];
    draw(rng, element, r);
    return sqrt(-2.0 * log(to_uniform(join(r[0], r[1])))) * cos(TWO_PI * to_uniform(join(r[2], r[3])));
}

double ts_rng_gumbel(ts_rng rng, uint64_t element) {
    return -log(-log(ts_rng_uniform(rng, element)));
}

int64_t ts_rng_below(ts_rng rng, uint64_t element, int64_t n) {
    /* The high half of bits * n, in 32-bit limbs (C11 has no 128-bit product). */
    const uint64_t bits = ts_rng_bits(rng, element), m = (uint64_t)n;
    const uint64_t low = (bits & 0xFFFFFFFFu) * (m & 0xFFFFFFFFu);
    const uint64_t mid1 = (bits >> 32) * (m & 0xFFFFFFFFu) + (low >> 32);
    const uint64_t mid2 = (bits & 0xFFFFFFFFu) * (m >> 32) + (mid1 & 0xFFFFFFFFu);
    return (int64_t)((bits >> 32) * (m >> 32) + (mid1 >> 32) + (mid2 >> 32));
}
