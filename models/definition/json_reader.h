/* json_reader.h: what the readers and writers of definitions and architectures share: members of JSON objects, ranges
 * of coordinates and copies; every refusal names the place, "cross_points.query: ..". */
#ifndef TS_JSON_READER_H
#define TS_JSON_READER_H

#include <jansson.h>
#include <stdio.h>

#include "../../layers/tokens.h"

/* The place in the text, for messages. */
typedef struct ts_json_reader {
    ts_error *error;
    char path[128];
} ts_json_reader;

bool ts_json_refuse(const ts_json_reader *r, const char *format, ...) TS_PRINTF(2, 3); /* false */
ts_json_reader ts_json_inside(const ts_json_reader *r, const char *name);

/* The text as a tree; NULL with *error set, which names line and column. */
json_t *ts_json_parse(const char *text, size_t length, ts_error *error);

/* Is it an object with no keys but those in a list such as "name|construction|.."? */
bool ts_json_object_ok(const ts_json_reader *r, json_t *value, const char *keys);

/* These leave *value unchanged if the key is absent. */
bool ts_json_flag(const ts_json_reader *r, json_t *object, const char *key, bool *value);
bool ts_json_number(const ts_json_reader *r, json_t *object, const char *key, double *value);

const char *ts_json_word(const ts_json_reader *r, json_t *object, const char *key); /* required; NULL: refused */
/* The index of a word in a list that ends with NULL; -1 after setting the error. */
int ts_json_place(const ts_json_reader *r, const char *key, const char *word, const char *const *list);
/* A name of 1 to `size` - 1 bytes without control characters. */
bool ts_json_name(const ts_json_reader *r, json_t *object, const char *key, char *name, size_t size);

bool ts_json_range(const ts_json_reader *r, json_t *object, const char *key, ts_range *range); /* "data", "data[0:2]" */
bool ts_json_copy(const ts_json_reader *r, json_t *value, ts_copy *copy);                      /* {from, to, scale} */

/* "learned"; "data" or "-data", a group copied onto itself; or a list of 1 to TS_MAX_COPIES copies. */
bool ts_json_copies(const ts_json_reader *r, json_t *object, const char *key, bool *learned, int *n_copies,
                    ts_copy *copy);

void ts_json_write_number(FILE *out, double value);   /* the shortest decimal that reads back as the same number */
void ts_json_write_text(FILE *out, const char *text); /* quoted */
void ts_json_write_range(FILE *out, const ts_range *range);
void ts_json_write_copy(FILE *out, const ts_copy *copy);
void ts_json_write_copies(FILE *out, bool learned, int n_copies, const ts_copy *copy);
bool ts_json_same_range(const ts_range *a, const ts_range *b);

#endif
