#include "short_text.h"

#include <stdbool.h>
#include <string.h>

size_t cli_character_length(const char *text) {
    const unsigned char first = (unsigned char)*text;
    const size_t length = first < 0x80   ? 1
                          : first < 0xC2 ? 0
                          : first < 0xE0 ? 2
                          : first < 0xF0 ? 3
                          : first < 0xF5 ? 4
                                         : 0;
    for (size_t i = 1; i < length; i++)
        if (((unsigned char)text[i] & 0xC0) != 0x80) return 0;
    return first < ' ' || first == 127 ? 0 : length;
}

/* Of the character of so many bytes. Scripts of East Asia, and pictures, come at U+2E80 and later; U+0300 to U+036F
 * stand above the letter before. */
static int width_of(const char *text, size_t length) {
    const unsigned char first = (unsigned char)text[0], second = length > 1 ? (unsigned char)text[1] : 0;
    if (length == 4 || (length == 3 && (first > 0xE2 || (first == 0xE2 && second >= 0xBA)))) return 2;
    return length == 2 && (first == 0xCC || (first == 0xCD && second < 0xB0)) ? 0 : 1;
}

int cli_text_width(const char *text) {
    int width = 0;
    while (*text != '\0') {
        const size_t length = cli_character_length(text);
        width += length == 0 ? 1 : width_of(text, length);
        text += length == 0 ? 1 : length;
    }
    return width;
}

const char *cli_short_text(const char *text, int most, char *result, size_t size) {
    static const char dots[] = "…";
    const bool fits = cli_text_width(text) <= most && strlen(text) < size;
    const int room = fits ? most : most - 1;
    const size_t space = size - (fits ? 1 : sizeof dots);
    size_t used = 0;
    int width = 0;
    while (*text != '\0') {
        const size_t length = cli_character_length(text), bytes = length == 0 ? 1 : length;
        width += length == 0 ? 1 : width_of(text, length);
        if (width > room || used + bytes > space) break;
        memcpy(result + used, text, bytes);
        used += bytes;
        text += bytes;
    }
    memcpy(result + used, dots, fits ? 0 : sizeof dots - 1);
    result[used + (fits ? 0 : sizeof dots - 1)] = '\0';
    return result;
}
