/* io_base.c: sources of bytes, errors, growing arrays, quoting, numbers, the locale. */
#include "io_base.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "utf8.h"

int64_t ts_source_fill(const ts_byte_source *source, void *buffer, int64_t size, ts_io_error *error) {
    int64_t filled = 0;
    while (filled < size) {
        const int64_t count = source->read(source->context, (char *)buffer + filled, size - filled, error);
        if (count < 0) return -1;
        if (count == 0) break;
        filled += count;
    }
    return filled;
}

bool ts_source_collect(const ts_byte_source *source, int64_t most, int64_t present, unsigned char **bytes,
                       int64_t *count, ts_io_error *error) {
    enum { CHUNK = 1 << 20 };
    int64_t capacity = 0, step = present > CHUNK ? present : CHUNK, got = 1;
    for (*count = 0; got > 0 && *count < most; *count += got, step = CHUNK) {
        const int64_t wanted = step < most - *count ? step : most - *count;
        unsigned char *grown = ts_io_grow(*bytes, &capacity, *count + wanted, 1);
        if (grown == NULL) return ts_io_fail_memory(error, source->name);
        *bytes = grown;
        got = ts_source_fill(source, *bytes + *count, wanted, error);
        if (got < 0) return false;
    }
    return true;
}

int64_t ts_io_read_stream(FILE *stream, const char *name, void *buffer, int64_t size, ts_io_error *error) {
    errno = 0;
    const int64_t count = (int64_t)fread(buffer, 1, (size_t)size, stream);
    if (count > 0 || !ferror(stream)) return count;
    ts_io_fail(error, name, "%s", strerror(errno != 0 ? errno : EIO));
    return -1;
}

bool ts_io_little_endian(void) {
    const uint16_t probe = 1;
    return *(const unsigned char *)&probe == 1;
}

void ts_io_write_little_endian(const void *data, size_t size, size_t count, FILE *stream) {
    if (count == 0) return;
    if (ts_io_little_endian()) {
        fwrite(data, size, count, stream);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const unsigned char *bytes = (const unsigned char *)data + i * size;
        for (size_t b = size; b > 0; b--) putc(bytes[b - 1], stream);
    }
}

bool ts_io_fail(ts_io_error *error, const char *name, const char *format, ...) {
    enum { LONGEST_NAME = 250 };
    const size_t length = strlen(name);
    const char *shown = length <= LONGEST_NAME ? name : name + (length - LONGEST_NAME);
    while (shown > name && ((unsigned char)*shown & 0xC0) == 0x80) shown++; /* the rest of a cut character */
    int used = snprintf(error->text, sizeof error->text, "%s%s: ", shown > name ? "..." : "", shown);
    if (used < 0) used = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text + used, sizeof error->text - (size_t)used, format, arguments);
    va_end(arguments);
    if (strlen(error->text) == sizeof error->text - 1) ts_utf8_end_whole(error->text);
    ts_utf8_show(error->text);
    return false;
}

bool ts_io_fail_memory(ts_io_error *error, const char *name) {
    return ts_io_fail(error, name, "not enough memory");
}

void *ts_io_grow(void *old, int64_t *capacity, int64_t needed, size_t element_size) {
    if (needed <= *capacity) return old;
    const uint64_t most = (PTRDIFF_MAX < INT64_MAX ? (uint64_t)PTRDIFF_MAX : (uint64_t)INT64_MAX) / element_size;
    if ((uint64_t)needed > most) return NULL;
    const uint64_t comfortable = (uint64_t)*capacity + (uint64_t)*capacity / 2 + 64;
    const uint64_t size = comfortable > most || comfortable < (uint64_t)needed ? (uint64_t)needed : comfortable;
    void *memory = realloc(old, (size_t)size * element_size);
    if (memory != NULL) *capacity = (int64_t)size;
    return memory;
}

bool ts_io_ends_with(const char *path, const char *ending) {
    const size_t length = strlen(path), ending_length = strlen(ending);
    return length >= ending_length && strcasecmp(path + (length - ending_length), ending) == 0;
}

void ts_io_quote_long(const char *text, size_t length, int shown, char *quoted) {
    const char *const end = text + strnlen(text, length);
    char *out = quoted;
    *out++ = '\'';
    for (; shown > 0 && text < end; shown--) {
        char character[5];
        text += ts_utf8_next(text, character);
        out = stpcpy(out, character);
    }
    strcpy(out, text < end ? "...'" : "'");
}

void ts_io_quote_part(const char *text, size_t length, char quoted[TS_QUOTE_SIZE]) {
    ts_io_quote_long(text, length, TS_QUOTE_SHOWN, quoted);
}

void ts_io_quote(const char *text, char quoted[TS_QUOTE_SIZE]) {
    ts_io_quote_long(text, strlen(text), TS_QUOTE_SHOWN, quoted);
}

static void print_shortest(double value, bool single, char text[TS_NUMBER_SIZE]) {
    for (int digits = single ? FLT_DIG : DBL_DIG; digits <= (single ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG); digits++) {
        snprintf(text, TS_NUMBER_SIZE, "%.*g", digits, value);
        if (!isfinite(value) || (single ? (double)strtof(text, NULL) : strtod(text, NULL)) == value) return;
    }
}

void ts_io_print_double(double value, char text[TS_NUMBER_SIZE]) {
    print_shortest(value, false, text);
}

void ts_io_print_float(float value, char text[TS_NUMBER_SIZE]) {
    print_shortest((double)value, true, text);
}

bool ts_io_enter_locale(ts_io_locale *locale) {
    locale->own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (locale->own == (locale_t)0) return false;
    locale->previous = uselocale(locale->own);
    return true;
}

void ts_io_leave_locale(const ts_io_locale *locale) {
    uselocale(locale->previous);
    freelocale(locale->own);
}
