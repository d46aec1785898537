/* fast_attention.h: softmax attention with scores, weights and sums in ts_real, tile by tile, for training.
 *
 *     S_ij = gamma q_i.k_j  or  -gamma ||q_i - k_j||^2;   P = softmax(S);   y_i = sum_j D_ij P_ij v_j
 *
 * with D_ij = 0 where a weight is dropped, else 1/(1 - dropout). Nothing of size n m is ever stored: a block of rows
 * meets a tile of keys at a time, with a running maximum and sum; two numbers a row are kept for the backward pass,
 * which computes the weights again.
 *
 * Bounds. Squared distances are 2 q.k - ||k||^2 about a point c near the mean key (||q||^2 cancels in the softmax): a
 * score is off by a few eps gamma r^2, where r is the largest distance of a query or key from c. An offset common to
 * all costs nothing, an outlier does. Dot products are off by a few eps gamma |q| |k|. A weight is off by as much,
 * relatively; weights below 2^-126 of the largest are 0.
 *
 * What is not finite. NaN anywhere in a row's query, in any key or in any value makes the row NaN. A score of -inf has
 * weight 0, a row with nothing else is zeros without gradient. A score of +inf gives NaN, and so may infinite
 * coordinates in Euclidean attention.
 *
 * The same bits at any number of threads; not on every processor, where registers and fused operations differ. */
#ifndef TS_FAST_ATTENTION_H
#define TS_FAST_ATTENTION_H

#include "../rng.h"
#include "../tensor.h"

typedef struct ts_fast_attention {
    int64_t batches, n, m, e, f; /* none of them 0 */
    bool euclidean;
    double gamma, dropout;
    ts_rng rng;               /* of dropout */
    const ts_real *q, *k, *v; /* [batches,n,e] [batches,m,e] [batches,m,f] */
    ts_real *y;               /* [batches,n,f] */
    ts_real *stats;           /* [batches,n,2], written by forward for backward; NULL: not kept */
    bool wants_grad;          /* backward may be called: workspace for it */
    const ts_real *dy;        /* as y, and for backward only */
    ts_real *dq, *dk, *dv;    /* as q, k, v: added to; NULL: not wanted */
} ts_fast_attention;

/* Whether gamma and dropout are in the range that ts_real holds; shapes and the rest are the caller's to check. */
bool ts_fast_attention_takes(double gamma, double dropout);

size_t ts_fast_attention_scratch(const ts_fast_attention *a); /* bytes, for all threads and either pass */
void ts_fast_attention_forward(const ts_fast_attention *a, void *scratch);
void ts_fast_attention_backward(const ts_fast_attention *a, void *scratch);

/* ---- which weights are dropped ----------------------------------------------------------------------------------- */

/* A counter-based draw a few integer operations long: each row and each column has a word, well mixed; a weight's draw
 * is a short hash of the two. Philox (rng.h) makes the key, so that seeds, streams and steps are unrelated. */
typedef struct ts_drop_key {
    uint32_t row, column;
    int32_t threshold; /* a draw below it, as a signed number, is a drop */
} ts_drop_key;

ts_drop_key ts_drop_key_of(ts_rng rng, double probability);

/* A bijection of 32 bits in which every bit of the input moves every bit of the output ("lowbias32", C. Wellons). */
static inline uint32_t ts_drop_mix(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* The word of row or column `index`, given its part of the key. */
static inline uint32_t ts_drop_word(uint32_t key, int64_t index) {
    return ts_drop_mix(ts_drop_mix((uint32_t)index ^ key) + (uint32_t)((uint64_t)index >> 32));
}

/* Row is batch * n + i, column j. The kernels do the same in vectors. */
static inline bool ts_drop(ts_drop_key key, int64_t row, int64_t column) {
    uint32_t x = (ts_drop_word(key.row, row) ^ ts_drop_word(key.column, column)) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return (int32_t)x < key.threshold;
}

#endif
