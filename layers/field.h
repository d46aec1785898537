/* field.h: numbers with names. One table of fields says what a layer, a loss or an optimiser can be given; defaults,
 * checks with messages, JSON, options of the program, help and checkpoints come from it.
 *
 *     enum { HEADS, GAMMA };
 *     static const ts_field fields[] = {
 *         [HEADS] = {"heads", TS_FIELD_WHOLE, .initial = 1, .least = 1, .most = 64, .help = "heads of attention"},
 *         [GAMMA] = {"gamma", TS_FIELD_REAL, .initial = 1, .least = 0, .above = true, .most = 1e300, .numbers = 8},
 *         {.name = NULL}};
 *
 * The values stand in one array of doubles, in the order of the table; a field of up to n numbers takes n places, those
 * that are not given are NAN. */
#ifndef TS_FIELD_H
#define TS_FIELD_H

#include <stdbool.h>

#include "../autograd/simplex.h"

typedef enum ts_field_kind {
    TS_FIELD_REAL,   /* a finite number */
    TS_FIELD_WHOLE,  /* a whole number */
    TS_FIELD_FLAG,   /* 0 or 1 */
    TS_FIELD_CHOICE, /* the index of a word */
    TS_FIELD_MAP     /* a simplex map, by its place in ts_simplex_maps */
} ts_field_kind;

typedef struct ts_field {
    const char *name; /* NULL ends a table */
    ts_field_kind kind;
    double initial;             /* its value when none is given; NAN: it must be given */
    double least, most;         /* REAL, WHOLE: the values that are possible .. */
    bool above, below;          /* REAL: .. without `least`, without `most` */
    const char *const *choices; /* CHOICE: the words, ending with NULL */
    int numbers;                /* REAL, WHOLE: takes up to so many numbers; 0: one */
    const char *help;
} ts_field;

enum { TS_MAX_FIELDS = 32 }; /* places of all fields of a table */

/* The place of a field's (first) number in the array of values; -1: there is no such field. */
int ts_field_place(const ts_field *fields, const char *name);
/* The places of all fields together, at most TS_MAX_FIELDS. */
int ts_fields_places(const ts_field *fields);
/* How many numbers a field of several has: those before the first NAN. */
int ts_field_given(const ts_field *field, const double *values);

void ts_fields_set_defaults(const ts_field *fields, double *values);

/* TS_ERROR_VALUE names the first field that is missing or out of its bounds: "heads must be from 1 to 64, not 0". */
ts_status ts_fields_check(const ts_field *fields, const double *values, ts_error *error);

/* The words of a CHOICE or MAP by number; NULL after the last. And the number of a word; -1: it is none of them. */
const char *ts_field_word(const ts_field *field, int number);
int ts_field_number(const ts_field *field, const char *word);

#endif
