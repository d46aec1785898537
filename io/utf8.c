/* utf8.c: decodes, cuts, shows and repairs UTF-8. */
#include "utf8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

size_t ts_utf8_length(const char *text, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *byte = (const unsigned char *)text;
    const size_t length = byte[0] == 0     ? 0
                          : byte[0] < 0x80 ? 1
                          : byte[0] < 0xC0 ? 0
                          : byte[0] < 0xE0 ? 2
                          : byte[0] < 0xF0 ? 3
                          : byte[0] < 0xF8 ? 4
                                           : 0;
    uint32_t value = length < 2 ? byte[0] : byte[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xC0) != 0x80) return 0;
        value = value << 6 | (byte[i] & 0x3F);
    }
    if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return 0;
    if (code != NULL) *code = value;
    return length;
}

const char *ts_utf8_fault(const char *text) {
    for (size_t length; *text != '\0'; text += length) {
        length = ts_utf8_length(text, NULL);
        if (length == 0) return text;
    }
    return NULL;
}

size_t ts_utf8_fit(const char *text, size_t size) {
    size_t fits = 0;
    while (text[fits] != '\0') {
        const size_t length = ts_utf8_length(text + fits, NULL), step = length == 0 ? 1 : length;
        if (fits + step > size) break;
        fits += step;
    }
    return fits;
}

void ts_utf8_end_whole(char *text) {
    const size_t length = strlen(text);
    size_t start = length;
    while (start > 0 && length - start < 3 && ((unsigned char)text[start - 1] & 0xC0) == 0x80) start--;
    if (start == 0 || (unsigned char)text[start - 1] < 0xC0) return;
    if (ts_utf8_length(text + start - 1, NULL) == 0) text[start - 1] = '\0';
}

static bool is_control(uint32_t code) {
    return code < ' ' || (code >= 127 && code < 160);
}

size_t ts_utf8_next(const char *text, char shown[5]) {
    uint32_t code;
    const size_t length = ts_utf8_length(text, &code);
    memset(shown, 0, 5);
    if (length > 0 && !is_control(code)) memcpy(shown, text, length);
    if (shown[0] == '\0' && *text != '\0') shown[0] = '?';
    return length == 0 ? *text != '\0' : length;
}

void ts_utf8_show(char *text) {
    char shown[5], *out = text;
    for (size_t length; (length = ts_utf8_next(text, shown)) > 0; text += length) {
        const size_t size = strlen(shown);
        memcpy(out, shown, size);
        out += size;
    }
    *out = '\0';
}

void ts_utf8_repair(char *text) {
    for (char *fault; (fault = (char *)ts_utf8_fault(text)) != NULL; text = fault + 1) *fault = '?';
}

char *ts_utf8_from_latin1(const char *text) {
    char *decoded = malloc(2 * strlen(text) + 1), *out = decoded;
    if (decoded == NULL) return NULL;
    for (size_t length; *text != '\0'; text += length) {
        const unsigned char byte = (unsigned char)*text;
        length = ts_utf8_length(text, NULL);
        if (length > 0) {
            memcpy(out, text, length);
            out += length;
        } else {
            *out++ = (char)(0xC0 | byte >> 6);
            *out++ = (char)(0x80 | (byte & 0x3F));
            length = 1;
        }
    }
    *out = '\0';
    return decoded;
}
