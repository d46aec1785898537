/* lognormal.c: exp(l + s z), z normal: location and scale are those of the logarithm. */
#include "../family.h"

const ts_family_type ts_lognormal_family = {
    .name = "lognormal", .summary = "lognormal", .noise = ts_noise_normal, .exponential = true};
