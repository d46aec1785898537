/* table_builder.c: the choice of columns, the table's memory, and the classes of labels. */
#include "table_builder.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

static const char columns_option[] = "--columns", label_option[] = "--labels-column";

/* A part of an option's text. */
typedef struct item {
    const char *text;
    size_t length;
} item;

typedef struct chooser {
    ts_table_builder *builder;
    char *const *names;
    bool *by_name;
    bool *taken; /* [n_columns] */
    ts_io_error *error;
} chooser;

static item trimmed(item part) {
    while (part.length > 0 && part.text[0] == ' ') part = (item){part.text + 1, part.length - 1};
    while (part.length > 0 && part.text[part.length - 1] == ' ') part.length--;
    return part;
}

/* The number if the part is digits only, at most INT64_MAX; else -1. */
static int64_t as_number(item part) {
    int64_t number = 0;
    for (size_t i = 0; i < part.length; i++) {
        const int digit = part.text[i] - '0';
        if (digit < 0 || digit > 9) return -1;
        number = number > (INT64_MAX - digit) / 10 ? INT64_MAX : number * 10 + digit;
    }
    return part.length > 0 ? number : -1;
}

/* The first and last column, from 1, of a part that is a number or a range; false when it is a name. */
static bool as_range(item part, int64_t *first, int64_t *last) {
    const char *dash = memchr(part.text, '-', part.length);
    const size_t before = dash == NULL ? part.length : (size_t)(dash - part.text);
    *first = as_number((item){part.text, before});
    *last = dash == NULL ? *first : as_number((item){dash + 1, part.length - before - 1});
    return *first >= 0 && *last >= 0;
}

/* The part of a list that begins at *text; *text moves behind its comma, or becomes NULL after the last part. */
static item next_part(const char **text) {
    const size_t length = strcspn(*text, ",");
    const item part = trimmed((item){*text, length});
    *text = (*text)[length] == '\0' ? NULL : *text + length + 1;
    return part;
}

static bool part_ok(const char *path, const char *option, item part, ts_io_error *error) {
    int64_t first, last;
    if (part.length == 0) return ts_io_fail(error, path, "%s: a column's name or number is missing", option);
    if (!as_range(part, &first, &last)) return true;
    if (first == 0 || last == 0) return ts_io_fail(error, path, "%s: columns count from 1, there is no 0", option);
    if (first <= last) return true;
    return ts_io_fail(error, path, "%s: the range %" PRId64 "-%" PRId64 " runs backwards", option, first, last);
}

/* Refuses a number that an earlier part of the list holds. */
static bool part_is_new(const char *path, const char *list, item part, ts_io_error *error) {
    int64_t first, last, other_first, other_last;
    if (!as_range(part, &first, &last)) return true;
    for (const char *text = list; text != NULL;) {
        const item other = next_part(&text);
        if (other.text >= part.text) break;
        if (!as_range(other, &other_first, &other_last) || other_last < first || other_first > last) continue;
        return ts_io_fail(error, path, "%s: column %" PRId64 " is chosen twice", columns_option,
                          first > other_first ? first : other_first);
    }
    return true;
}

bool ts_builder_check_options(const char *path, const ts_table_options *options, ts_io_error *error) {
    const char *label = options->labels_column;
    if (label != NULL) {
        const item part = trimmed((item){label, strlen(label)});
        if (as_number(part) >= 0 || part.length == 0)
            if (!part_ok(path, label_option, part, error)) return false;
    }
    for (const char *text = options->columns; text != NULL;) {
        const item part = next_part(&text);
        if (!part_ok(path, columns_option, part, error) || !part_is_new(path, options->columns, part, error))
            return false;
    }
    return true;
}

static bool check_number(const chooser *c, const char *option, int64_t number) {
    const ts_table_builder *builder = c->builder;
    if (number <= builder->n_columns) return true;
    return ts_io_fail(c->error, builder->source_name, "%s: there is no column %" PRId64 ", the file has %" PRId64,
                      option, number, builder->n_columns);
}

/* The column, from 0, that a number or a name stands for. Digits only are a number, never a name. */
static bool find_column(const chooser *c, const char *option, item part, int64_t *column) {
    const char *source_name = c->builder->source_name;
    char quoted[TS_QUOTE_SIZE];
    const int64_t number = as_number(part);
    if (number >= 0) {
        *column = number - 1;
        return check_number(c, option, number);
    }
    ts_io_quote_part(part.text, part.length, quoted);
    *column = -1;
    for (int64_t j = 0; c->names != NULL && j < c->builder->n_columns; j++) {
        if (strlen(c->names[j]) != part.length || memcmp(c->names[j], part.text, part.length) != 0) continue;
        if (*column >= 0) {
            return ts_io_fail(c->error, source_name,
                              "%s: %s names columns %" PRId64 " and %" PRId64 ", choose by number", option, quoted,
                              *column + 1, j + 1);
        }
        *column = j;
    }
    *c->by_name = true;
    if (*column >= 0) return true;
    return ts_io_fail(c->error, source_name, "%s: no column is named %s%s", option, quoted,
                      c->names == NULL ? " (the file has no header row)" : "");
}

static bool add_column(const chooser *c, int64_t column) {
    ts_table_builder *builder = c->builder;
    if (column == builder->label) {
        return ts_io_fail(c->error, builder->source_name, "column %" PRId64 " is both in %s and the %s", column + 1,
                          columns_option, label_option);
    }
    if (c->taken[column]) {
        return ts_io_fail(c->error, builder->source_name, "%s: column %" PRId64 " is chosen twice", columns_option,
                          column + 1);
    }
    int64_t *grown = ts_io_grow(builder->columns, &builder->column_capacity, builder->table->cols + 1, sizeof *grown);
    if (grown == NULL) return ts_io_fail_memory(c->error, builder->source_name);
    builder->columns = grown;
    builder->columns[builder->table->cols++] = column;
    c->taken[column] = true;
    return true;
}

/* One part of --columns: a number, a name or a range. */
static bool add_part(const chooser *c, item part) {
    int64_t first, last, column;
    if (!as_range(part, &first, &last)) return find_column(c, columns_option, part, &column) && add_column(c, column);
    if (!check_number(c, columns_option, first) || !check_number(c, columns_option, last)) return false;
    for (column = first - 1; column < last; column++)
        if (!add_column(c, column)) return false;
    return true;
}

static bool add_features(const chooser *c) {
    const char *text = c->builder->options->columns;
    if (text == NULL) {
        for (int64_t j = 0; j < c->builder->n_columns; j++) {
            if (j == c->builder->label || (j == 0 && c->builder->row_names)) continue;
            if (!add_column(c, j)) return false;
        }
        return c->builder->table->cols > 0 ||
               ts_io_fail(c->error, c->builder->source_name, "no column is left beside the %s", label_option);
    }
    while (text != NULL)
        if (!add_part(c, next_part(&text))) return false;
    return true;
}

/* ---- features wanted by name ---- */

static int64_t count_name(char *const *names, int64_t count, const char *name) {
    int64_t found = 0;
    for (int64_t j = 0; j < count; j++) found += strcmp(names[j], name) == 0;
    return found;
}

/* Are the file's names the wanted ones, in order? Then they need not be unique. */
static bool same_names(const ts_table_builder *b, char *const *names) {
    bool same = b->n_columns == b->n_wanted;
    for (int64_t j = 0; same && j < b->n_columns; j++) same = strcmp(names[j], b->wanted[j]) == 0;
    return same;
}

/* The first wanted name that does not occur exactly once on both sides; NULL: there is none. */
static const char *wrong_name(const ts_table_builder *b, char *const *names) {
    if (same_names(b, names)) return NULL;
    for (int64_t k = 0; k < b->n_wanted; k++)
        if (count_name(names, b->n_columns, b->wanted[k]) != 1 || count_name(b->wanted, b->n_wanted, b->wanted[k]) != 1)
            return b->wanted[k];
    return NULL;
}

static bool add_wanted(const chooser *c) {
    const ts_table_builder *b = c->builder;
    const bool same = same_names(b, c->names);
    for (int64_t k = 0; k < b->n_wanted; k++) {
        int64_t column = same ? k : 0;
        while (strcmp(c->names[column], b->wanted[k]) != 0) column++;
        if (!add_column(c, column)) return false;
    }
    char quoted[TS_QUOTE_SIZE];
    for (int64_t j = 0; j < b->n_columns; j++) {
        if (c->taken[j] || c->names[j][0] == '\0') continue;
        ts_io_quote(c->names[j], quoted);
        ts_note(b->table, "column %" PRId64 " (%s) is no feature of the data and is left out", j + 1, quoted);
    }
    return true;
}

/* Up to six of the file's names, quoted. */
static void list_names(const ts_table_builder *b, char *const *names, char list[6 * (TS_QUOTE_SIZE + 2)]) {
    enum { SHOWN = 6 };
    char *end = list;
    *end = '\0';
    for (int64_t j = 0; j < b->n_columns && j < SHOWN; j++) {
        char quoted[TS_QUOTE_SIZE];
        ts_io_quote(names[j], quoted);
        if (j > 0) end = stpcpy(end, ", ");
        end = stpcpy(end, quoted);
    }
    if (b->n_columns > SHOWN) strcpy(end, ", ...");
}

static bool fail_wanted(const ts_table_builder *b, char *const *names, ts_io_error *error) {
    char quoted[TS_QUOTE_SIZE], list[6 * (TS_QUOTE_SIZE + 2) + 8];
    const char *wrong = wrong_name(b, names);
    ts_io_quote(wrong, quoted);
    list_names(b, names, list);
    const bool missing = count_name(names, b->n_columns, wrong) == 0;
    return ts_io_fail(error, b->source_name,
                      "%s %s, %s; the header has %s (without a header row columns count by position)",
                      missing ? "no column is named" : "it is not clear which column is", quoted,
                      missing ? "which is a feature of the data" : "a name that is there several times", list);
}

bool ts_builder_choose(ts_table_builder *builder, int64_t n_columns, char *const *names, bool *by_name,
                       ts_io_error *error) {
    builder->n_columns = n_columns;
    builder->label = -1;
    *by_name = false;
    if (!ts_builder_check_options(builder->source_name, builder->options, error)) return false;
    const chooser c = {builder, names, by_name, calloc((size_t)n_columns, sizeof(bool)), error};
    if (c.taken == NULL) return ts_io_fail_memory(error, builder->source_name);
    const char *label = builder->options->labels_column;
    builder->found = builder->wanted != NULL && names != NULL && wrong_name(builder, names) == NULL;
    *by_name = builder->found;
    const bool ok = builder->found
                        ? add_wanted(&c)
                        : (label == NULL ||
                           find_column(&c, label_option, trimmed((item){label, strlen(label)}), &builder->label)) &&
                              add_features(&c);
    free(c.taken);
    return ok;
}

bool ts_builder_set_names(ts_table_builder *builder, char *const *names, ts_io_error *error) {
    ts_table *table = builder->table;
    if (builder->wanted != NULL && !builder->found) return fail_wanted(builder, names, error);
    table->names = calloc((size_t)table->cols, sizeof *table->names);
    if (table->names == NULL) return ts_io_fail_memory(error, builder->source_name);
    for (int64_t j = 0; j < table->cols; j++) {
        table->names[j] = strdup(names[builder->columns[j]]);
        if (table->names[j] == NULL) return ts_io_fail_memory(error, builder->source_name);
    }
    return true;
}

bool ts_builder_reserve(ts_table_builder *builder, int64_t rows, ts_io_error *error) {
    ts_table *table = builder->table;
    double *grown = NULL;
    if (rows <= INT64_MAX / table->cols) {
        grown = ts_io_grow(table->values, &builder->value_capacity, rows * table->cols, sizeof *grown);
    }
    if (grown == NULL) return ts_io_fail_memory(error, builder->source_name);
    table->values = grown;
    return true;
}

static uint64_t hash_text(const char *text) {
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (const char *c = text; *c != '\0'; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    return hash ^ hash >> 32;
}

/* The slot of a class in the hash table, or the empty slot where it belongs. */
static int64_t *find_slot(const ts_table_builder *builder, const char *text) {
    const uint64_t mask = (uint64_t)builder->n_slots - 1;
    for (uint64_t i = hash_text(text) & mask;; i = (i + 1) & mask) {
        int64_t *slot = &builder->slots[i];
        if (*slot == 0 || strcmp(builder->table->classes[*slot - 1], text) == 0) return slot;
    }
}

/* Keeps the hash table at most half full. */
static bool grow_slots(ts_table_builder *builder) {
    if (builder->table->n_classes < builder->n_slots / 2) return true;
    const int64_t n_slots = builder->n_slots == 0 ? 64 : builder->n_slots * 2;
    int64_t *slots = calloc((size_t)n_slots, sizeof *slots);
    if (slots == NULL) return false;
    free(builder->slots);
    builder->slots = slots;
    builder->n_slots = n_slots;
    for (int64_t k = 0; k < builder->table->n_classes; k++) *find_slot(builder, builder->table->classes[k]) = k + 1;
    return true;
}

static bool add_class(ts_table_builder *builder, const char *text, int64_t *slot) {
    ts_table *table = builder->table;
    char **grown = ts_io_grow(table->classes, &builder->class_capacity, table->n_classes + 1, sizeof *grown);
    if (grown == NULL) return false;
    table->classes = grown;
    grown[table->n_classes] = strdup(text);
    if (grown[table->n_classes] == NULL) return false;
    *slot = ++table->n_classes;
    return true;
}

bool ts_builder_add_label(ts_table_builder *builder, const char *text, ts_io_error *error) {
    int64_t *grown = ts_io_grow(builder->table->labels, &builder->label_capacity, builder->n_labels + 1, sizeof *grown);
    if (grown == NULL) return ts_io_fail_memory(error, builder->source_name);
    builder->table->labels = grown;
    if (!grow_slots(builder)) return ts_io_fail_memory(error, builder->source_name);
    int64_t *slot = find_slot(builder, text);
    if (*slot == 0 && !add_class(builder, text, slot)) return ts_io_fail_memory(error, builder->source_name);
    grown[builder->n_labels++] = *slot - 1;
    return true;
}

void ts_note(ts_table *table, const char *format, ...) {
    if (table->n_notes == TS_TABLE_NOTES) return;
    char *note = table->notes[table->n_notes++];
    va_list values;
    va_start(values, format);
    vsnprintf(note, TS_TABLE_NOTE, format, values);
    va_end(values);
    if (strlen(note) == TS_TABLE_NOTE - 1) ts_utf8_end_whole(note);
    ts_utf8_show(note);
}

/* realloc to a smaller size; if that fails the old memory is kept. */
static void *shrunk(void *memory, int64_t count, size_t element_size) {
    void *smaller = memory == NULL ? NULL : realloc(memory, (size_t)count * element_size);
    return smaller == NULL ? memory : smaller;
}

void ts_builder_finish(ts_table_builder *builder, int64_t rows) {
    ts_table *table = builder->table;
    table->rows = rows;
    table->values = shrunk(table->values, rows * table->cols, sizeof *table->values);
    table->labels = shrunk(table->labels, rows, sizeof *table->labels);
}

void ts_builder_free(ts_table_builder *builder) {
    free(builder->columns);
    free(builder->slots);
}
