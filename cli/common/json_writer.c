#include "json_writer.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../io/utf8.h"
#include "number_text.h"

json_t *cli_json_text(const char *text) {
    char *copy = strdup(text);
    if (copy != NULL) ts_utf8_repair(copy);
    json_t *string = copy == NULL ? NULL : json_string(copy);
    free(copy);
    return string;
}

static bool put_string(const char *text) {
    json_t *string = cli_json_text(text);
    const bool done = string != NULL && (json_dumpf(string, stdout, JSON_ENCODE_ANY) == 0 || ferror(stdout));
    json_decref(string);
    return done;
}

static void put_number(double value, const char *end_of_whole) {
    char text[CLI_NUMBER_TEXT] = "null";
    if (isfinite(value) && strpbrk(cli_number_text(value, text), ".e") != NULL) end_of_whole = "";
    printf("%s%s", text, isfinite(value) ? end_of_whole : "");
}

/* The value of a member, or a bracket that begins one. */
static void put_value(cli_json *json, char kind, va_list *values) {
    json->follows = kind != '{' && kind != '[';
    switch (kind) {
    case 's': json->failed = !put_string(va_arg(*values, const char *)) || json->failed; break;
    case 'i': printf("%lld", (long long)va_arg(*values, int64_t)); break;
    case 'u': printf("%llu", (unsigned long long)va_arg(*values, uint64_t)); break;
    case 'b': fputs(va_arg(*values, int) != 0 ? "true" : "false", stdout); break;
    case 'r': put_number(va_arg(*values, double), ".0"); break;
    case 'n': put_number(va_arg(*values, double), ""); break;
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
