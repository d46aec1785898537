/* attention_block.h: A(Z, Z') = P V with Q = Z Wq + bq, K = Z' Wk + bk, V = Z' Wv + bv and P = simplex(scores), or P =
 * I. Z [..,n,e], Z' [..,m,e] -> [..,n,e]. A mask [..,n,m], or NULL, excludes the pairs where it is 0. */
#ifndef TS_ATTENTION_BLOCK_H
#define TS_ATTENTION_BLOCK_H

#include "linear.h"

typedef struct ts_attention_block {
    bool identity; /* P = I, for self-attention: A(Z, Z) = V; queries and keys are not computed */
    ts_attention_spec spec;
    ts_linear query, key, value;
} ts_attention_block;

/* `step` numbers the training step, so that every step drops and draws anew. */
ts_tensor *ts_attention_block_forward(const ts_attention_block *block, ts_params *params, ts_tape *tape, ts_tensor *z,
                                      ts_tensor *context, ts_tensor *mask, uint32_t step);

/* The weights P [..,n,m] alone, before dropout; not for an identity block. */
ts_tensor *ts_attention_block_weights(const ts_attention_block *block, ts_params *params, ts_tape *tape, ts_tensor *z,
                                      ts_tensor *context, ts_tensor *mask, uint32_t step);

#endif
