#include "number_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../models/data/compare_doubles.h"
#include "message.h"
#include "options.h"

/* The list being read, and its name in messages. */
typedef struct reader {
    const char *name, *text;
    const cli_number_bounds *bounds;
    cli_number_list *list;
} reader;

static int refuse(const reader *r) {
    return cli_fail(CLI_WRONG_USE, "--%s: '%s' is not a list of numbers like 5,10,20 or 5-50:5", r->name, r->text);
}

/* Reads a decimal number at *text and moves past it; blanks, signs, "inf" and hexadecimals, which strtod takes, are
 * refused. */
static bool take_number(const char **text, double *value) {
    const size_t length = strspn(*text, "0123456789.eE");
    char *end;
    *value = strtod(*text, &end);
    if (length == 0 || !isfinite(*value) || ((*text)[0] == '0' && ((*text)[1] == 'x' || (*text)[1] == 'X')))
        return false;
    *text = end;
    return true;
}

static int add(const reader *r, double value) {
    const cli_number_bounds *b = r->bounds;
    if (b->whole && floor(value) < value)
        return cli_fail(CLI_WRONG_USE, "--%s: %.15g is not a whole number", r->name, value);
    if (value < b->least || value > b->most)
        return cli_fail(CLI_WRONG_USE, "--%s: %.15g is not between %.15g and %.15g", r->name, value, b->least, b->most);
    if (r->list->count == CLI_NUMBER_LIST)
        return cli_fail(CLI_WRONG_USE, "--%s: more than %d numbers", r->name, CLI_NUMBER_LIST);
    r->list->value[r->list->count++] = value;
    return CLI_GO_ON;
}

/* Rounds to the decimals a person would write: .1 + 2 * .1 becomes .3. */
static double to_decimals(double value) {
    char text[40];
    snprintf(text, sizeof text, "%.15g", value);
    return strtod(text, NULL);
}

static int add_range(const reader *r, double first, double last, double step) {
    if (!(step > 0)) return cli_fail(CLI_WRONG_USE, "--%s: '%s': the step of a range is above 0", r->name, r->text);
    if (last < first) return cli_fail(CLI_WRONG_USE, "--%s: '%s': the range ends before it begins", r->name, r->text);
    /* A step that divides the range up to rounding reaches the end. */
    const double steps = floor((last - first) / step + 1e-9);
    int status = steps < CLI_NUMBER_LIST ? CLI_GO_ON : add(r, first);
    if (status == CLI_GO_ON && steps >= CLI_NUMBER_LIST)
        return cli_fail(CLI_WRONG_USE, "--%s: more than %d numbers", r->name, CLI_NUMBER_LIST);
    for (int i = 0; status == CLI_GO_ON && i <= (int)steps; i++) status = add(r, to_decimals(first + i * step));
    return status;
}

/* Reads a number or a range at *text and moves past it. */
static int take_item(const reader *r, const char **text) {
    double first, last, step = 1;
    if (!take_number(text, &first)) return refuse(r);
    if (**text != '-') return add(r, first);
    ++*text;
    if (!take_number(text, &last)) return refuse(r);
    if (**text == ':') {
        ++*text;
        if (!take_number(text, &step)) return refuse(r);
    }
    return add_range(r, first, last, step);
}

int cli_read_numbers(const char *name, const char *text, const cli_number_bounds *bounds, cli_number_list *list) {
    const reader r = {name, text, bounds, list};
    list->count = 0;
    for (const char *at = text;; at++) {
        const int status = take_item(&r, &at);
        if (status != CLI_GO_ON) return status;
        if (*at == '\0') break;
        if (*at != ',') return refuse(&r);
    }
    qsort(list->value, list->count, sizeof list->value[0], ts_compare_doubles);
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++)
        if (list->value[i] > list->value[kept - 1]) list->value[kept++] = list->value[i];
    list->count = kept;
    return CLI_GO_ON;
}

int cli_number_place(const cli_number_list *list, double value) {
    const double *found = bsearch(&value, list->value, list->count, sizeof list->value[0], ts_compare_doubles);
    return found == NULL ? -1 : (int)(found - list->value);
}
