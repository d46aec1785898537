/* short_text.h: UTF-8 text that must fit into so much room. */
#ifndef CLI_SHORT_TEXT_H
#define CLI_SHORT_TEXT_H

#include <stddef.h>

/* How many letters wide a text is: two for each letter of East Asia. */
int cli_text_width(const char *text);

/* Copies text, or its beginning and "…" where it is wider than `most` letters. Returns result. */
const char *cli_short_text(const char *text, int most, char *result, size_t size);

#endif
