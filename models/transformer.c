#include "transformer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The fixed matrix of a projection. Every copy keeps its group's place, so the matrix is diagonal. */
static void fill_diagonal(const ts_transformer *model, const ts_projection *p, ts_real *diagonal) {
    for (int i = 0; i < p->n_copies; i++) {
        const bool data = p->copy[i].from == TS_GROUP_DATA;
        for (int64_t c = data ? 0 : model->d; c < (data ? model->d : model->e); c++)
            diagonal[c] += (ts_real)p->copy[i].scale;
    }
}

static ts_status add_projection(ts_transformer *model, ts_linear *layer, const char *block, const char *part,
                                const ts_projection *p, ts_error *error) {
    char name[TS_PARAM_NAME];
    snprintf(name, sizeof name, "%s.%s", block, part);
    return p->learned ? ts_linear_add(layer, model->params, name, model->e, model->e, true, error)
                      : ts_linear_add_fixed(layer, model->params, name, model->e, model->e, true, error);
}

static ts_status add_block(ts_transformer *model, ts_attention_block *block, const char *name, const ts_block *b,
                           uint64_t seed, ts_error *error) {
    char stream[TS_PARAM_NAME];
    block->identity = b->identity;
    block->spec = (ts_attention_spec){.score = b->score, .simplex = b->simplex, .dropout = b->dropout};
    block->spec.gamma = b->scaled ? b->gamma / sqrt((double)model->e) : b->gamma;
    snprintf(stream, sizeof stream, "%s.dropout", name);
    block->spec.dropout_rng = (ts_rng){seed, ts_rng_stream(stream), 0};
    snprintf(stream, sizeof stream, "%s.simplex", name);
    block->spec.simplex.rng = (ts_rng){seed, ts_rng_stream(stream), 0};
    if (add_projection(model, &block->value, name, "value", &b->value, error) != TS_OK || b->identity)
        return error->status;
    if (add_projection(model, &block->query, name, "query", &b->query, error) != TS_OK) return error->status;
    return add_projection(model, &block->key, name, "key", &b->key, error);
}

/* Queries and keys that copy the same group are zero elsewhere, on both sides: they need hold no more than the group.
 */
static void narrow(const ts_transformer *model, ts_attention_block *block, const ts_block *b) {
    const ts_copy *q = b->query.copy, *k = b->key.copy;
    if (b->identity || b->query.learned || b->key.learned || b->query.n_copies != 1 || b->key.n_copies != 1) return;
    if (q->from != k->from || q->scale != 1 || k->scale != 1) return;
    const bool data = q->from == TS_GROUP_DATA;
    block->query.first = block->key.first = data ? 0 : model->d;
    block->query.count = block->key.count = data ? model->d : model->s;
}

typedef struct part {
    const char *name;
    ts_attention_block *block;
    const ts_block *definition;
} part;

static void fill_block(const ts_transformer *model, const part *p) {
    const ts_linear *layers[3] = {&p->block->value, &p->block->query, &p->block->key};
    const ts_projection *projections[3] = {&p->definition->value, &p->definition->query, &p->definition->key};
    for (int i = 0; i < (p->block->identity ? 1 : 3); i++)
        if (!projections[i]->learned)
            fill_diagonal(model, projections[i], ts_params_value(model->params, layers[i]->weight));
}

ts_status ts_transformer_build(ts_transformer *model, const ts_definition *definition, int64_t d, int64_t k,
                               uint64_t seed, ts_error *error) {
    *model = (ts_transformer){.d = d, .k = k};
    if (ts_definition_check(definition, d, k, error) != TS_OK) return error->status;
    model->s = ts_scheme_width(definition->scheme, k);
    model->e = d + model->s;
    model->params = ts_params_create();
    if (model->params == NULL) return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a model");
    const part parts[4] = {{"cross_points", &model->cross_points, &definition->cross_points},
                           {"self_points", &model->self_points, &definition->self_points},
                           {"cross_centers", &model->cross_centers, &definition->cross_centers},
                           {"self_centers", &model->self_centers, &definition->self_centers}};
    ts_status status = TS_OK;
    for (int i = 0; i < 4 && status == TS_OK; i++)
        status = add_block(model, parts[i].block, parts[i].name, parts[i].definition, seed, error);
    if (status == TS_OK) status = ts_params_allocate(model->params, seed, error);
    if (status != TS_OK) {
        ts_transformer_clear(model);
        return status;
    }
    for (int i = 0; i < 4; i++) {
        fill_block(model, &parts[i]);
        narrow(model, parts[i].block, parts[i].definition);
    }
    return TS_OK;
}

void ts_transformer_clear(ts_transformer *model) {
    ts_params_free(model->params);
    *model = (ts_transformer){0};
}

/* tokens + self(tokens) + cross(tokens, context). The self-attention is added first: what it erases is then exactly
 * zero before the cross-attention writes, so nothing is rounded away. */
static ts_tensor *residual(const ts_transformer *model, ts_tape *tape, const ts_attention_block *self,
                           const ts_attention_block *cross, ts_tensor *tokens, ts_tensor *context, uint32_t step) {
    const ts_arena_mark outer = ts_scope_begin(tape), inner = ts_scope_begin(tape);
    ts_tensor *erased = ts_attention_block_forward(self, model->params, tape, tokens, tokens, step);
    ts_tensor *stream = ts_scope_end(tape, inner, ts_add(tape, tokens, erased));
    ts_tensor *written = ts_attention_block_forward(cross, model->params, tape, tokens, context, step);
    return ts_scope_end(tape, outer, ts_add(tape, stream, written));
}

ts_tensor *ts_transformer_assign(const ts_transformer *model, ts_tape *tape, ts_tensor *points, ts_tensor *centers,
                                 uint32_t step) {
    return residual(model, tape, &model->self_points, &model->cross_points, points, centers, step);
}

ts_tensor *ts_transformer_update(const ts_transformer *model, ts_tape *tape, ts_tensor *points, ts_tensor *centers,
                                 uint32_t step) {
    return residual(model, tape, &model->self_centers, &model->cross_centers, centers, points, step);
}

void ts_transformer_embed(const ts_transformer *model, int64_t rows, const ts_real *data, const ts_real *scratch,
                          ts_real *tokens) {
    for (int64_t i = 0; i < rows; i++) {
        ts_real *token = tokens + i * model->e;
        memcpy(token, data + i * model->d, (size_t)model->d * sizeof *token);
        if (scratch == NULL)
            memset(token + model->d, 0, (size_t)model->s * sizeof *token);
        else
            memcpy(token + model->d, scratch + i * model->s, (size_t)model->s * sizeof *token);
    }
}
