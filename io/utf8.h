/* utf8.h: text that should be UTF-8 but may be anything: the length of its characters, and how to show it. */
#ifndef TS_UTF8_H
#define TS_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The length in bytes of the UTF-8 character at `text`; 0 at the end and where no valid character begins. *code, unless
 * NULL, becomes its code point. */
size_t ts_utf8_length(const char *text, uint32_t *code);

/* The first invalid byte, or NULL if all of the text is UTF-8. */
const char *ts_utf8_fault(const char *text);

/* The length of the longest prefix of at most `size` bytes that does not cut a character. */
size_t ts_utf8_fit(const char *text, size_t size);

/* Removes a character at the end of which snprintf left only the beginning. */
void ts_utf8_end_whole(char *text);

/* The character at `text` as it is shown: a question mark for a control character or an invalid byte. Returns the
 * number of bytes it stands for, 0 at the end. */
size_t ts_utf8_next(const char *text, char shown[5]);

/* Replaces all characters of the text by what ts_utf8_next shows, in place. */
void ts_utf8_show(char *text);

/* Replaces invalid bytes only by question marks, in place; control characters stay. */
void ts_utf8_repair(char *text);

/* An allocated copy in which every invalid byte is read as a Latin-1 character; NULL when out of memory. */
char *ts_utf8_from_latin1(const char *text);

#endif
