/* architecture.c: architectures in memory, and definitions as architectures. */
#include "architecture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ts_labels_names[] = {"nearest", "code", NULL};

ts_architecture *ts_architecture_create(const char *name) {
    ts_architecture *a = calloc(1, sizeof *a);
    if (a == NULL) return NULL;
    snprintf(a->name, sizeof a->name, "%s", name);
    a->tokens.construction = TS_CONSTRUCTION_NONE;
    return a;
}

void ts_architecture_free(ts_architecture *a) {
    if (a == NULL) return;
    for (int i = 0; i < a->n_layers; i++) {
        ts_layer_spec_free(a->layer[i].points);
        ts_layer_spec_free(a->layer[i].centers);
    }
    free(a->definition);
    free(a);
}

static ts_layer_spec *copy_spec(const ts_layer_spec *spec) {
    ts_layer_spec *copy = malloc(sizeof *copy);
    if (copy == NULL) return NULL;
    *copy = *spec;
    memset(copy->part, 0, sizeof copy->part);
    for (int i = 0; i < spec->n_parts; i++) {
        if (spec->part[i] == NULL) continue;
        copy->part[i] = copy_spec(spec->part[i]);
        if (copy->part[i] != NULL) continue;
        ts_layer_spec_free(copy);
        return NULL;
    }
    return copy;
}

ts_architecture *ts_architecture_copy(const ts_architecture *a) {
    ts_architecture *copy = malloc(sizeof *copy);
    if (copy == NULL) return NULL;
    *copy = *a;
    bool done = true;
    if (a->definition != NULL) {
        copy->definition = malloc(sizeof *copy->definition);
        done = copy->definition != NULL;
        if (done) *copy->definition = *a->definition;
    }
    for (int i = 0; i < a->n_layers; i++) {
        copy->layer[i].points = copy_spec(a->layer[i].points);
        copy->layer[i].centers = copy_spec(a->layer[i].centers);
        done = done && copy->layer[i].points != NULL && copy->layer[i].centers != NULL;
    }
    if (done) return copy;
    ts_architecture_free(copy);
    return NULL;
}

ts_architecture_layer *ts_architecture_add(ts_architecture *a, ts_error *error) {
    const ts_layer_type *sequence = ts_layer_type_by_name("sequence");
    if (a->n_layers == TS_MAX_LAYERS) {
        ts_error_set(error, TS_ERROR_VALUE, "more than %d layers", TS_MAX_LAYERS);
        return NULL;
    }
    ts_architecture_layer *layer = &a->layer[a->n_layers];
    *layer = (ts_architecture_layer){1, true, ts_layer_spec_create(sequence), ts_layer_spec_create(sequence)};
    a->n_layers++;
    if (layer->points != NULL && layer->centers != NULL) return layer;
    ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a layer");
    return NULL;
}

/* ---- from a definition ------------------------------------------------------------------------------------------- */

bool ts_definition_is_learned(const ts_definition *definition) {
    bool learned = definition->feed_forward.present && definition->feed_forward.learned;
    for (int i = 0; i < TS_BLOCKS; i++) {
        const ts_block_definition *b = ts_definition_block((ts_definition *)definition, i);
        learned = learned || b->value.learned || (!b->identity && (b->query.learned || b->key.learned));
    }
    return learned;
}

/* A layer of a built-in type with a name; NULL when out of memory. */
static ts_layer_spec *named(const char *type, const char *name) {
    ts_layer_spec *spec = ts_layer_spec_create(ts_layer_type_by_name(type));
    if (spec != NULL) snprintf(spec->name, sizeof spec->name, "%s", name);
    return spec;
}

static void set(ts_layer_spec *spec, const char *field, double value) {
    *ts_layer_field(spec, field) = value;
}

static bool project(ts_layer_spec *attention, int part, const ts_projection *p) {
    if (p->learned) return true;
    ts_layer_spec *linear = named("linear", "");
    attention->part[part] = linear;
    for (int i = 0; linear != NULL && i < p->n_copies; i++)
        linear->copy[linear->n_copies++] = (ts_layer_copy){p->copy[i], 1};
    return linear != NULL;
}

static ts_layer_spec *attention(const ts_block_definition *b, const char *name, bool over_centers) {
    ts_layer_spec *a = named("attention", name);
    if (a == NULL) return NULL;
    set(a, "over", over_centers);
    set(a, "identity", b->identity);
    bool done = project(a, 2, &b->value);
    if (!b->identity) {
        const ts_field simplex = {.kind = TS_FIELD_MAP};
        set(a, "score", b->score == TS_SCORE_EUCLIDEAN);
        set(a, "simplex", ts_field_number(&simplex, b->simplex.map->name));
        set(a, "parameter", b->simplex.parameter);
        set(a, "scaled", b->scaled);
        set(a, "own_code", b->own_code);
        set(a, "dropout", b->dropout);
        set(a, "gamma", b->gamma);
        done = done && project(a, 0, &b->query) && project(a, 1, &b->key);
    }
    if (done) return a;
    ts_layer_spec_free(a);
    return NULL;
}

/* x + self(x) + cross(x): what the self block erases is exactly zero before the cross block writes. */
static ts_status add_blocks(ts_layer_spec *list, const ts_definition *d, int cross, bool centers, ts_error *error) {
    ts_definition *source = (ts_definition *)d;
    ts_layer_spec *residual = named("residual", "");
    if (ts_layer_spec_add(list, residual, error) != TS_OK) return error->status;
    ts_layer_spec *self = attention(ts_definition_block(source, cross + 1), ts_block_names[cross + 1], centers),
                  *other = attention(ts_definition_block(source, cross), ts_block_names[cross], !centers);
    if (ts_layer_spec_add(residual, self, error) == TS_OK) return ts_layer_spec_add(residual, other, error);
    ts_layer_spec_free(other);
    return error->status;
}

static ts_status add_norm(ts_layer_spec *list, const ts_norm_definition *norm, ts_error *error) {
    ts_layer_spec *spec = named("rms_norm", "norm");
    if (spec != NULL) {
        set(spec, "range", norm->range.group);
        set(spec, "first", (double)norm->range.first);
        set(spec, "count", (double)norm->range.count);
        set(spec, "length", norm->length);
        set(spec, "eps", norm->eps);
    }
    return ts_layer_spec_add(list, spec, error);
}

static ts_status add_feed_forward(ts_layer_spec *list, const ts_feed_forward_definition *f, ts_error *error) {
    ts_layer_spec *residual = named("residual", "");
    if (ts_layer_spec_add(list, residual, error) != TS_OK) return error->status;
    ts_layer_spec *spec = named("feed_forward", "feed_forward");
    if (spec != NULL) {
        set(spec, "activation", ts_activation_place(f->activation));
        if (f->learned) set(spec, "hidden", (double)f->hidden);
        for (int i = 0; i < f->n_units && !f->learned; i++) {
            const ts_copy copy = {f->unit[i].from, f->unit[i].to, f->unit[i].scale};
            spec->copy[spec->n_copies++] = (ts_layer_copy){copy, f->unit[i].weight};
        }
    }
    return ts_layer_spec_add(residual, spec, error);
}

static ts_status compose(ts_architecture *a, const ts_definition *d, ts_error *error) {
    ts_architecture_layer *layer = ts_architecture_add(a, error);
    if (layer == NULL) return error->status;
    if (add_blocks(layer->points, d, 0, false, error) != TS_OK) return error->status;
    if (add_blocks(layer->centers, d, 2, true, error) != TS_OK) return error->status;
    if (d->norm.present && add_norm(layer->centers, &d->norm, error) != TS_OK) return error->status;
    if (d->feed_forward.present) return add_feed_forward(layer->centers, &d->feed_forward, error);
    return TS_OK;
}

ts_architecture *ts_architecture_of_definition(const ts_definition *d, ts_error *error) {
    ts_architecture *a = ts_architecture_create(d->name);
    if (a != NULL) a->definition = malloc(sizeof *a->definition);
    if (a == NULL || a->definition == NULL) {
        ts_architecture_free(a);
        ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a model");
        return NULL;
    }
    *a->definition = *d;
    a->tokens.construction = d->construction;
    a->labels =
        ts_definition_is_learned(d) || d->construction == TS_CONSTRUCTION_NONE ? TS_LABELS_NEAREST : TS_LABELS_CODE;
    if (compose(a, d, error) == TS_OK) return a;
    ts_architecture_free(a);
    return NULL;
}
