/* noise.h: draws from the families of tasks.h, many at a time: vectorised loops (series.h) that give the same bits on
 * every processor and at every vector width. */
#ifndef TS_NOISE_H
#define TS_NOISE_H

#include <stdint.h>

#include "../autograd/double_names.h"

/* Replace 2 pairs uniforms by draws with location 0 and scale 1, in place: by Box-Muller from the uniforms u[i] =
 * values[i] and v[i] = values[pairs + i], or by the quantile function. A uniform is the middle of one of the 2^52 cells
 * of (0,1), so no logarithm or tangent is taken of 0 or 1. */
void ts_noise_normal(int64_t pairs, double *values); /* u[i] gives the radius, v[i] the angle */
void ts_noise_cauchy(int64_t pairs, double *values);
void ts_noise_gumbel(int64_t pairs, double *values);
void ts_noise_laplace(int64_t pairs, double *values);

void ts_noise_exponential(int64_t n, double *values); /* replaces each x by e^x, |x| <= 700 */

#endif
