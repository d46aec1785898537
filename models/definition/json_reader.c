/* json_reader.c: members of JSON objects, ranges and copies, with messages that name their place. */
#include "json_reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool ts_json_refuse(const ts_json_reader *r, const char *format, ...) {
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

ts_json_reader ts_json_inside(const ts_json_reader *r, const char *name) {
    ts_json_reader in = {.error = r->error};
    const int length = snprintf(in.path, sizeof in.path, "%s%s%s", r->path, r->path[0] == '\0' ? "" : ".", name);
    if (length >= (int)sizeof in.path) memcpy(in.path + sizeof in.path - 4, "...", 4);
    return in;
}

/* Is it an object with no keys but those in a list such as "name|construction|.."? */
bool ts_json_object_ok(const ts_json_reader *r, json_t *value, const char *keys) {
    const char *key;
    json_t *member;
    if (!json_is_object(value)) return ts_json_refuse(r, "an object {...} is needed");
    json_object_foreach(value, key, member) {
        const size_t length = strlen(key);
        bool known = false;
        for (const char *at = keys; !known && *at != '\0'; at += strcspn(at, "|") + (at[strcspn(at, "|")] == '|'))
            known = length > 0 && strcspn(at, "|") == length && strncmp(at, key, length) == 0;
        if (!known) return ts_json_refuse(r, "unknown key '%s' (%s)", key, keys);
    }
    return true;
}

/* The readers below leave *value unchanged if the key is absent. */
bool ts_json_flag(const ts_json_reader *r, json_t *object, const char *key, bool *value) {
    json_t *member = json_object_get(object, key);
    const ts_json_reader in = ts_json_inside(r, key);
    if (member == NULL) return true;
    if (!json_is_boolean(member)) return ts_json_refuse(&in, "true or false is needed");
    *value = json_is_true(member);
    return true;
}

bool ts_json_number(const ts_json_reader *r, json_t *object, const char *key, double *value) {
    json_t *member = json_object_get(object, key);
    const ts_json_reader in = ts_json_inside(r, key);
    if (member == NULL) return true;
    if (!json_is_number(member)) return ts_json_refuse(&in, "a number is needed");
    *value = json_number_value(member);
    return true;
}

/* A word that is required. */
const char *ts_json_word(const ts_json_reader *r, json_t *object, const char *key) {
    const char *word = json_string_value(json_object_get(object, key));
    const ts_json_reader in = ts_json_inside(r, key);
    if (word == NULL)
        ts_json_refuse(&in, "%s", json_object_get(object, key) == NULL ? "is missing" : "a word is needed");
    return word;
}

/* The index of a word in a list that ends with NULL; -1 after setting the error. */
int ts_json_place(const ts_json_reader *r, const char *key, const char *word, const char *const *list) {
    const ts_json_reader in = ts_json_inside(r, key);
    char known[256] = "";
    for (int i = 0; list[i] != NULL; i++)
        if (strcmp(list[i], word) == 0) return i;
    for (int i = 0; list[i] != NULL; i++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ", list[i]);
    }
    ts_json_refuse(&in, "unknown '%s' (%s)", word, known);
    return -1;
}

/* Reads "data", or "data[0:2]": coordinates 0 and 1 of the group. */
bool ts_json_range(const ts_json_reader *r, json_t *object, const char *key, ts_range *range) {
    char group[16] = "";
    const char *word = ts_json_word(r, object, key);
    const ts_json_reader in = ts_json_inside(r, key);
    if (word == NULL) return false;
    const size_t length = strcspn(word, "[");
    if (length < sizeof group) memcpy(group, word, length);
    const int g = ts_json_place(r, key, length < sizeof group ? group : word, ts_group_names);
    if (g < 0) return false;
    *range = (ts_range){.group = (ts_group)g};
    if (word[length] == '\0') return true;
    long long first, end;
    int used = 0;
    if (word[length + strspn(word + length, "[0123456789:]")] != '\0' || /* sscanf would accept blanks and signs */
        sscanf(word + length, "[%9lld:%9lld]%n", &first, &end, &used) != 2 || word[length + (size_t)used] != '\0' ||
        used == 0 || end <= first)
        return ts_json_refuse(&in, "'%s' is no range: write %s[FIRST:END], END not included", word, group);
    range->first = first;
    range->count = end - first;
    return true;
}

bool ts_json_copy(const ts_json_reader *r, json_t *value, ts_copy *copy) {
    *copy = (ts_copy){.scale = 1};
    if (!ts_json_object_ok(r, value, "from|to|scale") || !ts_json_range(r, value, "from", &copy->from)) return false;
    copy->to = copy->from;
    if (json_object_get(value, "to") != NULL && !ts_json_range(r, value, "to", &copy->to)) return false;
    return ts_json_number(r, value, "scale", &copy->scale);
}

/* Writes the shortest decimal that reads back as the same number. */
void ts_json_write_number(FILE *out, double value) {
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, out);
}

void ts_json_write_range(FILE *out, const ts_range *range) {
    fputs(ts_group_names[range->group], out);
    if (range->first != 0 || range->count != 0)
        fprintf(out, "[%lld:%lld]", (long long)range->first, (long long)(range->first + range->count));
}

bool ts_json_same_range(const ts_range *a, const ts_range *b) {
    return a->group == b->group && a->first == b->first && a->count == b->count;
}

bool ts_json_copies(const ts_json_reader *r, json_t *object, const char *key, bool *learned, int *n_copies,
                    ts_copy *copy) {
    json_t *value = json_object_get(object, key);
    const ts_json_reader in = ts_json_inside(r, key);
    if (value == NULL) return ts_json_refuse(&in, "is missing");
    if (json_is_string(value)) {
        const char *word = json_string_value(value);
        *learned = strcmp(word, "learned") == 0;
        if (*learned) return true;
        *n_copies = 1;
        copy[0].scale = *word == '-' ? -1 : 1;
        json_t *holder = json_pack("{s:s}", key, word + (*word == '-'));
        if (holder == NULL) return ts_json_refuse(&in, "'%s' is no group", word);
        const bool done = ts_json_range(r, holder, key, &copy[0].from);
        json_decref(holder);
        copy[0].to = copy[0].from;
        return done;
    }
    if (!json_is_array(value)) return ts_json_refuse(&in, "a group, \"learned\" or a list of copies is needed");
    if (json_array_size(value) < 1 || json_array_size(value) > TS_MAX_COPIES)
        return ts_json_refuse(&in, "%zu copies; 1 to %d fit", json_array_size(value), TS_MAX_COPIES);
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!ts_json_copy(&in, json_array_get(value, i), &copy[(*n_copies)++])) return false;
    return true;
}

void ts_json_write_copy(FILE *out, const ts_copy *copy) {
    fputs("{\"from\": \"", out);
    ts_json_write_range(out, &copy->from);
    if (!ts_json_same_range(&copy->from, &copy->to)) {
        fputs("\", \"to\": \"", out);
        ts_json_write_range(out, &copy->to);
    }
    fputs("\", \"scale\": ", out);
    ts_json_write_number(out, copy->scale);
    fputc('}', out);
}

void ts_json_write_copies(FILE *out, bool learned, int n_copies, const ts_copy *copy) {
    const ts_copy *only = copy;
    if (learned) {
        fputs("\"learned\"", out);
    } else if (n_copies == 1 && ts_json_same_range(&only->from, &only->to) && fabs(only->scale) == 1) {
        fprintf(out, "\"%s", only->scale < 0 ? "-" : "");
        ts_json_write_range(out, &only->from);
        fputc('"', out);
    } else {
        for (int i = 0; i < n_copies; i++) {
            fputs(i == 0 ? "[" : ", ", out);
            ts_json_write_copy(out, &copy[i]);
        }
        fputc(']', out);
    }
}

json_t *ts_json_parse(const char *text, size_t length, ts_error *error) {
    json_error_t where;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    for (char *c = where.text; root == NULL && *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
    if (root == NULL)
        ts_error_set(error, TS_ERROR_VALUE, "line %d, column %d: %s", where.line, where.column, where.text);
    return root;
}

bool ts_json_name(const ts_json_reader *r, json_t *object, const char *key, char *name, size_t size) {
    const char *word = ts_json_word(r, object, key);
    if (word == NULL) return false;
    if (*word == '\0' || strlen(word) >= size) return ts_json_refuse(r, "%s: 1 to %zu bytes are needed", key, size - 1);
    for (const char *c = word; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 127) return ts_json_refuse(r, "%s: has control characters", key);
    memcpy(name, word, strlen(word) + 1);
    return true;
}

void ts_json_write_text(FILE *out, const char *text) {
    json_t *string = json_string(text);
    char *quoted = string == NULL ? NULL : json_dumps(string, JSON_ENCODE_ANY);
    fputs(quoted == NULL ? "\"\"" : quoted, out);
    json_decref(string);
    free(quoted);
}
