/* cell.c: parses cells of text files. */
#include "cell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "utf8.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* The end of the decimal number at p, or NULL; *mark points to its decimal point or comma, or is NULL. */
static char *scan_decimal(char *p, bool comma, char **mark) {
    int64_t digits = 0;
    *mark = NULL;
    if (*p == '+' || *p == '-') p++;
    for (;; p++) {
        if (is_digit(*p)) {
            digits++;
        } else if (*mark == NULL && (*p == '.' || (comma && *p == ','))) {
            *mark = p;
        } else {
            break;
        }
    }
    if (digits == 0) return NULL;
    if (*p == 'e' || *p == 'E') {
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        if (!is_digit(*p)) return NULL;
        while (is_digit(*p)) p++;
    }
    return p;
}

static bool is_not_finite(const char *start, const char *end, double *value) {
    static const char *const words[] = {"nan", "inf", "infinity"};
    const char *word = start + (*start == '+' || *start == '-');
    for (int i = 0; i < 3; i++) {
        const size_t length = strlen(words[i]);
        if ((size_t)(end - word) != length || strncasecmp(word, words[i], length) != 0) continue;
        *value = i == 0 ? NAN : *start == '-' ? -INFINITY : INFINITY;
        return true;
    }
    return false;
}

/* The cell without surrounding blanks. */
static const char *trim(const char *cell, size_t *length) {
    const char *start = cell + strspn(cell, " \t");
    *length = strlen(start);
    while (*length > 0 && (start[*length - 1] == ' ' || start[*length - 1] == '\t')) --*length;
    return start;
}

ts_cell_kind ts_cell_number(char *cell, bool comma, double *value, char *mark) {
    size_t length;
    char *start = cell + (trim(cell, &length) - cell), *end = start + length, *at;
    *mark = '\0';
    if (start == end) return TS_CELL_EMPTY;
    if (scan_decimal(start, comma, &at) != end) {
        return is_not_finite(start, end, value) ? TS_CELL_NOT_FINITE : TS_CELL_TEXT;
    }
    if (at != NULL) {
        *mark = *at;
        *at = '.';
    }
    *value = strtod(start, NULL);
    if (at != NULL) *at = *mark;
    return isfinite(*value) ? TS_CELL_FINITE : TS_CELL_NOT_FINITE;
}

bool ts_cell_is_whole(const char *cell) {
    const size_t digits = strspn(cell, "0123456789");
    return digits > 0 && cell[digits] == '\0';
}

bool ts_cell_is_mark(const char *cell) {
    static const char *const marks[] = {
        "NA",      "na",      "N/A",     "n/a",     "N.A.",  "n.a.",   "<NA>",  "#N/A",   "#NA",
        "NULL",    "Null",    "null",    "(null)",  "\\N",   "None",   "none",  "nil",    "missing",
        "Missing", "MISSING", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!",
    };
    size_t length;
    const char *text = trim(cell, &length);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (strlen(marks[i]) == length && memcmp(marks[i], text, length) == 0) return true;
    return false;
}

static bool within(uint32_t code, uint32_t first, uint32_t last) {
    return code >= first && code <= last;
}

/* ASCII, Arabic, Persian and fullwidth digits. */
static bool is_digit_code(uint32_t code) {
    return within(code, '0', '9') || within(code, 0x660, 0x669) || within(code, 0x6F0, 0x6F9) ||
           within(code, 0xFF10, 0xFF19);
}

/* Beyond ASCII everything counts as a letter except digits and the signs of Latin-1, the blocks of punctuation and
 * symbols, and fullwidth signs. */
static bool is_letter_code(uint32_t code) {
    if (code < 0x80) return within(code, 'A', 'Z') || within(code, 'a', 'z');
    if (code < 0xC0) return code == 0xAA || code == 0xB5 || code == 0xBA;
    return code != 0xD7 && code != 0xF7 && !is_digit_code(code) && !within(code, 0x2000, 0x2BFF) &&
           !within(code, 0x3000, 0x303F) && !within(code, 0xFE00, 0xFE0F) && !within(code, 0xFF00, 0xFF20);
}

/* The first letter or digit of the cell; 0: it has neither. Invalid UTF-8 is read as Latin-1. */
static uint32_t first_letter_or_digit(const char *cell) {
    while (*cell != '\0') {
        uint32_t code;
        size_t length = ts_utf8_length(cell, &code);
        if (length == 0) {
            code = (unsigned char)*cell;
            length = 1;
        }
        if (is_digit_code(code) || is_letter_code(code)) return code;
        cell += length;
    }
    return 0;
}

bool ts_cell_is_name(const char *cell) {
    const uint32_t first = first_letter_or_digit(cell);
    return first != 0 && is_letter_code(first) && !ts_cell_is_mark(cell);
}

/* Why a cell that looks like a number is not one: another encoding, or a minus sign other than '-'. */
static void hidden_reason(const char *cell, char reason[40]) {
    reason[0] = '\0';
    if (ts_utf8_fault(cell) != NULL) snprintf(reason, 40, "; not UTF-8, read as Latin-1");
    for (size_t length; reason[0] == '\0' && *cell != '\0'; cell += length) {
        uint32_t code;
        length = ts_utf8_length(cell, &code);
        const bool minus = code == 0x2212 || within(code, 0x2010, 0x2015);
        if (minus && (is_digit(cell[length]) || cell[length] == '.' || cell[length] == ','))
            snprintf(reason, 40, "; its minus is U+%04X, not -", (unsigned)code);
    }
}

static void text_reason(const char *cell, char reason[TS_REASON_SIZE]) {
    char quoted[TS_QUOTE_SIZE], hidden[40];
    size_t length;
    const char *text = trim(cell, &length);
    if (ts_cell_is_mark(cell) || first_letter_or_digit(cell) == 0) {
        ts_io_quote_part(text, length, quoted);
        snprintf(reason, TS_REASON_SIZE, "missing value (%.*s)", (int)strlen(quoted) - 2, quoted + 1);
        return;
    }
    char *decoded = ts_utf8_from_latin1(cell);
    ts_io_quote(decoded == NULL ? cell : decoded, quoted);
    hidden_reason(cell, hidden);
    snprintf(reason, TS_REASON_SIZE, "not a number (%s%s)", quoted, hidden);
    free(decoded);
}

void ts_cell_reason(char *cell, bool comma, char reason[TS_REASON_SIZE]) {
    double value = 0;
    char mark, quoted[TS_QUOTE_SIZE], *at;
    switch (ts_cell_number(cell, comma, &value, &mark)) {
    case TS_CELL_EMPTY: snprintf(reason, TS_REASON_SIZE, "missing value (empty cell)"); return;
    case TS_CELL_TEXT: text_reason(cell, reason); return;
    default: break;
    }
    ts_io_quote(cell, quoted);
    const bool overflow = scan_decimal(cell + strspn(cell, " \t"), comma, &at) != NULL;
    snprintf(reason, TS_REASON_SIZE, "not finite (%s)",
             overflow       ? quoted
             : isnan(value) ? "nan"
             : value > 0    ? "inf"
                            : "-inf");
}
