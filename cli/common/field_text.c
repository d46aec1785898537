#include "field_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "options.h"

bool cli_field_name(const char *text, char name[CLI_FIELD_NAME]) {
    const size_t length = strcspn(text, ":");
    if (length >= CLI_FIELD_NAME) return false;
    memcpy(name, text, length);
    name[length] = '\0';
    return true;
}

static const ts_field *field_of(const ts_field *fields, const char *name) {
    for (; fields->name != NULL; fields++)
        if (strcmp(fields->name, name) == 0) return fields;
    return NULL;
}

static int read_value(const char *option, const ts_field *f, const char *text, double *value) {
    char *end;
    if (f->kind == TS_FIELD_CHOICE || f->kind == TS_FIELD_MAP) {
        const int number = ts_field_number(f, text);
        *value = number;
        if (number >= 0) return CLI_GO_ON;
        return cli_fail(CLI_WRONG_USE, "--%s: %s: '%s' is none of its words", option, f->name, text);
    }
    if (f->kind == TS_FIELD_FLAG && (strcmp(text, "yes") == 0 || strcmp(text, "no") == 0)) {
        *value = strcmp(text, "yes") == 0;
        return CLI_GO_ON;
    }
    *value = strtod(text, &end);
    if (end != text && *end == '\0') return CLI_GO_ON;
    return cli_fail(CLI_WRONG_USE, "--%s: %s: '%s' is not a number%s", option, f->name, text,
                    f->kind == TS_FIELD_FLAG ? ", yes or no" : "");
}

static int no_field(const char *option, const char *name, const ts_field *fields) {
    char known[200] = "";
    for (const ts_field *f = fields; f->name != NULL; f++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", f == fields ? "" : ", ", f->name);
    }
    if (known[0] == '\0') return cli_fail(CLI_WRONG_USE, "--%s: '%s': it is given no numbers", option, name);
    return cli_fail(CLI_WRONG_USE, "--%s: '%s' is none of %s", option, name, known);
}

int cli_read_fields(const char *option, const char *text, const ts_field *fields, double *values) {
    ts_error error = {.status = TS_OK};
    const char *at = text + strcspn(text, ":");
    while (*at != '\0') {
        char pair[2 * CLI_FIELD_NAME];
        at++;
        const size_t length = strcspn(at, ",");
        snprintf(pair, sizeof pair, "%.*s", (int)(length < sizeof pair ? length : sizeof pair - 1), at);
        char *value = strchr(pair, '=');
        if (value == NULL) return cli_fail(CLI_WRONG_USE, "--%s: '%s' is not FIELD=VALUE", option, pair);
        *value++ = '\0';
        const ts_field *f = field_of(fields, pair);
        if (f == NULL) return no_field(option, pair, fields);
        const int status = read_value(option, f, value, &values[ts_field_place(fields, pair)]);
        if (status != CLI_GO_ON) return status;
        at += length;
    }
    if (ts_fields_check(fields, values, &error) == TS_OK) return CLI_GO_ON;
    return cli_fail(CLI_WRONG_USE, "--%s: %s", option, error.text);
}
