/* io_base.h: what the readers and writers share. Internal to io/.
 *
 * Numbers are parsed and printed in the "C" locale, whatever the program's locale is: the public functions that do so
 * set it, for their thread only, between ts_io_enter_locale and ts_io_leave_locale. */
#ifndef TS_IO_BASE_H
#define TS_IO_BASE_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "io_error.h"

#ifdef __GNUC__
#define TS_IO_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define TS_IO_PRINTF(text, first)
#endif

/* Where bytes come from: a file, a pipe, a member of an archive, memory. */
typedef struct ts_byte_source {
    const char *name; /* for messages */
    int64_t size;     /* bytes in all if that is certain; else -1, and no allocation may rely on a claimed size */
    /* Reads up to `size` bytes and returns their number: 0 only at the end, -1 after writing the error. */
    int64_t (*read)(void *context, void *buffer, int64_t size, ts_io_error *error);
    void *context;
} ts_byte_source;

/* Reads `size` bytes, or fewer if the source ends. Returns their number, or -1 after writing the error. */
int64_t ts_source_fill(const ts_byte_source *source, void *buffer, int64_t size, ts_io_error *error);

/* Reads up to `most` bytes into memory that grows with them; memory for the `present` bytes that are known to exist is
 * allocated at once. *bytes must be NULL at first; the caller frees it, also after a failure. */
bool ts_source_collect(const ts_byte_source *source, int64_t most, int64_t present, unsigned char **bytes,
                       int64_t *count, ts_io_error *error);

/* Reads from a stream as the `read` of a ts_byte_source does; `name` is for messages. */
int64_t ts_io_read_stream(FILE *stream, const char *name, void *buffer, int64_t size, ts_io_error *error);

/* Is this machine little-endian? */
bool ts_io_little_endian(void);

/* Writes `count` elements of `size` bytes in little-endian order. */
void ts_io_write_little_endian(const void *data, size_t size, size_t count, FILE *stream);

/* Sets the error to "NAME: text", one printable line of UTF-8; a very long name loses its front. Returns false. */
bool ts_io_fail(ts_io_error *error, const char *name, const char *format, ...) TS_IO_PRINTF(3, 4);
bool ts_io_fail_memory(ts_io_error *error, const char *name);

/* Grows an array to at least `needed` > 0 elements: returns `old` or its successor, or NULL, with `old` still valid. */
void *ts_io_grow(void *old, int64_t *capacity, int64_t needed, size_t element_size);

/* Does the path end so? The case of ASCII letters is ignored. */
bool ts_io_ends_with(const char *path, const char *ending);

enum { TS_QUOTE_SHOWN = 30, TS_QUOTE_SIZE = 4 * TS_QUOTE_SHOWN + 8 };
/* The first 30 characters of a text in single quotes, with ? for control characters and invalid UTF-8. The second reads
 * at most `length` bytes of the text. */
void ts_io_quote(const char *text, char quoted[TS_QUOTE_SIZE]);
void ts_io_quote_part(const char *text, size_t length, char quoted[TS_QUOTE_SIZE]);

/* The same for the first `shown` characters; `quoted` has 4 shown + 8 bytes. */
void ts_io_quote_long(const char *text, size_t length, int shown, char *quoted);

enum { TS_NUMBER_SIZE = 40 };
/* Prints the fewest digits, at least 15 (float: 6), that read back as the same value. Needs the "C" locale. */
void ts_io_print_double(double value, char text[TS_NUMBER_SIZE]);
void ts_io_print_float(float value, char text[TS_NUMBER_SIZE]);

typedef struct ts_io_locale {
    locale_t own, previous;
} ts_io_locale;

bool ts_io_enter_locale(ts_io_locale *locale);
void ts_io_leave_locale(const ts_io_locale *locale);

#endif
