/* noise.h: many random numbers at a time, for tasks.h: uniforms by counter and the families' quantile functions, in
 * loops that become vectors.
 *
 * Logarithms, exponentials, sines and cosines are series of our own, right to about 4 units in the last place of double
 * on the ranges below, because the C library's give one number a call. They use no fused operations, so every processor
 * and every vector width gives the same bits. */
#ifndef TS_NOISE_H
#define TS_NOISE_H

#include "../autograd/rng.h"

/* values[2i] and values[2i+1]: uniforms in (0,1) from the two halves of the 128 bits of element first + i * stride; the
 * first half is ts_rng_uniform's. */
void ts_noise_uniforms(ts_rng rng, uint64_t first, uint64_t stride, int64_t pairs, double *values);

/* In place. A uniform u is a middle of one of the 2^52 cells of (0,1), so no 0 or 1 reaches a logarithm or a tangent.
 */
void ts_noise_normal(int64_t pairs, double *values); /* Box-Muller: u[2i] the radius, u[2i+1] the angle */
void ts_noise_cauchy(int64_t pairs, double *values);
void ts_noise_gumbel(int64_t pairs, double *values);
void ts_noise_laplace(int64_t pairs, double *values);

void ts_noise_exponential(int64_t n, double *values); /* e^x, |x| <= 700 */

#endif
