#include "json_writer.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../io/utf8.h"
#include "number_text.h"

/* Writes a jansson value and releases it. */
static void put_json(cli_json *json, json_t *value) {
    const size_t flags = JSON_ENCODE_ANY | (size_t)JSON_REAL_PRECISION(json->digits);
    if (value == NULL || (json_dumpf(value, stdout, flags) != 0 && !ferror(stdout))) json->failed = true;
    json_decref(value);
}

static void put_string(cli_json *json, const char *text) {
    char *copy = strdup(text);
    if (copy != NULL) ts_utf8_repair(copy);
    put_json(json, copy == NULL ? NULL : json_string(copy));
    free(copy);
}

static void put_number(double value, const char *end_of_whole) {
    char text[CLI_NUMBER_TEXT] = "null";
    if (isfinite(value) && strpbrk(cli_number_text(value, text), ".e") != NULL) end_of_whole = "";
    printf("%s%s", text, isfinite(value) ? end_of_whole : "");
}

static void put_double(cli_json *json, char kind, double value) {
    if (kind == 'f')
        put_json(json, isfinite(value) ? json_real(value) : json_null());
    else
        put_number(value, kind == 'r' ? ".0" : "");
}

static void put_array(cli_json *json, char kind, int64_t length, const void *numbers) {
    putchar('[');
    for (int64_t i = 0; i < length; i++) {
        if (i > 0) fputs(", ", stdout);
        if (kind == 'I')
            printf("%lld", (long long)((const int64_t *)numbers)[i]);
        else
            put_double(json, (char)(kind - 'A' + 'a'), ((const double *)numbers)[i]);
    }
    putchar(']');
}

/* The value of a member, or a bracket that begins one. */
static void put_value(cli_json *json, char kind, va_list *values) {
    int64_t length;
    json->follows = kind != '{' && kind != '[';
    switch (kind) {
    case 's': put_string(json, va_arg(*values, const char *)); break;
    case 'i': printf("%lld", (long long)va_arg(*values, int64_t)); break;
    case 'u': printf("%llu", (unsigned long long)va_arg(*values, uint64_t)); break;
    case 'b': fputs(va_arg(*values, int) != 0 ? "true" : "false", stdout); break;
    case 'r':
    case 'n':
    case 'f': put_double(json, kind, va_arg(*values, double)); break;
    case 'I':
    case 'R':
    case 'N':
    case 'F':
        length = va_arg(*values, int64_t);
        put_array(json, kind, length, va_arg(*values, const void *));
        break;
    case 'j': put_json(json, va_arg(*values, json_t *)); break;
    default: putchar(kind);
    }
}

void cli_json_put(cli_json *json, const char *members, ...) {
    va_list values;
    va_start(values, members);
    for (const char *word = members; *word != '\0'; word += strspn(word, " ")) {
        const size_t length = strcspn(word, " ");
        const char kind = word[length - 1];
        const bool closes = kind == '}' || kind == ']';
        if (json->follows && !closes) fputs(", ", stdout);
        if (length > 2) printf("\"%.*s\": ", (int)length - 2, word);
        put_value(json, kind, &values);
        word += length;
    }
    va_end(values);
}

bool cli_json_end(cli_json *json) {
    putchar('\n');
    return !json->failed;
}
