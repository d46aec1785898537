#include "dropout_draws.h"

#include <math.h>

ts_drop_key ts_drop_key_of(ts_rng rng, double probability) {
    const uint64_t bits = ts_rng_bits(rng, 0);
    const double threshold = floor(probability * 0x1p32 + 0.5) - 0x1p31;
    return (ts_drop_key){.row = (uint32_t)bits,
                         .column = (uint32_t)(bits >> 32),
                         .threshold = (int32_t)fmin(fmax(threshold, INT32_MIN), INT32_MAX)};
}
