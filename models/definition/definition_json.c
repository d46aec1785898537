/* definition_json.c: the JSON reader and writer of definitions. */
#include "definition_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_reader.h"

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool read_projection(const ts_json_reader *r, json_t *object, const char *key, ts_projection *p) {
    *p = (ts_projection){0};
    return ts_json_copies(r, object, key, &p->learned, &p->n_copies, p->copy);
}

static bool read_simplex(const ts_json_reader *r, json_t *object, ts_simplex_spec *spec) {
    const char *names[32] = {NULL}, *word = ts_json_word(r, object, "simplex");
    const ts_json_reader in = ts_json_inside(r, "simplex");
    if (word == NULL) return false;
    for (int i = 0; ts_simplex_maps[i] != NULL && i < 31; i++) names[i] = ts_simplex_maps[i]->name;
    const int place = ts_json_place(r, "simplex", word, names);
    if (place < 0) return false;
    spec->map = ts_simplex_maps[place];
    if (spec->map->parameter_ok == NULL && json_object_get(object, "parameter") != NULL)
        return ts_json_refuse(&in, "%s has no parameter", word);
    if (spec->map->parameter_ok != NULL && json_object_get(object, "parameter") == NULL)
        return ts_json_refuse(&in, "%s needs a parameter: %s", word, spec->map->parameter_rule);
    return ts_json_number(r, object, "parameter", &spec->parameter);
}

static bool read_block(const ts_json_reader *outer, json_t *root, const char *name, ts_block_definition *b) {
    static const char *const scores[] = {"dot", "euclidean", NULL};
    static const char keys[] = "identity|score|simplex|parameter|gamma|scaled|dropout|own_code|query|key|value";
    json_t *object = json_object_get(root, name);
    const ts_json_reader r = ts_json_inside(outer, name);
    *b = (ts_block_definition){.gamma = 1};
    if (object == NULL) return ts_json_refuse(&r, "is missing");
    if (!ts_json_object_ok(&r, object, keys) || !ts_json_flag(&r, object, "identity", &b->identity)) return false;
    if (!read_projection(&r, object, "value", &b->value)) return false;
    if (b->identity) return ts_json_object_ok(&r, object, "identity|value"); /* other keys would have no effect */
    const char *score = ts_json_word(&r, object, "score");
    const int place = score == NULL ? -1 : ts_json_place(&r, "score", score, scores);
    if (place < 0 || !read_simplex(&r, object, &b->simplex)) return false;
    b->score = place == 0 ? TS_SCORE_DOT : TS_SCORE_EUCLIDEAN;
    return ts_json_number(&r, object, "gamma", &b->gamma) && ts_json_number(&r, object, "dropout", &b->dropout) &&
           ts_json_flag(&r, object, "scaled", &b->scaled) && ts_json_flag(&r, object, "own_code", &b->own_code) &&
           read_projection(&r, object, "query", &b->query) && read_projection(&r, object, "key", &b->key);
}

static bool read_norm(const ts_json_reader *outer, json_t *root, ts_norm_definition *norm) {
    json_t *object = json_object_get(root, "norm");
    const ts_json_reader r = ts_json_inside(outer, "norm");
    if (object == NULL) return true;
    *norm = (ts_norm_definition){.present = true, .length = 1};
    return ts_json_object_ok(&r, object, "range|length|eps") && ts_json_range(&r, object, "range", &norm->range) &&
           ts_json_number(&r, object, "length", &norm->length) && ts_json_number(&r, object, "eps", &norm->eps);
}

static bool read_unit(const ts_json_reader *r, json_t *value, ts_unit *unit) {
    *unit = (ts_unit){.scale = 1, .weight = 1};
    return ts_json_object_ok(r, value, "from|to|scale|weight") && ts_json_range(r, value, "from", &unit->from) &&
           ts_json_range(r, value, "to", &unit->to) && ts_json_number(r, value, "scale", &unit->scale) &&
           ts_json_number(r, value, "weight", &unit->weight);
}

static bool read_feed_forward(const ts_json_reader *outer, json_t *root, ts_feed_forward_definition *f) {
    json_t *object = json_object_get(root, "feed_forward");
    const ts_json_reader r = ts_json_inside(outer, "feed_forward");
    if (object == NULL) return true;
    *f = (ts_feed_forward_definition){.present = true};
    if (!ts_json_object_ok(&r, object, "activation|hidden|units")) return false;
    const char *word = ts_json_word(&r, object, "activation");
    const int place = word == NULL ? -1 : ts_json_place(&r, "activation", word, ts_activation_words);
    if (place < 0) return false;
    f->activation = ts_activation_at(place);
    json_t *units = json_object_get(object, "units"), *hidden = json_object_get(object, "hidden");
    if ((units == NULL) == (hidden == NULL))
        return ts_json_refuse(&r, "either units, fixed, or hidden, learned, is needed");
    f->learned = hidden != NULL;
    if (f->learned) {
        if (!json_is_integer(hidden) || json_integer_value(hidden) < 1 || json_integer_value(hidden) > 1 << 20)
            return ts_json_refuse(&r, "hidden must be a whole number from 1 to 1048576");
        f->hidden = json_integer_value(hidden);
        return true;
    }
    if (!json_is_array(units) || json_array_size(units) < 1 || json_array_size(units) > TS_MAX_UNITS)
        return ts_json_refuse(&r, "units must be a list of 1 to %d", TS_MAX_UNITS);
    for (size_t i = 0; i < json_array_size(units); i++)
        if (!read_unit(&r, json_array_get(units, i), &f->unit[f->n_units++])) return false;
    return true;
}

static bool read_definition(const ts_json_reader *r, json_t *root, ts_definition *d) {
    static const char keys[] =
        "name|tokens|medoids|trims|cross_points|self_points|cross_centers|self_centers|norm|feed_forward";
    *d = (ts_definition){0};
    if (!ts_json_object_ok(r, root, keys)) return false;
    if (!ts_json_name(r, root, "name", d->name, sizeof d->name)) return false;
    const char *construction = ts_json_word(r, root, "tokens");
    if (construction == NULL) return false;
    const int place = ts_json_place(r, "tokens", construction, ts_construction_names);
    if (place < 0) return false;
    d->construction = (ts_construction)place;
    if (!ts_json_flag(r, root, "medoids", &d->medoids) || !ts_json_flag(r, root, "trims", &d->trims)) return false;
    for (int i = 0; i < TS_BLOCKS; i++)
        if (!read_block(r, root, ts_block_names[i], ts_definition_block(d, i))) return false;
    return read_norm(r, root, &d->norm) && read_feed_forward(r, root, &d->feed_forward);
}

ts_status ts_definition_from_json(const char *text, size_t length, ts_definition *definition, ts_error *error) {
    const ts_json_reader r = {.error = error};
    json_t *root = ts_json_parse(text, length, error);
    if (root == NULL) return error->status;
    const bool done = read_definition(&r, root, definition);
    json_decref(root);
    return done ? TS_OK : error->status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void write_projection(FILE *out, const char *key, const ts_projection *p) {
    fprintf(out, ",\n    \"%s\": ", key);
    ts_json_write_copies(out, p->learned, p->n_copies, p->copy);
}

static void write_member(FILE *out, const char *key, double value) {
    fprintf(out, ", \"%s\": ", key);
    ts_json_write_number(out, value);
}

static void write_block(FILE *out, const char *name, const ts_block_definition *b) {
    fprintf(out, ",\n  \"%s\": {", name);
    if (b->identity) {
        fputs("\n    \"identity\": true", out);
    } else {
        fprintf(out, "\n    \"score\": \"%s\", \"simplex\": \"%s\"", b->score == TS_SCORE_DOT ? "dot" : "euclidean",
                b->simplex.map->name);
        if (b->simplex.map->parameter_ok != NULL) write_member(out, "parameter", b->simplex.parameter);
        write_member(out, "gamma", b->gamma);
        if (b->dropout > 0) write_member(out, "dropout", b->dropout);
        if (b->scaled) fputs(", \"scaled\": true", out);
        if (b->own_code) fputs(", \"own_code\": true", out);
        write_projection(out, "query", &b->query);
        write_projection(out, "key", &b->key);
    }
    write_projection(out, "value", &b->value);
    fputs("\n  }", out);
}

static void write_feed_forward(FILE *out, const ts_feed_forward_definition *f) {
    const char *activation = ts_activation_words[ts_activation_place(f->activation)];
    fprintf(out, ",\n  \"feed_forward\": {\n    \"activation\": \"%s\"", activation);
    if (f->learned) fprintf(out, ", \"hidden\": %lld", (long long)f->hidden);
    for (int i = 0; !f->learned && i < f->n_units; i++) {
        fputs(i == 0 ? ",\n    \"units\": [{\"from\": \"" : ",\n              {\"from\": \"", out);
        ts_json_write_range(out, &f->unit[i].from);
        fputs("\", \"to\": \"", out);
        ts_json_write_range(out, &f->unit[i].to);
        fputc('"', out);
        write_member(out, "scale", f->unit[i].scale);
        write_member(out, "weight", f->unit[i].weight);
        fputs(i + 1 == f->n_units ? "}]" : "}", out);
    }
    fputs("\n  }", out);
}

static void write_definition(FILE *out, const ts_definition *d) {
    fputs("{\n  \"name\": ", out);
    ts_json_write_text(out, d->name);
    fprintf(out, ",\n  \"tokens\": \"%s\"", ts_construction_names[d->construction]);
    if (d->medoids) fputs(",\n  \"medoids\": true", out);
    if (d->trims) fputs(",\n  \"trims\": true", out);
    for (int i = 0; i < TS_BLOCKS; i++) write_block(out, ts_block_names[i], ts_definition_block((ts_definition *)d, i));
    if (d->norm.present) {
        fputs(",\n  \"norm\": {\"range\": \"", out);
        ts_json_write_range(out, &d->norm.range);
        fputc('"', out);
        write_member(out, "length", d->norm.length);
        write_member(out, "eps", d->norm.eps);
        fputc('}', out);
    }
    if (d->feed_forward.present) write_feed_forward(out, &d->feed_forward);
    fputs("\n}\n", out);
}

char *ts_definition_to_json(const ts_definition *definition) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) return NULL;
    write_definition(out, definition);
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}
