/* layer.c: layers as data: specs, building, parameters, types by name. */
#include "layer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/layer_list.h" /* written by meson from its list of types */

/* ---- types ------------------------------------------------------------------------------------------------------ */

const ts_field ts_no_fields[] = {{.name = NULL}};

#define DECLARE(name) extern const ts_layer_type ts_##name##_layer;
#define ENTRY(name) &ts_##name##_layer,
TS_LAYERS(DECLARE)
const ts_layer_type *const ts_layer_types[] = {TS_LAYERS(ENTRY) NULL};

enum { MOST_REGISTERED = 64 };
static const ts_layer_type *registered[MOST_REGISTERED];
static int n_registered;

const ts_layer_type *ts_layer_type_by_name(const char *name) {
    for (int i = 0; ts_layer_types[i] != NULL; i++)
        if (strcmp(ts_layer_types[i]->name, name) == 0) return ts_layer_types[i];
    for (int i = 0; i < n_registered; i++)
        if (strcmp(registered[i]->name, name) == 0) return registered[i];
    return NULL;
}

ts_status ts_layer_register(const ts_layer_type *type, ts_error *error) {
    if (type == NULL || type->name == NULL || type->fields == NULL || type->forward == NULL)
        return ts_error_set(error, TS_ERROR_USAGE, "a layer type needs a name, fields and a forward function");
    if (ts_fields_places(type->fields) > TS_MAX_FIELDS)
        return ts_error_set(error, TS_ERROR_USAGE, "%s: more than %d fields", type->name, TS_MAX_FIELDS);
    if (ts_layer_type_by_name(type->name) == type) return TS_OK;
    if (ts_layer_type_by_name(type->name) != NULL)
        return ts_error_set(error, TS_ERROR_USAGE, "%s: there is a layer type of that name", type->name);
    if (n_registered == MOST_REGISTERED)
        return ts_error_set(error, TS_ERROR_USAGE, "%s: more than %d layer types", type->name, MOST_REGISTERED);
    registered[n_registered++] = type;
    return TS_OK;
}

/* ---- specs ------------------------------------------------------------------------------------------------------ */

ts_layer_spec *ts_layer_spec_create(const ts_layer_type *type) {
    ts_layer_spec *spec = type == NULL ? NULL : calloc(1, sizeof *spec);
    if (spec == NULL) return NULL;
    spec->type = type;
    ts_fields_set_defaults(type->fields, spec->field);
    for (int i = 0; type->parts != NULL && type->parts[i] != NULL; i++) spec->n_parts++;
    return spec;
}

void ts_layer_spec_free(ts_layer_spec *spec) {
    if (spec == NULL) return;
    for (int i = 0; i < spec->n_parts; i++) ts_layer_spec_free(spec->part[i]);
    free(spec);
}

double *ts_layer_field(ts_layer_spec *spec, const char *name) {
    const int place = ts_field_place(spec->type->fields, name);
    return place < 0 ? NULL : &spec->field[place];
}

ts_status ts_layer_spec_add(ts_layer_spec *spec, ts_layer_spec *part, ts_error *error) {
    if (spec != NULL && part != NULL && spec->n_parts < TS_LAYER_PARTS) {
        spec->part[spec->n_parts++] = part;
        return TS_OK;
    }
    ts_layer_spec_free(part);
    if (spec == NULL || part == NULL) return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a layer");
    return ts_error_set(error, TS_ERROR_VALUE, "%s: more than %d layers", spec->type->name, TS_LAYER_PARTS);
}

/* ---- building ---------------------------------------------------------------------------------------------------- */

double ts_layer_value(const ts_layer *layer, int place) {
    return layer->spec->field[place];
}

ts_status ts_layer_refuse(const ts_layer *layer, ts_layer_builder *builder, const char *format, ...) {
    char reason[300];
    va_list values;
    va_start(values, format);
    vsnprintf(reason, sizeof reason, format, values);
    va_end(values);
    return ts_error_set(builder->error, TS_ERROR_VALUE, "%s: %s", layer->path, reason);
}

int ts_layer_param(ts_layer *layer, ts_layer_builder *builder, const char *name, ts_shape shape, ts_init init) {
    char full[TS_LAYER_PATH + TS_LAYER_NAME];
    snprintf(full, sizeof full, "%s.%s", layer->prefix, name);
    return ts_params_add(builder->params, full, shape, init, builder->error);
}

int ts_layer_matrix(ts_layer *layer, ts_layer_builder *builder, const char *name, int64_t in, int64_t out) {
    const ts_init init = {.kind = TS_INIT_UNIFORM, .bound = 1 / sqrt((double)in)};
    return ts_layer_param(layer, builder, name, TS_SHAPE(in, out), init);
}

/* The streams' names come from the parameters' prefix, so that other layers do not change a layer's draws. */
static void name_streams(ts_layer *layer) {
    char text[TS_LAYER_PATH + TS_LAYER_NAME];
    snprintf(text, sizeof text, "%s.dropout", layer->prefix);
    layer->stream[0] = ts_rng_stream(text);
    snprintf(text, sizeof text, "%s.simplex", layer->prefix);
    layer->stream[1] = ts_rng_stream(text);
}

static bool build_parts(ts_layer *layer, ts_layer_builder *builder) {
    const ts_layer_spec *spec = layer->spec;
    for (int next = 0; next < spec->n_parts; next++) {
        char place[TS_LAYER_PATH + 32], prefix[TS_LAYER_PATH + 32];
        const int i = spec->type->last_first ? spec->n_parts - 1 - next : next;
        if (spec->part[i] == NULL) continue;
        if (spec->type->parts != NULL) {
            snprintf(place, sizeof place, "%s.%s", layer->path, spec->type->parts[i]);
            snprintf(prefix, sizeof prefix, "%s.%s", layer->prefix, spec->type->parts[i]);
        } else {
            snprintf(place, sizeof place, "%s[%d]", layer->path, i);
            snprintf(prefix, sizeof prefix, "%s.%d", layer->prefix, i);
        }
        const bool outer = builder->of_part;
        builder->of_part = outer || spec->type->parts != NULL;
        layer->part[i] = ts_layer_build(spec->part[i], place, prefix, builder);
        builder->of_part = outer;
        if (layer->part[i] == NULL) return false;
    }
    return true;
}

static bool check_fields(ts_layer *layer, ts_layer_builder *builder) {
    ts_error reason = {.status = TS_OK};
    if (ts_fields_check(layer->spec->type->fields, layer->spec->field, &reason) == TS_OK) return true;
    ts_layer_refuse(layer, builder, "%s", reason.text);
    return false;
}

ts_layer *ts_layer_build(const ts_layer_spec *spec, const char *place, const char *prefix, ts_layer_builder *builder) {
    ts_layer *layer = calloc(1, sizeof *layer);
    if (layer == NULL) {
        ts_error_set(builder->error, TS_ERROR_MEMORY, "out of memory for a layer");
        return NULL;
    }
    *layer = (ts_layer){.spec = spec, .n_parts = spec->n_parts, .on_centers = builder->on_centers};
    for (int i = 0; i < TS_LAYER_PARAMS; i++) layer->param[i] = -1;
    const size_t length = strlen(place);
    const bool named = length > 0 && place[length - 1] != ']'; /* layers[0].points[1] has its type's name yet to get */
    int path, names;
    if (named)
        path = snprintf(layer->path, sizeof layer->path, "%s", place);
    else
        path = snprintf(layer->path, sizeof layer->path, "%s.%s", place, spec->type->name);
    if (spec->name[0] != '\0')
        names = snprintf(layer->prefix, sizeof layer->prefix, "%s", spec->name);
    else if (named)
        names = snprintf(layer->prefix, sizeof layer->prefix, "%s", prefix);
    else
        names = snprintf(layer->prefix, sizeof layer->prefix, "%s.%s", prefix, spec->type->name);
    name_streams(layer);
    bool done = path < TS_LAYER_PATH && names < TS_LAYER_PATH;
    if (!done) ts_error_set(builder->error, TS_ERROR_VALUE, "%.60s...: layers are nested too deeply", place);
    done = done && check_fields(layer, builder) && build_parts(layer, builder);
    if (done && spec->type->build != NULL) done = spec->type->build(layer, builder) == TS_OK;
    if (done && builder->error->status == TS_OK) return layer;
    ts_layer_free(layer);
    return NULL;
}

void ts_layer_free(ts_layer *layer) {
    if (layer == NULL) return;
    for (int i = 0; i < layer->n_parts; i++) ts_layer_free(layer->part[i]);
    free(layer);
}

void ts_layer_fill(const ts_layer *layer, ts_params *params, const ts_layout *layout) {
    for (int i = 0; i < layer->n_parts; i++)
        if (layer->part[i] != NULL) ts_layer_fill(layer->part[i], params, layout);
    if (layer->spec->type->fill != NULL) layer->spec->type->fill(layer, params, layout);
}

/* ---- applying ---------------------------------------------------------------------------------------------------- */

static ts_tensor *remembered(const ts_layer *layer, const ts_streams *streams, const ts_tensor *x) {
    for (int i = 0; x == streams->fresh && x != NULL && i < streams->n_memo; i++)
        if (streams->memo[i].layer == layer) return streams->memo[i].output;
    return NULL;
}

ts_tensor *ts_layer_forward(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    const ts_layer_type *type = layer->spec->type;
    ts_tensor *before = remembered(layer, streams, x);
    if (before != NULL) return before;
    ts_tensor *y = type->forward(layer, streams, x);
    const bool lasts = streams->scopes == 0 || ts_tape_records(streams->tape);
    const bool same = x != NULL && x == streams->fresh && type->alone != NULL && type->alone(layer);
    if (same && lasts && streams->n_memo < TS_MEMO) {
        streams->memo[streams->n_memo].layer = layer;
        streams->memo[streams->n_memo++].output = y;
    }
    return y;
}

ts_tensor *ts_layer_use(const ts_layer *layer, int slot, ts_streams *streams) {
    return ts_params_use(streams->params, layer->param[slot], streams->tape);
}

ts_scope ts_layer_scope_begin(ts_streams *streams) {
    streams->scopes++;
    return ts_scope_begin(streams->tape);
}

ts_tensor *ts_layer_scope_end(ts_streams *streams, ts_scope scope, ts_tensor *keep) {
    streams->scopes--;
    return ts_scope_end(streams->tape, scope, keep);
}

ts_tensor *ts_data_of(ts_streams *streams, ts_tensor *rows) {
    return ts_slice(streams->tape, rows, -1, 0, streams->layout.d);
}

ts_tensor *ts_rest_of(ts_streams *streams, ts_tensor *rows) {
    return ts_slice(streams->tape, rows, -1, streams->layout.d, streams->layout.s);
}

ts_tensor *ts_join_data(ts_streams *streams, ts_tensor *data, ts_tensor *rest) {
    if (streams->layout.s == 0) return data;
    return ts_concat(streams->tape, 2, (ts_tensor *[]){data, rest}, -1);
}
