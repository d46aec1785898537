/* rng.h: random numbers by counter, not by state.
 *
 * Every number is a pure function of (seed, stream, step, element): what it is for, never who draws it or when. Results
 * are therefore the same at any number of threads or processes, and nothing has to be saved to resume. The generator is
 * Philox4x32-10 [J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011]. */
#ifndef TS_RNG_H
#define TS_RNG_H

#include <stdint.h>

#include "double_names.h"

/* What the numbers are for. `stream` is a constant of the caller, or ts_rng_stream("a name"). */
typedef struct ts_rng {
    uint64_t seed;
    uint32_t stream;
    uint32_t step;
} ts_rng;

/* The Philox4x32-10 bijection: 128 bits of counter and 64 of key to 128 random bits. */
void ts_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t random[4]);

/* A stream number from a name (32-bit FNV-1a), so that adding a user of random numbers moves no other. */
uint32_t ts_rng_stream(const char *name);

uint64_t ts_rng_bits(ts_rng rng, uint64_t element);  /* 64 random bits */
double ts_rng_uniform(ts_rng rng, uint64_t element); /* in (0,1): never 0, never 1; 52 bits */
/* u[i] is that of element first + i * stride; v[i], unless v is NULL, one more, from the other 64 of its 128 bits. Many
 * at a time cost a few cycles each; the same bits on every processor. */
void ts_rng_uniforms(ts_rng rng, uint64_t first, uint64_t stride, int64_t n, double *u, double *v);
double ts_rng_normal(ts_rng rng, uint64_t element);            /* mean 0, variance 1 (Box-Muller) */
double ts_rng_gumbel(ts_rng rng, uint64_t element);            /* -log(-log U): finite for every draw */
int64_t ts_rng_below(ts_rng rng, uint64_t element, int64_t n); /* 0 .. n-1, n > 0; bias below n / 2^64 */

#endif
