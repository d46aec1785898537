/* json_writer.h: JSON on one line of standard output. */
#ifndef CLI_JSON_WRITER_H
#define CLI_JSON_WRITER_H

#include <jansson.h>
#include <stdbool.h>

typedef struct cli_json {
    bool follows; /* a comma goes before the next value */
    bool failed;  /* memory was short for a string */
    int digits;   /* of kind f */
} cli_json;

/* Writes the `members`, words separated by blanks: { } [ ] begin and end objects and arrays, NAME:X is a member of kind
 * X, X alone an element, and their values follow in order. `rows:[` begins an array that is a member.
 *
 *     s  const char *; bytes that are no UTF-8 become question marks
 *     i  int64_t
 *     u  uint64_t
 *     b  bool
 *     r  double, with a point or an exponent
 *     n  double, with neither unless it needs one
 *     f  double, with so many digits at most as jansson has them
 *     I R N F  an array of i r n f: its length, int64_t, and its numbers, const int64_t * or const double *
 *     j  json_t *, which is given back; NULL: memory was short
 *
 * A number that is not finite becomes null. */
void cli_json_put(cli_json *json, const char *members, ...);

/* Ends the line; false when memory was short. */
bool cli_json_end(cli_json *json);

#endif
