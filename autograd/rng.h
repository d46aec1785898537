/* rng.h: counter-based random numbers.
 *
 * Every number is a pure function of (seed, stream, step, element), which state its purpose, not which thread draws it
 * or when. Results are therefore the same with any number of threads or processes, and resuming needs no saved state.
 * The generator is Philox4x32-10 [J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2,
 * 3", SC 2011]. */
#ifndef TS_RNG_H
#define TS_RNG_H

#include <stdint.h>

#include "double_names.h"

/* Names a sequence of numbers. `stream` is the caller's constant or ts_rng_stream("a name"). */
typedef struct ts_rng {
    uint64_t seed;
    uint32_t stream;
    uint32_t step;
} ts_rng;

/* The Philox4x32-10 bijection of a 128-bit counter, under a 64-bit key, to 128 random bits. */
void ts_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t random[4]);

/* The stream number of a name (its 32-bit FNV-1a hash): a new stream leaves the numbers of all others unchanged. */
uint32_t ts_rng_stream(const char *name);

uint64_t ts_rng_bits(ts_rng rng, uint64_t element);  /* 64 random bits */
double ts_rng_uniform(ts_rng rng, uint64_t element); /* in (0,1): never 0, never 1; 52 bits */
/* u[i] is the uniform of element first + i * stride; v[i], unless v is NULL, is a second one, from the other 64 of that
 * element's 128 bits. In long calls a number costs a few cycles. The bits are the same on every processor. */
void ts_rng_uniforms(ts_rng rng, uint64_t first, uint64_t stride, int64_t n, double *u, double *v);
double ts_rng_normal(ts_rng rng, uint64_t element);            /* mean 0, variance 1 (Box-Muller) */
double ts_rng_gumbel(ts_rng rng, uint64_t element);            /* -log(-log U), always finite */
int64_t ts_rng_below(ts_rng rng, uint64_t element, int64_t n); /* uniform on 0 .. n-1, n > 0; bias < n / 2^64 */

#endif
