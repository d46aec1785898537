/* definition_json.h: definitions (definition.h) as JSON text. docs/definitions.md is the schema, with examples.
 *
 * Built when jansson is there; the rest of the library does without. */
#ifndef TS_DEFINITION_JSON_H
#define TS_DEFINITION_JSON_H

#include "definition.h"

/* Reads one object. Refuses, by the name of the part, what is not known (keys, words, types of values), keys that stand
 * twice, and text after the object; syntax errors name line and column. What depends on d and k is left to
 * ts_definition_check. */
ts_status ts_definition_from_json(const char *text, size_t length, ts_definition *definition, ts_error *error);

/* The text, ending with a newline, from which the same definition is read; free() it. NULL when out of memory. */
char *ts_definition_to_json(const ts_definition *definition);

#endif
