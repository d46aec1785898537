/* moons.c: half circles of radius 1/4 that interlock by twos, with normal noise: with u uniform in (0,1), components 2
 * q and 2 q + 1 share a location, and in the first two dimensions
 *
 *     even    (cos(pi u), sin(pi u)) / 4
 *     odd     (1 - cos(pi u), 1/2 - sin(pi u)) / 4
 *
 * so the other dimensions hold noise alone. In one dimension only the first coordinate is there. Scales of .01 to .05
 * keep them apart. */
#include <math.h>

#include "../family.h"

static double shape(int64_t c, int64_t j, double u) {
    const double radius = 0.25, pi = 3.14159265358979323846;
    if (j > 1) return 0;
    const double along = j == 0 ? cos(pi * u) : sin(pi * u);
    return radius * (c % 2 == 0 ? along : (j == 0 ? 1 : 0.5) - along);
}

const ts_family_type ts_moons_family = {
    .name = "moons", .summary = "half circles that interlock", .noise = ts_noise_normal, .shape = shape, .together = 2};
