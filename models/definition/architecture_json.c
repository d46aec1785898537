/* architecture_json.c: the JSON reader and writer of architectures: layers by their described fields. */
#include "architecture_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "definition_json.h"
#include "json_reader.h"

/* ---- reading: fields --------------------------------------------------------------------------------------------- */

static bool read_choice(const ts_json_reader *r, json_t *member, const ts_field *f, double *value) {
    const char *word = json_string_value(member);
    char known[300] = "";
    if (word == NULL) return ts_json_refuse(r, "a word is needed");
    const int number = ts_field_number(f, word);
    *value = number;
    if (number >= 0) return true;
    const char *choice;
    for (int i = 0; (choice = ts_field_word(f, i)) != NULL; i++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ", choice);
    }
    return ts_json_refuse(r, "unknown '%s' (%s)", word, known);
}

static bool read_numbers(const ts_json_reader *r, json_t *member, const ts_field *f, double *values) {
    const size_t most = f->numbers > 0 ? (size_t)f->numbers : 1, count = json_array_size(member);
    if (!json_is_array(member)) {
        if (!json_is_number(member)) return ts_json_refuse(r, "a number is needed");
        values[0] = json_number_value(member);
        return true;
    }
    if (f->numbers == 0) return ts_json_refuse(r, "one number is needed");
    if (count < 1 || count > most) return ts_json_refuse(r, "%zu numbers; 1 to %zu fit", count, most);
    for (size_t i = 0; i < count; i++) {
        if (!json_is_number(json_array_get(member, i))) return ts_json_refuse(r, "numbers are needed");
        values[i] = json_number_value(json_array_get(member, i));
    }
    return true;
}

static bool read_field(const ts_json_reader *outer, json_t *object, const ts_field *f, double *values) {
    json_t *member = json_object_get(object, f->name);
    const ts_json_reader r = ts_json_inside(outer, f->name);
    if (member == NULL) return !isnan(f->initial) || ts_json_refuse(&r, "is missing");
    switch (f->kind) {
    case TS_FIELD_FLAG:
        if (!json_is_boolean(member)) return ts_json_refuse(&r, "true or false is needed");
        values[0] = json_is_true(member);
        return true;
    case TS_FIELD_CHOICE:
    case TS_FIELD_MAP: return read_choice(&r, member, f, values);
    case TS_FIELD_WHOLE:
    case TS_FIELD_REAL: break;
    }
    return read_numbers(&r, member, f, values);
}

/* ---- reading: layers --------------------------------------------------------------------------------------------- */

static ts_layer_spec *read_layer(const ts_json_reader *r, json_t *value);

/* "name|heads|..": all keys of a type, in an array of `size` bytes. */
static void list_keys(const ts_layer_type *type, char *keys, size_t size) {
    size_t used = (size_t)snprintf(keys, size, "name");
    for (const ts_field *f = type->fields; f->name != NULL && used < size; f++)
        used += (size_t)snprintf(keys + used, size - used, "|%s", f->name);
    for (int i = 0; type->parts != NULL && type->parts[i] != NULL && used < size; i++)
        used += (size_t)snprintf(keys + used, size - used, "|%s", type->parts[i]);
    if (type->list && used < size) used += (size_t)snprintf(keys + used, size - used, "|layers");
    if (type->copies && used < size) snprintf(keys + used, size - used, "|copies|units");
}

static bool read_list(const ts_json_reader *outer, json_t *list, ts_layer_spec *spec) {
    if (!json_is_array(list)) return ts_json_refuse(outer, "a list of layers [...] is needed");
    for (size_t i = 0; i < json_array_size(list); i++) {
        char place[32];
        ts_json_reader r = *outer;
        snprintf(place, sizeof place, "[%zu]", i);
        const size_t length = strlen(r.path);
        snprintf(r.path + length, sizeof r.path - length, "%s", place);
        ts_layer_spec *part = read_layer(&r, json_array_get(list, i));
        if (part == NULL || ts_layer_spec_add(spec, part, r.error) != TS_OK) return false;
    }
    return true;
}

static bool read_copies(const ts_json_reader *r, json_t *object, const char *key, ts_layer_spec *spec, bool *learned) {
    ts_copy copy[TS_MAX_COPIES];
    if (!ts_json_copies(r, object, key, learned, &spec->n_copies, copy)) return false;
    for (int i = 0; i < spec->n_copies; i++) spec->copy[i] = (ts_layer_copy){copy[i], 1};
    return true;
}

static bool read_units(const ts_json_reader *outer, json_t *list, ts_layer_spec *spec) {
    const ts_json_reader r = ts_json_inside(outer, "units");
    if (!json_is_array(list) || json_array_size(list) < 1 || json_array_size(list) > TS_MAX_COPIES)
        return ts_json_refuse(&r, "a list of 1 to %d is needed", TS_MAX_COPIES);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *value = json_array_get(list, i);
        ts_layer_copy *unit = &spec->copy[spec->n_copies++];
        *unit = (ts_layer_copy){.copy = {.scale = 1}, .weight = 1};
        if (!ts_json_object_ok(&r, value, "from|to|scale|weight") ||
            !ts_json_range(&r, value, "from", &unit->copy.from) || !ts_json_range(&r, value, "to", &unit->copy.to) ||
            !ts_json_number(&r, value, "scale", &unit->copy.scale) ||
            !ts_json_number(&r, value, "weight", &unit->weight))
            return false;
    }
    return true;
}

static bool fill_layer(const ts_json_reader *r, json_t *object, ts_layer_spec *spec);

/* A projection: "learned", a group, copies, or the fields of a linear layer. */
static bool read_part(const ts_json_reader *outer, json_t *object, const char *key, ts_layer_spec **part) {
    json_t *value = json_object_get(object, key);
    const ts_json_reader r = ts_json_inside(outer, key);
    bool learned = false;
    if (value == NULL) return true;
    ts_layer_spec *spec = ts_layer_spec_create(ts_layer_type_by_name("linear"));
    if (spec == NULL) return ts_json_refuse(&r, "out of memory");
    const bool done =
        json_is_object(value) ? fill_layer(&r, value, spec) : read_copies(outer, object, key, spec, &learned);
    if (done && !learned)
        *part = spec;
    else
        ts_layer_spec_free(spec);
    return done;
}

static bool fill_layer(const ts_json_reader *r, json_t *object, ts_layer_spec *spec) {
    const ts_layer_type *type = spec->type;
    char keys[700];
    bool learned = false;
    double *at = spec->field;
    list_keys(type, keys, sizeof keys);
    if (!ts_json_object_ok(r, object, keys)) return false;
    if (json_object_get(object, "name") != NULL && !ts_json_name(r, object, "name", spec->name, sizeof spec->name))
        return false;
    for (const ts_field *f = type->fields; f->name != NULL; at += f->numbers > 0 ? f->numbers : 1, f++)
        if (!read_field(r, object, f, at)) return false;
    for (int i = 0; type->parts != NULL && type->parts[i] != NULL; i++)
        if (!read_part(r, object, type->parts[i], &spec->part[i])) return false;
    json_t *copies = json_object_get(object, "copies"), *units = json_object_get(object, "units");
    if (copies != NULL && units != NULL) return ts_json_refuse(r, "either copies or units");
    if (copies != NULL && !read_copies(r, object, "copies", spec, &learned)) return false;
    if (units != NULL && !read_units(r, units, spec)) return false;
    if (!type->list) return true;
    const ts_json_reader in = ts_json_inside(r, "layers");
    if (json_object_get(object, "layers") == NULL) return ts_json_refuse(&in, "is missing");
    return read_list(&in, json_object_get(object, "layers"), spec);
}

static bool no_type(const ts_json_reader *r, const char *name) {
    char known[300] = "";
    for (int i = 0; ts_layer_types[i] != NULL; i++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ", ts_layer_types[i]->name);
    }
    return ts_json_refuse(r, "unknown layer '%s' (%s)", name, known);
}

/* "TYPE", or {"TYPE": {fields}}, or {"TYPE": [layers]}. */
static ts_layer_spec *read_layer(const ts_json_reader *outer, json_t *value) {
    const char *name = json_string_value(value);
    json_t *inside = NULL;
    if (json_is_object(value) && json_object_size(value) == 1) {
        void *first = json_object_iter(value);
        name = json_object_iter_key(first);
        inside = json_object_iter_value(first);
    }
    if (name == NULL) {
        ts_json_refuse(outer, "{\"TYPE\": {...}} with one type is needed");
        return NULL;
    }
    const ts_layer_type *type = ts_layer_type_by_name(name);
    ts_layer_spec *spec = ts_layer_spec_create(type);
    if (type == NULL) {
        no_type(outer, name);
        return NULL;
    }
    const ts_json_reader r = ts_json_inside(outer, type->name);
    json_t *none = json_object();
    bool learned = false, done = spec != NULL && none != NULL;
    if (!done) ts_json_refuse(&r, "out of memory");
    if (done && type->list && json_is_array(inside))
        done = read_list(&r, inside, spec);
    else if (done && type->copies && (json_is_array(inside) || json_is_string(inside)))
        done = read_copies(outer, value, type->name, spec, &learned);
    else if (done)
        done = fill_layer(&r, inside == NULL ? none : inside, spec);
    json_decref(none);
    if (done) return spec;
    ts_layer_spec_free(spec);
    return NULL;
}

/* ---- reading: architectures -------------------------------------------------------------------------------------- */

static bool read_tokens(const ts_json_reader *outer, json_t *root, ts_token_spec *tokens) {
    json_t *value = json_object_get(root, "tokens");
    const ts_json_reader r = ts_json_inside(outer, "tokens");
    double memory = 0;
    const bool word = json_is_string(value);
    if (value == NULL) return ts_json_refuse(&r, "is missing");
    if (!word && !ts_json_object_ok(&r, value, "code|memory|point_marks|center_marks")) return false;
    const char *code = word ? json_string_value(value) : "none";
    if (!word && json_object_get(value, "code") != NULL) code = ts_json_word(&r, value, "code");
    if (code == NULL) return false;
    const int place = word ? ts_json_place(outer, "tokens", code, ts_construction_names)
                           : ts_json_place(&r, "code", code, ts_construction_names);
    if (place < 0) return false;
    tokens->construction = (ts_construction)place;
    if (word) return true;
    if (!ts_json_number(&r, value, "memory", &memory) ||
        !ts_json_number(&r, value, "point_marks", &tokens->point_marks) ||
        !ts_json_number(&r, value, "center_marks", &tokens->center_marks))
        return false;
    if (memory != floor(memory) || memory < 0 || memory > 1 << 16)
        return ts_json_refuse(&r, "memory must be a whole number from 0 to %d", 1 << 16);
    tokens->memory = (int64_t)memory;
    return true;
}

static bool read_one(const ts_json_reader *r, json_t *value, ts_architecture *a) {
    double times = 1;
    if (!ts_json_object_ok(r, value, "points|centers|times|shared")) return false;
    ts_architecture_layer *layer = ts_architecture_add(a, r->error);
    if (layer == NULL) return false;
    if (!ts_json_number(r, value, "times", &times) || !ts_json_flag(r, value, "shared", &layer->shared)) return false;
    if (times != floor(times) || times < 1 || times > 64)
        return ts_json_refuse(r, "times must be a whole number from 1 to 64");
    layer->times = (int)times;
    const ts_json_reader points = ts_json_inside(r, "points"), centers = ts_json_inside(r, "centers");
    json_t *of_points = json_object_get(value, "points"), *of_centers = json_object_get(value, "centers");
    if (of_points == NULL && of_centers == NULL) return ts_json_refuse(r, "points or centers are needed");
    return (of_points == NULL || read_list(&points, of_points, layer->points)) &&
           (of_centers == NULL || read_list(&centers, of_centers, layer->centers));
}

static bool read_root(const ts_json_reader *r, json_t *root, ts_architecture *a) {
    static const char *const kept[] = {"places", "tokens", NULL};
    if (!ts_json_object_ok(r, root, "name|tokens|keep|standardised|labels|layers")) return false;
    if (!ts_json_name(r, root, "name", a->name, sizeof a->name) || !read_tokens(r, root, &a->tokens)) return false;
    if (!ts_json_flag(r, root, "standardised", &a->standardised)) return false;
    if (json_object_get(root, "keep") != NULL) {
        const char *word = ts_json_word(r, root, "keep");
        const int place = word == NULL ? -1 : ts_json_place(r, "keep", word, kept);
        if (place < 0) return false;
        a->keeps_tokens = place == 1;
    }
    if (json_object_get(root, "labels") != NULL) {
        const char *word = ts_json_word(r, root, "labels");
        const int place = word == NULL ? -1 : ts_json_place(r, "labels", word, ts_labels_names);
        if (place < 0) return false;
        a->labels = (ts_labels)place;
    }
    json_t *layers = json_object_get(root, "layers");
    const ts_json_reader in = ts_json_inside(r, "layers");
    if (!json_is_array(layers) || json_array_size(layers) == 0)
        return ts_json_refuse(&in, "a list of layers is needed");
    for (size_t i = 0; i < json_array_size(layers); i++) {
        char place[32];
        snprintf(place, sizeof place, "layers[%zu]", i);
        const ts_json_reader one = ts_json_inside(r, place);
        if (!read_one(&one, json_array_get(layers, i), a)) return false;
    }
    return true;
}

ts_architecture *ts_architecture_from_json(const char *text, size_t length, ts_error *error) {
    json_t *root = ts_json_parse(text, length, error);
    const ts_json_reader r = {.error = error};
    ts_architecture *a = NULL;
    if (root == NULL) return NULL;
    if (json_object_get(root, "layers") == NULL) {
        ts_definition definition;
        if (ts_definition_from_json(text, length, &definition, error) == TS_OK)
            a = ts_architecture_of_definition(&definition, error);
    } else {
        a = ts_architecture_create("");
        if (a == NULL) ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a model");
        if (a != NULL && !read_root(&r, root, a)) {
            ts_architecture_free(a);
            a = NULL;
        }
    }
    json_decref(root);
    return a;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void write_layer(FILE *out, const ts_layer_spec *spec, int indent);

static void write_value(FILE *out, const ts_field *f, const double *values) {
    const int given = ts_field_given(f, values);
    if (f->kind == TS_FIELD_FLAG) {
        fputs(values[0] != 0 ? "true" : "false", out);
    } else if (f->kind == TS_FIELD_CHOICE || f->kind == TS_FIELD_MAP) {
        ts_json_write_text(out, ts_field_word(f, (int)values[0]));
    } else if (given == 1) {
        ts_json_write_number(out, values[0]);
    } else {
        for (int i = 0; i < given; i++) {
            fputs(i == 0 ? "[" : ", ", out);
            ts_json_write_number(out, values[i]);
        }
        fputc(']', out);
    }
}

static bool is_default(const ts_field *f, const double *values) {
    return ts_field_given(f, values) == 1 && values[0] == f->initial;
}

/* What stands before a member, and its key. */
static void write_key(FILE *out, int *members, const char *key) {
    fprintf(out, "%s\"%s\": ", (*members)++ == 0 ? "" : ", ", key);
}

static void write_list(FILE *out, const ts_layer_spec *spec, int indent) {
    for (int i = 0; i < spec->n_parts; i++) {
        fprintf(out, "%s\n%*s", i == 0 ? "[" : ",", indent + 2, "");
        write_layer(out, spec->part[i], indent + 2);
    }
    fputs(spec->n_parts == 0 ? "[]" : "]", out);
}

static void write_copies(FILE *out, const ts_layer_spec *spec) {
    ts_copy copy[TS_MAX_COPIES];
    for (int i = 0; i < spec->n_copies; i++) copy[i] = spec->copy[i].copy;
    ts_json_write_copies(out, false, spec->n_copies, copy);
}

static void write_units(FILE *out, const ts_layer_spec *spec) {
    for (int i = 0; i < spec->n_copies; i++) {
        const ts_layer_copy *unit = &spec->copy[i];
        fputs(i == 0 ? "[{\"from\": \"" : ", {\"from\": \"", out);
        ts_json_write_range(out, &unit->copy.from);
        fputs("\", \"to\": \"", out);
        ts_json_write_range(out, &unit->copy.to);
        fputs("\", \"scale\": ", out);
        ts_json_write_number(out, unit->copy.scale);
        fputs(", \"weight\": ", out);
        ts_json_write_number(out, unit->weight);
        fputc('}', out);
    }
    fputc(']', out);
}

/* Has it no name, and every field its default? */
static bool has_defaults(const ts_layer_spec *spec) {
    const double *at = spec->field;
    bool all = spec->name[0] == '\0';
    for (const ts_field *f = spec->type->fields; f->name != NULL; at += f->numbers > 0 ? f->numbers : 1, f++)
        all = all && is_default(f, at);
    return all;
}

static void write_members(FILE *out, const ts_layer_spec *spec, int indent) {
    const ts_layer_type *type = spec->type;
    const double *at = spec->field;
    int members = 0;
    fputc('{', out);
    if (spec->name[0] != '\0') {
        write_key(out, &members, "name");
        ts_json_write_text(out, spec->name);
    }
    for (const ts_field *f = type->fields; f->name != NULL; at += f->numbers > 0 ? f->numbers : 1, f++) {
        if (is_default(f, at)) continue;
        write_key(out, &members, f->name);
        write_value(out, f, at);
    }
    for (int i = 0; type->parts != NULL && i < spec->n_parts; i++) {
        if (spec->part[i] == NULL) continue;
        write_key(out, &members, type->parts[i]);
        if (spec->part[i]->n_copies > 0 && has_defaults(spec->part[i]))
            write_copies(out, spec->part[i]);
        else
            write_members(out, spec->part[i], indent);
    }
    const bool units = type->copies && ts_field_place(type->fields, "activation") >= 0;
    if (type->copies && spec->n_copies > 0) {
        write_key(out, &members, units ? "units" : "copies");
        units ? write_units(out, spec) : write_copies(out, spec);
    }
    if (type->list) {
        write_key(out, &members, "layers");
        write_list(out, spec, indent);
    }
    fputc('}', out);
}

static void write_layer(FILE *out, const ts_layer_spec *spec, int indent) {
    const ts_layer_type *type = spec->type;
    fprintf(out, "{\"%s\": ", type->name);
    if (type->list && has_defaults(spec))
        write_list(out, spec, indent);
    else
        write_members(out, spec, indent);
    fputc('}', out);
}

static void write_tokens(FILE *out, const ts_token_spec *tokens) {
    const char *code = ts_construction_names[tokens->construction];
    if (tokens->memory == 0 && tokens->point_marks == 0 && tokens->center_marks == 0) {
        fprintf(out, "\"%s\"", code);
        return;
    }
    fprintf(out, "{\"code\": \"%s\", \"memory\": %lld", code, (long long)tokens->memory);
    const double marks[] = {tokens->point_marks, tokens->center_marks};
    for (int i = 0; i < 2; i++)
        if (marks[i] != 0) {
            fputs(i == 0 ? ", \"point_marks\": " : ", \"center_marks\": ", out);
            ts_json_write_number(out, marks[i]);
        }
    fputc('}', out);
}

static void write_architecture(FILE *out, const ts_architecture *a) {
    fputs("{\n  \"name\": ", out);
    ts_json_write_text(out, a->name);
    fputs(",\n  \"tokens\": ", out);
    write_tokens(out, &a->tokens);
    if (a->keeps_tokens) fputs(",\n  \"keep\": \"tokens\"", out);
    if (a->standardised) fputs(",\n  \"standardised\": true", out);
    if (a->labels != TS_LABELS_NEAREST) fprintf(out, ",\n  \"labels\": \"%s\"", ts_labels_names[a->labels]);
    fputs(",\n  \"layers\": [", out);
    for (int i = 0; i < a->n_layers; i++) {
        const ts_architecture_layer *layer = &a->layer[i];
        fputs(i == 0 ? "{" : ", {", out);
        if (layer->times != 1) fprintf(out, "\n    \"times\": %d,", layer->times);
        if (!layer->shared) fputs("\n    \"shared\": false,", out);
        fputs("\n    \"points\": ", out);
        write_list(out, layer->points, 4);
        fputs(",\n    \"centers\": ", out);
        write_list(out, layer->centers, 4);
        fputs("\n  }", out);
    }
    fputs("]\n}\n", out);
}

char *ts_architecture_to_json(const ts_architecture *architecture) {
    if (architecture->definition != NULL) return ts_definition_to_json(architecture->definition);
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) return NULL;
    write_architecture(out, architecture);
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}
