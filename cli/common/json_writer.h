/* json_writer.h: JSON on one line of standard output, with numbers as short as they can be. */
#ifndef CLI_JSON_WRITER_H
#define CLI_JSON_WRITER_H

#include <jansson.h>
#include <stdbool.h>

typedef struct cli_json {
    bool follows; /* a comma goes before the next value */
    bool failed;  /* memory was short for a string */
} cli_json;

/* Writes what `members` says, words parted by blanks: { } [ ] begin and end objects and arrays, and NAME:X is a member
 * of the kind X, whose values follow in order; without NAME it is an element. `rows:[` begins an array that is a
 * member.
 *
 *     s  const char *; bytes that are no UTF-8 become question marks
 *     i  int64_t
 *     u  uint64_t
 *     b  bool
 *     r  double, with a point or an exponent
 *     n  double, with neither unless it needs one; null when it is not finite
 */
void cli_json_put(cli_json *json, const char *members, ...);

/* Ends the line; false when memory was short. */
bool cli_json_end(cli_json *json);

/* A string as `s` has it, for jansson; NULL when out of memory. */
json_t *cli_json_text(const char *text);

#endif
