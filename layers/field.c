/* field.c: described numbers: places, defaults, checks. */
#include "field.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static int width(const ts_field *field) {
    return field->numbers > 0 ? field->numbers : 1;
}

int ts_field_place(const ts_field *fields, const char *name) {
    int place = 0;
    for (const ts_field *f = fields; f->name != NULL; place += width(f), f++)
        if (strcmp(f->name, name) == 0) return place;
    return -1;
}

int ts_fields_places(const ts_field *fields) {
    int places = 0;
    for (const ts_field *f = fields; f->name != NULL; f++) places += width(f);
    return places;
}

int ts_field_given(const ts_field *field, const double *values) {
    int given = 0;
    while (given < width(field) && !isnan(values[given])) given++;
    return given;
}

void ts_fields_set_defaults(const ts_field *fields, double *values) {
    for (const ts_field *f = fields; f->name != NULL; values += width(f), f++) {
        values[0] = f->initial;
        for (int i = 1; i < width(f); i++) values[i] = NAN;
    }
}

const char *ts_field_word(const ts_field *field, int number) {
    if (field->kind == TS_FIELD_CHOICE) return field->choices[number];
    return ts_simplex_maps[number] == NULL ? NULL : ts_simplex_maps[number]->name;
}

int ts_field_number(const ts_field *field, const char *word) {
    const char *known;
    for (int i = 0; (known = ts_field_word(field, i)) != NULL; i++)
        if (strcmp(known, word) == 0) return i;
    return -1;
}

static ts_status wrong(const ts_field *f, double value, ts_error *error) {
    if (f->kind == TS_FIELD_WHOLE)
        return ts_error_set(error, TS_ERROR_VALUE, "%s must be a whole number from %.0f to %.0f, not %g", f->name,
                            f->least, f->most, value);
    if (isinf(f->most))
        return ts_error_set(error, TS_ERROR_VALUE, "%s must be %s %g%s, not %g", f->name,
                            f->above ? "above" : "at least", f->least, isinf(value) ? " and finite" : "", value);
    return ts_error_set(error, TS_ERROR_VALUE, "%s must be in %c%g,%g%c, not %g", f->name, f->above ? '(' : '[',
                        f->least, f->most, f->below ? ')' : ']', value);
}

static bool fits(const ts_field *f, double value) {
    int choices = 0;
    switch (f->kind) {
    case TS_FIELD_FLAG: return value == 0 || value == 1;
    case TS_FIELD_CHOICE:
    case TS_FIELD_MAP:
        while (ts_field_word(f, choices) != NULL) choices++;
        return value == floor(value) && value >= 0 && value < choices;
    case TS_FIELD_WHOLE: return value == floor(value) && value >= f->least && value <= f->most;
    case TS_FIELD_REAL: break;
    }
    return isfinite(value) && (f->above ? value > f->least : value >= f->least) &&
           (f->below ? value < f->most : value <= f->most);
}

ts_status ts_fields_check(const ts_field *fields, const double *values, ts_error *error) {
    for (const ts_field *f = fields; f->name != NULL; values += width(f), f++) {
        const int given = ts_field_given(f, values);
        if (given == 0) return ts_error_set(error, TS_ERROR_VALUE, "%s is missing", f->name);
        for (int i = 0; i < given; i++)
            if (!fits(f, values[i])) {
                if (f->kind == TS_FIELD_REAL || f->kind == TS_FIELD_WHOLE) return wrong(f, values[i], error);
                return ts_error_set(error, TS_ERROR_VALUE, "%s: %g is none of its values", f->name, values[i]);
            }
    }
    return TS_OK;
}
