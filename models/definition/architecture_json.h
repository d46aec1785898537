/* architecture_json.h: reads and writes architectures (architecture.h) as JSON text, and definitions with them: an
 * object with "layers" is an architecture, one without a definition of four blocks. docs/definitions.md has both
 * schemas.
 *
 * Built only if jansson is found; the rest of the library does not need it. */
#ifndef TS_ARCHITECTURE_JSON_H
#define TS_ARCHITECTURE_JSON_H

#include "architecture.h"

/* Reads one object; refusals as of ts_definition_from_json, with the place of the layer:
 * layers[1].centers[0].attention: unknown key 'head' (..). What depends on d and k is left to ts_model_build. NULL with
 * *error set. */
ts_architecture *ts_architecture_from_json(const char *text, size_t length, ts_error *error);

/* Text, ending with a newline, that reads back as the same architecture; allocated. NULL when out of memory. */
char *ts_architecture_to_json(const ts_architecture *architecture);

#endif
