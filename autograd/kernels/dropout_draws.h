/* dropout_draws.h: which weights of fast attention are dropped.
 *
 * A counter-based draw of a few integer operations: each row and each column has a well-mixed word, and the draw of a
 * weight is a short hash of the two. Philox (rng.h) makes the key, so that seeds, streams and steps are unrelated. */
#ifndef TS_DROPOUT_DRAWS_H
#define TS_DROPOUT_DRAWS_H

#include <stdbool.h>

#include "../rng.h"

typedef struct ts_drop_key {
    uint32_t row, column;
    int32_t threshold; /* a weight is dropped if its draw, as a signed number, is less */
} ts_drop_key;

ts_drop_key ts_drop_key_of(ts_rng rng, double probability);

/* A bijection of 32-bit words in which every input bit affects every output bit ("lowbias32", C. Wellons). */
static inline uint32_t ts_drop_mix(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* The word of row or column `index`, given its part of the key. */
static inline uint32_t ts_drop_word(uint32_t key, int64_t index) {
    return ts_drop_mix(ts_drop_mix((uint32_t)index ^ key) + (uint32_t)((uint64_t)index >> 32));
}

/* Whether a weight is dropped; row is batch * n + i, column is j. The kernels do the same in vectors. */
static inline bool ts_drop(ts_drop_key key, int64_t row, int64_t column) {
    uint32_t x = (ts_drop_word(key.row, row) ^ ts_drop_word(key.column, column)) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return (int32_t)x < key.threshold;
}

#endif
