/* attention_block.c: attention with linear projections. */
#include "attention_block.h"

/* block->spec with the random streams of this step. */
static ts_attention_spec spec_at(const ts_attention_block *block, uint32_t step) {
    ts_attention_spec spec = block->spec;
    spec.dropout_rng.step = spec.simplex.rng.step = step;
    return spec;
}

ts_tensor *ts_attention_block_forward(const ts_attention_block *block, ts_params *params, ts_tape *tape, ts_tensor *z,
                                      ts_tensor *context, ts_tensor *mask, uint32_t step) {
    if (block->identity) return ts_linear_forward(&block->value, params, tape, context);
    const ts_attention_spec spec = spec_at(block, step);
    const ts_scope scope = ts_scope_begin(tape);
    ts_tensor *q = ts_linear_forward(&block->query, params, tape, z);
    ts_tensor *k = ts_linear_forward(&block->key, params, tape, context);
    ts_tensor *v = ts_linear_forward(&block->value, params, tape, context);
    return ts_scope_end(tape, scope, ts_attention(tape, q, k, v, mask, &spec));
}

ts_tensor *ts_attention_block_weights(const ts_attention_block *block, ts_params *params, ts_tape *tape, ts_tensor *z,
                                      ts_tensor *context, ts_tensor *mask, uint32_t step) {
    const ts_attention_spec spec = spec_at(block, step);
    const ts_scope scope = ts_scope_begin(tape);
    ts_tensor *q = ts_linear_forward(&block->query, params, tape, z);
    ts_tensor *k = ts_linear_forward(&block->key, params, tape, context);
    return ts_scope_end(tape, scope, ts_attention_weights(tape, q, k, mask, &spec));
}
