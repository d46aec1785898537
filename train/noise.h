/* noise.h: the quantile functions of the families of tasks.h, many numbers at a time: loops that become vectors
 * (autograd/series.h), with the same bits on every processor and at every vector width. */
#ifndef TS_NOISE_H
#define TS_NOISE_H

#include <stdint.h>

#include "../autograd/double_names.h"

/* In place, of pairs of uniforms: u[i] = values[i] and v[i] = values[pairs + i]. A uniform is a middle of one of the
 * 2^52 cells of (0,1): no 0 or 1 reaches a logarithm or a tangent. */
void ts_noise_normal(int64_t pairs, double *values); /* Box-Muller: u[i] the radius, v[i] the angle */
void ts_noise_cauchy(int64_t pairs, double *values);
void ts_noise_gumbel(int64_t pairs, double *values);
void ts_noise_laplace(int64_t pairs, double *values);

void ts_noise_exponential(int64_t n, double *values); /* e^x, |x| <= 700 */

#endif
