/* utf8.h: text that should be UTF-8 and may be anything: how long its characters are, and how it is shown. */
#ifndef TS_UTF8_H
#define TS_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 character at text, of which *code, if not NULL, becomes the number; 0 at the text's end and where
 * no character begins. */
size_t ts_utf8_length(const char *text, uint32_t *code);

/* The first byte that belongs to no character, or NULL when all of the text is UTF-8. */
const char *ts_utf8_fault(const char *text);

/* The most bytes of text, at most `size`, that end with a whole character. */
size_t ts_utf8_fit(const char *text, size_t size);

/* Takes away a character at the text's end of which snprintf has left the beginning only. */
void ts_utf8_end_whole(char *text);

/* The character at text as it is shown: a question mark for a control character, and for a byte that belongs to no
 * character. The bytes of text that it stands for; 0 at the end. */
size_t ts_utf8_next(const char *text, char shown[5]);

/* The whole text so, in place. */
void ts_utf8_show(char *text);

/* In place, for what must be UTF-8 and may hold control characters: question marks for bytes of no character only. */
void ts_utf8_repair(char *text);

/* A copy in which every byte that belongs to no character is taken for one of Latin-1; allocated, or NULL. */
char *ts_utf8_from_latin1(const char *text);

#endif
