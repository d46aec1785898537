/* definition_json.h: reads and writes definitions (definition.h) as JSON text. docs/definitions.md has the schema and
 * examples.
 *
 * Built only if jansson is found; the rest of the library does not need it. */
#ifndef TS_DEFINITION_JSON_H
#define TS_DEFINITION_JSON_H

#include "definition.h"

/* Reads one object. Refuses unknown keys and words, values of a wrong type, duplicate keys, and text after the object;
 * the error names the part, or line and column of a syntax error. What depends on d and k is left to
 * ts_definition_check. */
ts_status ts_definition_from_json(const char *text, size_t length, ts_definition *definition, ts_error *error);

/* Text, ending with a newline, that reads back as the same definition; allocated. NULL when out of memory. */
char *ts_definition_to_json(const ts_definition *definition);

#endif
