/* attention_block.h: attention with linear projections, A(Z, Z') = P V, where
 *
 *     Q = Z Wq + bq,  K = Z' Wk + bk,  V = Z' Wv + bv,  P = simplex(scores of Q and K), or P = I
 *
 * Z [..,n,e], Z' [..,m,e] -> [..,n,e]. A mask [..,n,m], or NULL, excludes the pairs where it is 0. Formula of the
 * scores, gradients, errors and cost: ts_attention in ops.h [Vaswani et al. 2017, a single head]. */
#ifndef TS_ATTENTION_BLOCK_H
#define TS_ATTENTION_BLOCK_H

#include "linear.h"

typedef struct ts_attention_block {
    bool identity; /* P = I: A(Z, Z) = V, for self-attention only; queries and keys are not computed */
    ts_attention_spec spec;
    ts_linear query, key, value;
} ts_attention_block;

/* A(z, context). `step` is the number of the training step: each has its own dropout and random draws. */
ts_tensor *ts_attention_block_forward(const ts_attention_block *block, ts_params *params, ts_tape *tape, ts_tensor *z,
                                      ts_tensor *context, ts_tensor *mask, uint32_t step);

/* The weights P [..,n,m] alone, before dropout (ts_attention_weights); not for an identity block. */
ts_tensor *ts_attention_block_weights(const ts_attention_block *block, ts_params *params, ts_tape *tape, ts_tensor *z,
                                      ts_tensor *context, ts_tensor *mask, uint32_t step);

#endif
