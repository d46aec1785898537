/* transformer.c: builds definitions, embeds rows, and applies the layer. */
#include "transformer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../autograd/parallel.h"

/* ---- building ---------------------------------------------------------------------------------------------------- */

typedef struct builder {
    ts_transformer *model;
    const ts_definition *definition;
    uint64_t seed;
    ts_error *error;
} builder;

static ts_place place_of(const builder *b, const ts_range *range) {
    return ts_range_place(range, b->definition->construction, b->model->d, b->model->k);
}

/* Does every copy stay in its place? Then the matrix is stored as a diagonal. */
static bool is_diagonal(const builder *b, const ts_projection *p) {
    bool same = true;
    for (int i = 0; i < p->n_copies; i++) {
        const ts_place from = place_of(b, &p->copy[i].from), to = place_of(b, &p->copy[i].to);
        same = same && from.first == to.first && from.count == to.count;
    }
    return same;
}

static ts_status add_projection(const builder *b, ts_linear *layer, const char *block, const char *part,
                                const ts_projection *p) {
    ts_transformer *model = b->model;
    char name[TS_PARAM_NAME];
    snprintf(name, sizeof name, "%s.%s", block, part);
    if (p->learned) return ts_linear_add(layer, model->params, name, model->e, model->e, true, b->error);
    return ts_linear_add_fixed(layer, model->params, name, model->e, model->e, is_diagonal(b, p), b->error);
}

static ts_status add_block(const builder *b, ts_attention_block *block, const char *name,
                           const ts_block_definition *d) {
    char stream[TS_PARAM_NAME];
    block->identity = d->identity;
    block->spec = (ts_attention_spec){.score = d->score, .simplex = d->simplex, .dropout = d->dropout};
    block->spec.fast = d->query.learned && d->key.learned; /* fixed projections decide ties and must be exact */
    block->spec.gamma = d->scaled ? d->gamma / sqrt((double)b->model->e) : d->gamma;
    snprintf(stream, sizeof stream, "%s.dropout", name);
    block->spec.dropout_rng = (ts_rng){b->seed, ts_rng_stream(stream), 0};
    snprintf(stream, sizeof stream, "%s.simplex", name);
    block->spec.simplex.rng = (ts_rng){b->seed, ts_rng_stream(stream), 0};
    if (add_projection(b, &block->value, name, "value", &d->value) != TS_OK || d->identity) return b->error->status;
    if (add_projection(b, &block->query, name, "query", &d->query) != TS_OK) return b->error->status;
    return add_projection(b, &block->key, name, "key", &d->key);
}

static ts_status add_norm_and_feed_forward(const builder *b) {
    ts_transformer *model = b->model;
    const ts_norm_definition *norm = &b->definition->norm;
    const ts_feed_forward_definition *f = &b->definition->feed_forward;
    model->has_norm = norm->present;
    model->has_feed_forward = f->present;
    if (norm->present) {
        const ts_place place = place_of(b, &norm->range);
        if (ts_norm_layer_add_fixed(&model->norm, model->params, "norm", place.first, place.count, norm->eps,
                                    b->error) != TS_OK)
            return b->error->status;
    }
    if (!f->present) return TS_OK;
    int64_t hidden = f->hidden;
    for (int i = 0; i < f->n_units && !f->learned; i++)
        hidden = (i == 0 ? 0 : hidden) + place_of(b, &f->unit[i].from).count;
    return (f->learned ? ts_feed_forward_add : ts_feed_forward_add_fixed)(
        &model->feed_forward, model->params, "feed_forward", model->e, hidden, f->activation, b->error);
}

/* weight [rows, width] += scale at (from + i, to + i), or at (from + i, to) if `to` is one coordinate. */
static void fill_copy(ts_real *weight, int64_t width, ts_place from, ts_place to, double scale) {
    for (int64_t i = 0; i < from.count; i++)
        weight[(from.first + i) * width + to.first + (to.count == 1 ? 0 : i)] += (ts_real)scale;
}

static void fill_projection(const builder *b, const ts_linear *layer, const ts_projection *p) {
    ts_real *weight = ts_params_value(b->model->params, layer->weight);
    for (int i = 0; i < p->n_copies && !p->learned; i++) {
        const ts_place from = place_of(b, &p->copy[i].from), to = place_of(b, &p->copy[i].to);
        if (layer->diagonal)
            for (int64_t c = 0; c < from.count; c++) weight[from.first + c] += (ts_real)p->copy[i].scale;
        else
            fill_copy(weight, b->model->e, from, to, p->copy[i].scale);
    }
}

/* Queries and keys that copy the same coordinates are both zero elsewhere: they are narrowed to these coordinates. */
static void narrow(const builder *b, ts_attention_block *block, const ts_block_definition *d) {
    const ts_copy *q = d->query.copy, *k = d->key.copy;
    if (d->identity || d->query.learned || d->key.learned || d->query.n_copies != 1 || d->key.n_copies != 1) return;
    if (!block->query.diagonal || !block->key.diagonal || q->scale != 1 || k->scale != 1) return;
    const ts_place from = place_of(b, &q->from), same = place_of(b, &k->from);
    if (from.first != same.first || from.count != same.count) return;
    block->query.first = block->key.first = from.first;
    block->query.count = block->key.count = from.count;
}

static void fill_block(const builder *b, ts_attention_block *block, const ts_block_definition *d) {
    fill_projection(b, &block->value, &d->value);
    if (d->identity) return;
    fill_projection(b, &block->query, &d->query);
    fill_projection(b, &block->key, &d->key);
    narrow(b, block, d);
}

static void fill_norm_and_feed_forward(const builder *b) {
    ts_transformer *model = b->model;
    const ts_norm_definition *norm = &b->definition->norm;
    const ts_feed_forward_definition *f = &b->definition->feed_forward;
    if (norm->present) {
        ts_real *gain = ts_params_value(model->params, model->norm.gain);
        for (int64_t c = 0; c < model->norm.count; c++)
            gain[c] = (ts_real)(norm->length / sqrt((double)model->norm.count));
    }
    if (!f->present || f->learned) return;
    ts_real *in = ts_params_value(model->params, model->feed_forward.in.weight),
            *out = ts_params_value(model->params, model->feed_forward.out.weight);
    const int64_t hidden = ts_params_shape(model->params, model->feed_forward.in.weight)->dim[1];
    int64_t at = 0;
    for (int i = 0; i < f->n_units; i++) {
        const ts_place from = place_of(b, &f->unit[i].from), to = place_of(b, &f->unit[i].to);
        const ts_place here = {at, from.count};
        fill_copy(in, hidden, from, here, f->unit[i].scale);
        fill_copy(out, model->e, here, to, f->unit[i].weight);
        at += from.count;
    }
}

static ts_status build(const builder *b) {
    ts_transformer *model = b->model;
    ts_attention_block *const blocks[TS_BLOCKS] = {&model->cross_points, &model->self_points, &model->cross_centers,
                                                   &model->self_centers};
    model->params = ts_params_create();
    model->book = malloc(((size_t)(model->k * model->c) + 1) * sizeof *model->book);
    if (model->params == NULL || model->book == NULL)
        return ts_error_set(b->error, TS_ERROR_MEMORY, "out of memory for a model");
    ts_construction_code_book(model->construction, model->k, model->book);
    for (int i = 0; i < TS_BLOCKS; i++)
        if (add_block(b, blocks[i], ts_block_names[i], ts_definition_block((ts_definition *)b->definition, i)) != TS_OK)
            return b->error->status;
    if (add_norm_and_feed_forward(b) != TS_OK) return b->error->status;
    if (ts_params_allocate(model->params, b->seed, b->error) != TS_OK) return b->error->status;
    for (int i = 0; i < TS_BLOCKS; i++)
        fill_block(b, blocks[i], ts_definition_block((ts_definition *)b->definition, i));
    fill_norm_and_feed_forward(b);
    return TS_OK;
}

ts_status ts_transformer_build(ts_transformer *model, const ts_definition *definition, int64_t d, int64_t k,
                               uint64_t seed, ts_error *error) {
    *model = (ts_transformer){.d = d, .k = k};
    if (ts_definition_check(definition, d, k, error) != TS_OK) return error->status;
    model->construction = definition->construction;
    model->own_code = definition->cross_centers.own_code;
    model->c = ts_construction_code_width(definition->construction, k);
    model->s = ts_construction_width(definition->construction, k);
    model->e = d + model->s;
    const builder b = {model, definition, seed, error};
    const ts_status status = build(&b);
    if (status != TS_OK) ts_transformer_clear(model);
    return status;
}

void ts_transformer_clear(ts_transformer *model) {
    ts_params_free(model->params);
    free(model->book);
    *model = (ts_transformer){0};
}

ts_status ts_transformer_of_model(ts_transformer *transformer, const ts_model *model, ts_error *error) {
    const ts_definition *definition = model->architecture->definition;
    *transformer = (ts_transformer){0};
    if (definition == NULL)
        return ts_error_set(error, TS_ERROR_VALUE, "%s: its layers are not the four blocks of a definition",
                            model->architecture->name);
    if (ts_transformer_build(transformer, definition, model->layout.d, model->layout.k, 0, error) != TS_OK)
        return error->status;
    for (int i = 0; i < ts_params_count(model->params); i++) {
        const int to = ts_params_find(transformer->params, ts_params_name(model->params, i));
        if (to < 0) continue;
        memcpy(ts_params_value(transformer->params, to), ts_params_value(model->params, i),
               (size_t)ts_shape_size(ts_params_shape(model->params, i)) * sizeof(ts_real));
    }
    return TS_OK;
}

ts_transformer ts_transformer_view(const ts_transformer *model, ts_params *params, uint64_t draw_seed, bool dropout) {
    ts_transformer view = *model;
    ts_attention_block *const blocks[TS_BLOCKS] = {&view.cross_points, &view.self_points, &view.cross_centers,
                                                   &view.self_centers};
    view.params = params;
    for (int i = 0; i < TS_BLOCKS; i++) {
        blocks[i]->spec.dropout_rng.seed = blocks[i]->spec.simplex.rng.seed = draw_seed;
        if (!dropout) blocks[i]->spec.dropout = 0;
    }
    return view;
}

/* ---- tokens -------------------------------------------------------------------------------------------------- */

void ts_transformer_embed(const ts_transformer *model, int64_t rows, const ts_real *data, const ts_real *code,
                          ts_real *tokens) {
    const int64_t d = model->d, c = model->c, e = model->e;
    for (int64_t i = 0; i < rows; i++) {
        ts_real *token = tokens + i * e;
        memcpy(token, data + i * d, (size_t)d * sizeof *token);
        memset(token + d, 0, (size_t)model->s * sizeof *token);
        if (code != NULL) memcpy(token + d, code + i * c, (size_t)c * sizeof *token);
        if (model->construction != TS_CONSTRUCTION_DOT) continue;
        double norm = 0;
        for (int64_t a = 0; a < d; a++) norm += (double)token[a] * (double)token[a];
        token[d + c] = (ts_real)norm;
        token[d + c + 1] = 1;
    }
}

int64_t ts_transformer_decode(const ts_transformer *model, const ts_real *token) {
    const ts_layout layout = {.spec = {.construction = model->construction},
                              .d = model->d,
                              .k = model->k,
                              .c = model->c,
                              .s = model->s,
                              .e = model->e};
    return ts_layout_decode(&layout, token);
}

ts_tensor *ts_transformer_norm_input(const ts_transformer *model, ts_tape *tape, ts_tensor *tokens) {
    if (!model->has_norm) return tokens;
    ts_norm_layer norm = model->norm;
    norm.eps = 0;
    return ts_norm_layer_forward(&norm, model->params, tape, tokens);
}

/* ---- the layer ------------------------------------------------------------------------------------------------ */

/* Adds the self-attention to the residual stream. It comes first, so that what it erases is exactly zero before the
 * cross-attention writes and no rounding error remains. */
static ts_tensor *add_self(const ts_transformer *model, ts_tape *tape, const ts_attention_block *self,
                           ts_tensor *tokens, uint32_t step) {
    const ts_scope scope = ts_scope_begin(tape);
    ts_tensor *erased = ts_attention_block_forward(self, model->params, tape, tokens, tokens, NULL, step);
    return ts_scope_end(tape, scope, ts_add(tape, tokens, erased));
}

static ts_tensor *add_cross(const ts_transformer *model, ts_tape *tape, const ts_attention_block *cross,
                            ts_tensor *stream, ts_tensor *tokens, ts_tensor *context, ts_tensor *mask, uint32_t step) {
    const ts_scope scope = ts_scope_begin(tape);
    ts_tensor *written = ts_attention_block_forward(cross, model->params, tape, tokens, context, mask, step);
    return ts_scope_end(tape, scope, ts_add(tape, stream, written));
}

ts_tensor *ts_transformer_self_attend_points(const ts_transformer *model, ts_tape *tape, ts_tensor *points,
                                             uint32_t step) {
    return add_self(model, tape, &model->self_points, points, step);
}

ts_tensor *ts_transformer_cross_attend_points(const ts_transformer *model, ts_tape *tape, ts_tensor *stream,
                                              ts_tensor *points, ts_tensor *centers, uint32_t step) {
    return add_cross(model, tape, &model->cross_points, stream, points, centers, NULL, step);
}

ts_tensor *ts_transformer_assign(const ts_transformer *model, ts_tape *tape, ts_tensor *points, ts_tensor *centers,
                                 uint32_t step) {
    const ts_scope scope = ts_scope_begin(tape);
    ts_tensor *stream = ts_transformer_self_attend_points(model, tape, points, step);
    return ts_scope_end(tape, scope, ts_transformer_cross_attend_points(model, tape, stream, points, centers, step));
}

/* mask [..,k,n]: 1 where the point carries the code of the centre. NULL if the model needs no mask. */
static ts_tensor *own_code_mask(const ts_transformer *model, ts_tape *tape, const ts_tensor *points) {
    if (!model->own_code || ts_tape_status(tape) != TS_OK) return NULL;
    const int64_t n = points->shape.dim[points->shape.rank - 2], k = model->k;
    ts_shape shape = points->shape;
    shape.dim[shape.rank - 2] = k;
    shape.dim[shape.rank - 1] = n;
    ts_tensor *mask = ts_constant(tape, shape, NULL);
    if (ts_tape_status(tape) != TS_OK) return NULL;
    const int64_t rows = ts_shape_rows(&points->shape);
#pragma omp parallel for if (ts_worth_parallel(rows * model->e))
    for (int64_t r = 0; r < rows; r++) {
        const int64_t j = ts_transformer_decode(model, points->data + r * model->e);
        mask->data[(r / n * k + j) * n + r % n] = 1;
    }
    return mask;
}

ts_tensor *ts_transformer_attend_centers(const ts_transformer *model, ts_tape *tape, ts_tensor *points,
                                         ts_tensor *centers, uint32_t step) {
    const ts_scope scope = ts_scope_begin(tape);
    ts_tensor *mask = own_code_mask(model, tape, points);
    ts_tensor *stream = add_self(model, tape, &model->self_centers, centers, step);
    return ts_scope_end(tape, scope,
                        add_cross(model, tape, &model->cross_centers, stream, centers, points, mask, step));
}

ts_tensor *ts_transformer_norm_and_feed_forward(const ts_transformer *model, ts_tape *tape, ts_tensor *centers) {
    if (model->has_norm) centers = ts_norm_layer_forward(&model->norm, model->params, tape, centers);
    if (model->has_feed_forward) centers = ts_feed_forward_forward(&model->feed_forward, model->params, tape, centers);
    return centers;
}

ts_tensor *ts_transformer_update(const ts_transformer *model, ts_tape *tape, ts_tensor *points, ts_tensor *centers,
                                 uint32_t step) {
    return ts_transformer_norm_and_feed_forward(model, tape,
                                                ts_transformer_attend_centers(model, tape, points, centers, step));
}

ts_tensor *ts_transformer_assign_weights(const ts_transformer *model, ts_tape *tape, ts_tensor *points,
                                         ts_tensor *centers, uint32_t step) {
    return ts_attention_block_weights(&model->cross_points, model->params, tape, points, centers, NULL, step);
}

ts_tensor *ts_transformer_update_weights(const ts_transformer *model, ts_tape *tape, ts_tensor *points,
                                         ts_tensor *centers, uint32_t step) {
    const ts_scope scope = ts_scope_begin(tape);
    ts_tensor *mask = own_code_mask(model, tape, points);
    ts_tensor *weights =
        ts_attention_block_weights(&model->cross_centers, model->params, tape, centers, points, mask, step);
    return ts_scope_end(tape, scope, weights);
}
