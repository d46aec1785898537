/* definition_json.c: the JSON reader and writer of definitions. */
#include "definition_json.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The place in the text, for messages. */
typedef struct reader {
    ts_error *error;
    char path[128];
} reader;

static bool refuse(const reader *r, const char *format, ...) TS_PRINTF(2, 3);

static bool refuse(const reader *r, const char *format, ...) {
    char reason[300];
    va_list values;
    va_start(values, format);
    vsnprintf(reason, sizeof reason, format, values);
    va_end(values);
    for (char *c = reason; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = '?'; /* names come from the file, and a message is one line */
    ts_error_set(r->error, TS_ERROR_VALUE, "%s%s%s", r->path, r->path[0] == '\0' ? "" : ": ", reason);
    return false;
}

static reader inside(const reader *r, const char *name) {
    reader in = {.error = r->error};
    const int length = snprintf(in.path, sizeof in.path, "%s%s%s", r->path, r->path[0] == '\0' ? "" : ".", name);
    if (length >= (int)sizeof in.path) memcpy(in.path + sizeof in.path - 4, "...", 4);
    return in;
}

/* Is it an object with no keys but those in a list such as "name|construction|.."? */
static bool object_ok(const reader *r, json_t *value, const char *keys) {
    const char *key;
    json_t *member;
    if (!json_is_object(value)) return refuse(r, "an object {...} is needed");
    json_object_foreach(value, key, member) {
        const size_t length = strlen(key);
        bool known = false;
        for (const char *at = keys; !known && *at != '\0'; at += strcspn(at, "|") + (at[strcspn(at, "|")] == '|'))
            known = length > 0 && strcspn(at, "|") == length && strncmp(at, key, length) == 0;
        if (!known) return refuse(r, "unknown key '%s' (%s)", key, keys);
    }
    return true;
}

/* The readers below leave *value unchanged if the key is absent. */
static bool read_flag(const reader *r, json_t *object, const char *key, bool *value) {
    json_t *member = json_object_get(object, key);
    const reader in = inside(r, key);
    if (member == NULL) return true;
    if (!json_is_boolean(member)) return refuse(&in, "true or false is needed");
    *value = json_is_true(member);
    return true;
}

static bool read_number(const reader *r, json_t *object, const char *key, double *value) {
    json_t *member = json_object_get(object, key);
    const reader in = inside(r, key);
    if (member == NULL) return true;
    if (!json_is_number(member)) return refuse(&in, "a number is needed");
    *value = json_number_value(member);
    return true;
}

/* A word that is required. */
static const char *read_word(const reader *r, json_t *object, const char *key) {
    const char *word = json_string_value(json_object_get(object, key));
    const reader in = inside(r, key);
    if (word == NULL) refuse(&in, "%s", json_object_get(object, key) == NULL ? "is missing" : "a word is needed");
    return word;
}

/* The index of a word in a list that ends with NULL; -1 after setting the error. */
static int place_of(const reader *r, const char *key, const char *word, const char *const *list) {
    const reader in = inside(r, key);
    char known[256] = "";
    for (int i = 0; list[i] != NULL; i++)
        if (strcmp(list[i], word) == 0) return i;
    for (int i = 0; list[i] != NULL; i++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ", list[i]);
    }
    refuse(&in, "unknown '%s' (%s)", word, known);
    return -1;
}

/* Reads "data", or "data[0:2]": coordinates 0 and 1 of the group. */
static bool read_range(const reader *r, json_t *object, const char *key, ts_range *range) {
    char group[16] = "";
    const char *word = read_word(r, object, key);
    const reader in = inside(r, key);
    if (word == NULL) return false;
    const size_t length = strcspn(word, "[");
    if (length < sizeof group) memcpy(group, word, length);
    const int g = place_of(r, key, length < sizeof group ? group : word, ts_group_names);
    if (g < 0) return false;
    *range = (ts_range){.group = (ts_group)g};
    if (word[length] == '\0') return true;
    long long first, end;
    int used = 0;
    if (word[length + strspn(word + length, "[0123456789:]")] != '\0' || /* sscanf would accept blanks and signs */
        sscanf(word + length, "[%9lld:%9lld]%n", &first, &end, &used) != 2 || word[length + (size_t)used] != '\0' ||
        used == 0 || end <= first)
        return refuse(&in, "'%s' is no range: write %s[FIRST:END], END not included", word, group);
    range->first = first;
    range->count = end - first;
    return true;
}

static bool read_copy(const reader *r, json_t *value, ts_copy *copy) {
    *copy = (ts_copy){.scale = 1};
    if (!object_ok(r, value, "from|to|scale") || !read_range(r, value, "from", &copy->from)) return false;
    copy->to = copy->from;
    if (json_object_get(value, "to") != NULL && !read_range(r, value, "to", &copy->to)) return false;
    return read_number(r, value, "scale", &copy->scale);
}

/* Reads "learned"; "data" or "-data", a group copied onto itself; or a list of copies. */
static bool read_projection(const reader *r, json_t *object, const char *key, ts_projection *p) {
    json_t *value = json_object_get(object, key);
    const reader in = inside(r, key);
    *p = (ts_projection){0};
    if (value == NULL) return refuse(&in, "is missing");
    if (json_is_string(value)) {
        const char *word = json_string_value(value);
        p->learned = strcmp(word, "learned") == 0;
        if (p->learned) return true;
        p->n_copies = 1;
        p->copy[0].scale = *word == '-' ? -1 : 1;
        json_t *holder = json_pack("{s:s}", key, word + (*word == '-'));
        if (holder == NULL) return refuse(&in, "'%s' is no group", word);
        const bool done = read_range(r, holder, key, &p->copy[0].from);
        json_decref(holder);
        p->copy[0].to = p->copy[0].from;
        return done;
    }
    if (!json_is_array(value)) return refuse(&in, "a group, \"learned\" or a list of copies is needed");
    if (json_array_size(value) < 1 || json_array_size(value) > TS_MAX_COPIES)
        return refuse(&in, "%zu copies; 1 to %d fit", json_array_size(value), TS_MAX_COPIES);
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!read_copy(&in, json_array_get(value, i), &p->copy[p->n_copies++])) return false;
    return true;
}

static bool read_simplex(const reader *r, json_t *object, ts_simplex_spec *spec) {
    const char *names[32] = {NULL}, *word = read_word(r, object, "simplex");
    const reader in = inside(r, "simplex");
    if (word == NULL) return false;
    for (int i = 0; ts_simplex_maps[i] != NULL && i < 31; i++) names[i] = ts_simplex_maps[i]->name;
    const int place = place_of(r, "simplex", word, names);
    if (place < 0) return false;
    spec->map = ts_simplex_maps[place];
    if (spec->map->parameter_ok == NULL && json_object_get(object, "parameter") != NULL)
        return refuse(&in, "%s has no parameter", word);
    if (spec->map->parameter_ok != NULL && json_object_get(object, "parameter") == NULL)
        return refuse(&in, "%s needs a parameter: %s", word, spec->map->parameter_rule);
    return read_number(r, object, "parameter", &spec->parameter);
}

static bool read_block(const reader *outer, json_t *root, const char *name, ts_block_definition *b) {
    static const char *const scores[] = {"dot", "euclidean", NULL};
    static const char keys[] = "identity|score|simplex|parameter|gamma|scaled|dropout|own_code|query|key|value";
    json_t *object = json_object_get(root, name);
    const reader r = inside(outer, name);
    *b = (ts_block_definition){.gamma = 1};
    if (object == NULL) return refuse(&r, "is missing");
    if (!object_ok(&r, object, keys) || !read_flag(&r, object, "identity", &b->identity)) return false;
    if (!read_projection(&r, object, "value", &b->value)) return false;
    if (b->identity) return object_ok(&r, object, "identity|value"); /* other keys would have no effect */
    const char *score = read_word(&r, object, "score");
    const int place = score == NULL ? -1 : place_of(&r, "score", score, scores);
    if (place < 0 || !read_simplex(&r, object, &b->simplex)) return false;
    b->score = place == 0 ? TS_SCORE_DOT : TS_SCORE_EUCLIDEAN;
    return read_number(&r, object, "gamma", &b->gamma) && read_number(&r, object, "dropout", &b->dropout) &&
           read_flag(&r, object, "scaled", &b->scaled) && read_flag(&r, object, "own_code", &b->own_code) &&
           read_projection(&r, object, "query", &b->query) && read_projection(&r, object, "key", &b->key);
}

static bool read_norm(const reader *outer, json_t *root, ts_norm_definition *norm) {
    json_t *object = json_object_get(root, "norm");
    const reader r = inside(outer, "norm");
    if (object == NULL) return true;
    *norm = (ts_norm_definition){.present = true, .length = 1};
    return object_ok(&r, object, "range|length|eps") && read_range(&r, object, "range", &norm->range) &&
           read_number(&r, object, "length", &norm->length) && read_number(&r, object, "eps", &norm->eps);
}

static bool read_unit(const reader *r, json_t *value, ts_unit *unit) {
    *unit = (ts_unit){.scale = 1, .weight = 1};
    return object_ok(r, value, "from|to|scale|weight") && read_range(r, value, "from", &unit->from) &&
           read_range(r, value, "to", &unit->to) && read_number(r, value, "scale", &unit->scale) &&
           read_number(r, value, "weight", &unit->weight);
}

static bool read_feed_forward(const reader *outer, json_t *root, ts_feed_forward_definition *f) {
    const char *names[8] = {NULL};
    json_t *object = json_object_get(root, "feed_forward");
    const reader r = inside(outer, "feed_forward");
    if (object == NULL) return true;
    *f = (ts_feed_forward_definition){.present = true};
    if (!object_ok(&r, object, "activation|hidden|units")) return false;
    const char *word = read_word(&r, object, "activation");
    for (int i = 0; ts_activations[i].name != NULL && i < 7; i++) names[i] = ts_activations[i].name;
    const int place = word == NULL ? -1 : place_of(&r, "activation", word, names);
    if (place < 0) return false;
    f->activation = ts_activations[place].apply;
    json_t *units = json_object_get(object, "units"), *hidden = json_object_get(object, "hidden");
    if ((units == NULL) == (hidden == NULL)) return refuse(&r, "either units, fixed, or hidden, learned, is needed");
    f->learned = hidden != NULL;
    if (f->learned) {
        if (!json_is_integer(hidden) || json_integer_value(hidden) < 1 || json_integer_value(hidden) > 1 << 20)
            return refuse(&r, "hidden must be a whole number from 1 to 1048576");
        f->hidden = json_integer_value(hidden);
        return true;
    }
    if (!json_is_array(units) || json_array_size(units) < 1 || json_array_size(units) > TS_MAX_UNITS)
        return refuse(&r, "units must be a list of 1 to %d", TS_MAX_UNITS);
    for (size_t i = 0; i < json_array_size(units); i++)
        if (!read_unit(&r, json_array_get(units, i), &f->unit[f->n_units++])) return false;
    return true;
}

static bool read_definition(const reader *r, json_t *root, ts_definition *d) {
    static const char keys[] =
        "name|tokens|medoids|trims|cross_points|self_points|cross_centers|self_centers|norm|feed_forward";
    *d = (ts_definition){0};
    if (!object_ok(r, root, keys)) return false;
    const char *name = read_word(r, root, "name"), *construction = name == NULL ? NULL : read_word(r, root, "tokens");
    if (construction == NULL) return false;
    if (*name == '\0' || strlen(name) >= sizeof d->name)
        return refuse(r, "name: 1 to %zu bytes are needed", sizeof d->name - 1);
    for (const char *c = name; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 127) return refuse(r, "name: has control characters");
    memcpy(d->name, name, strlen(name));
    const int place = place_of(r, "tokens", construction, ts_construction_names);
    if (place < 0) return false;
    d->construction = (ts_construction)place;
    if (!read_flag(r, root, "medoids", &d->medoids) || !read_flag(r, root, "trims", &d->trims)) return false;
    for (int i = 0; i < TS_BLOCKS; i++)
        if (!read_block(r, root, ts_block_names[i], ts_definition_block(d, i))) return false;
    return read_norm(r, root, &d->norm) && read_feed_forward(r, root, &d->feed_forward);
}

ts_status ts_definition_from_json(const char *text, size_t length, ts_definition *definition, ts_error *error) {
    json_error_t where;
    const reader r = {.error = error};
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    if (root == NULL) {
        for (char *c = where.text; *c != '\0'; c++)
            if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
        return ts_error_set(error, TS_ERROR_VALUE, "line %d, column %d: %s", where.line, where.column, where.text);
    }
    const bool done = read_definition(&r, root, definition);
    json_decref(root);
    return done ? TS_OK : error->status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* Writes the shortest decimal that reads back as the same number. */
static void write_number(FILE *out, double value) {
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, out);
}

static void write_range(FILE *out, const ts_range *range) {
    fputs(ts_group_names[range->group], out);
    if (range->first != 0 || range->count != 0)
        fprintf(out, "[%lld:%lld]", (long long)range->first, (long long)(range->first + range->count));
}

static bool same_range(const ts_range *a, const ts_range *b) {
    return a->group == b->group && a->first == b->first && a->count == b->count;
}

static void write_copy(FILE *out, const ts_copy *copy) {
    fputs("{\"from\": \"", out);
    write_range(out, &copy->from);
    if (!same_range(&copy->from, &copy->to)) {
        fputs("\", \"to\": \"", out);
        write_range(out, &copy->to);
    }
    fputs("\", \"scale\": ", out);
    write_number(out, copy->scale);
    fputc('}', out);
}

static void write_projection(FILE *out, const char *key, const ts_projection *p) {
    const ts_copy *only = p->copy;
    fprintf(out, ",\n    \"%s\": ", key);
    if (p->learned) {
        fputs("\"learned\"", out);
    } else if (p->n_copies == 1 && same_range(&only->from, &only->to) && fabs(only->scale) == 1) {
        fprintf(out, "\"%s", only->scale < 0 ? "-" : "");
        write_range(out, &only->from);
        fputc('"', out);
    } else {
        for (int i = 0; i < p->n_copies; i++) {
            fputs(i == 0 ? "[" : ", ", out);
            write_copy(out, &p->copy[i]);
        }
        fputc(']', out);
    }
}

static void write_member(FILE *out, const char *key, double value) {
    fprintf(out, ", \"%s\": ", key);
    write_number(out, value);
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
    const char *activation = "";
    for (const ts_activation_entry *a = ts_activations; a->name != NULL; a++)
        if (a->apply == f->activation) activation = a->name;
    fprintf(out, ",\n  \"feed_forward\": {\n    \"activation\": \"%s\"", activation);
    if (f->learned) fprintf(out, ", \"hidden\": %lld", (long long)f->hidden);
    for (int i = 0; !f->learned && i < f->n_units; i++) {
        fputs(i == 0 ? ",\n    \"units\": [{\"from\": \"" : ",\n              {\"from\": \"", out);
        write_range(out, &f->unit[i].from);
        fputs("\", \"to\": \"", out);
        write_range(out, &f->unit[i].to);
        fputc('"', out);
        write_member(out, "scale", f->unit[i].scale);
        write_member(out, "weight", f->unit[i].weight);
        fputs(i + 1 == f->n_units ? "}]" : "}", out);
    }
    fputs("\n  }", out);
}

static bool write_definition(FILE *out, const ts_definition *d) {
    json_t *string = json_string(d->name);
    char *name = string == NULL ? NULL : json_dumps(string, JSON_ENCODE_ANY);
    json_decref(string);
    if (name == NULL) return false;
    fprintf(out, "{\n  \"name\": %s,\n  \"tokens\": \"%s\"", name, ts_construction_names[d->construction]);
    free(name);
    if (d->medoids) fputs(",\n  \"medoids\": true", out);
    if (d->trims) fputs(",\n  \"trims\": true", out);
    for (int i = 0; i < TS_BLOCKS; i++) write_block(out, ts_block_names[i], ts_definition_block((ts_definition *)d, i));
    if (d->norm.present) {
        fputs(",\n  \"norm\": {\"range\": \"", out);
        write_range(out, &d->norm.range);
        fputc('"', out);
        write_member(out, "length", d->norm.length);
        write_member(out, "eps", d->norm.eps);
        fputc('}', out);
    }
    if (d->feed_forward.present) write_feed_forward(out, &d->feed_forward);
    fputs("\n}\n", out);
    return true;
}

char *ts_definition_to_json(const ts_definition *definition) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) return NULL;
    const bool written = write_definition(out, definition);
    if (fclose(out) == 0 && written) return text;
    free(text);
    return NULL;
}
