#include "short_text.h"

#include <stdbool.h>
#include <string.h>

#include "../../io/utf8.h"

/* The width of the character at text, and its bytes: 2 from U+2E80 on (East Asia, emoji), 0 for combining marks. */
static int width_of(const char *text, size_t *bytes) {
    uint32_t code = 0;
    *bytes = ts_utf8_length(text, &code);
    if (*bytes == 0) *bytes = 1; /* shown as a question mark */
    return code >= 0x2E80 ? 2 : code >= 0x300 && code < 0x370 ? 0 : 1;
}

int cli_text_width(const char *text) {
    int width = 0;
    for (size_t bytes; *text != '\0'; text += bytes) width += width_of(text, &bytes);
    return width;
}

const char *cli_short_text(const char *text, int most, char *result, size_t size) {
    static const char dots[] = "…";
    const bool fits = cli_text_width(text) <= most && strlen(text) < size;
    const int room = fits ? most : most - 1;
    const size_t space = size - (fits ? 1 : sizeof dots);
    size_t used = 0;
    int width = 0;
    for (size_t bytes; *text != '\0'; text += bytes) {
        width += width_of(text, &bytes);
        if (width > room || used + bytes > space) break;
        memcpy(result + used, text, bytes);
        used += bytes;
    }
    memcpy(result + used, dots, fits ? 0 : sizeof dots - 1);
    result[used + (fits ? 0 : sizeof dots - 1)] = '\0';
    return result;
}
