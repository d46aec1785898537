/* test_field.c: described numbers. */
#include <math.h>
#include <string.h>

#include "../layers/field.h"
#include "test_main.h"

static const char *const colours[] = {"red", "green", NULL};
enum { COUNT, RATE, WIDTHS, SHARED = WIDTHS + 3, COLOUR, MAP, PLACES };
static const ts_field fields[] = {
    {"count", TS_FIELD_WHOLE, .initial = 2, .least = 1, .most = 8},
    {"rate", TS_FIELD_REAL, .initial = NAN, .least = 0, .above = true, .most = INFINITY},
    {"widths", TS_FIELD_REAL, .initial = 0.25, .least = 0, .most = 1, .below = true, .numbers = 3},
    {"shared", TS_FIELD_FLAG, .initial = 1},
    {"colour", TS_FIELD_CHOICE, .initial = 1, .choices = colours},
    {"map", TS_FIELD_MAP, .initial = 0},
    {.name = NULL}};

static const char *message(const double *values) {
    static ts_error error;
    error = (ts_error){.status = TS_OK};
    return ts_fields_check(fields, values, &error) == TS_OK ? "" : error.text;
}

START_TEST(places_and_defaults) {
    double values[TS_MAX_FIELDS];
    ck_assert_int_eq(ts_fields_places(fields), PLACES);
    ck_assert_int_eq(ts_field_place(fields, "count"), COUNT);
    ck_assert_int_eq(ts_field_place(fields, "shared"), SHARED);
    ck_assert_int_eq(ts_field_place(fields, "shape"), -1);
    ts_fields_set_defaults(fields, values);
    ck_assert(values[COUNT] == 2 && isnan(values[RATE]) && values[SHARED] == 1 && values[COLOUR] == 1);
    ck_assert_int_eq(ts_field_given(&fields[2], values + WIDTHS), 1);
    values[WIDTHS] = 0, values[WIDTHS + 1] = 0.5, values[WIDTHS + 2] = 0.9;
    ck_assert_int_eq(ts_field_given(&fields[2], values + WIDTHS), 3);
    ck_assert_int_eq(ts_field_number(&fields[4], "green"), 1);
    ck_assert_int_eq(ts_field_number(&fields[4], "blue"), -1);
    ck_assert_int_eq(ts_field_number(&fields[5], "sparsemax"), 3);
    ck_assert_str_eq(ts_field_word(&fields[5], 0), "softmax");
}
END_TEST

/* Each row breaks one field. */
START_TEST(messages_name_the_field) {
    static const struct {
        int place;
        double value;
        const char *text;
    } rows[] = {{COUNT, 0, "count must be a whole number from 1 to 8, not 0"},
                {COUNT, 2.5, "count must be a whole number from 1 to 8, not 2.5"},
                {COUNT, NAN, "count is missing"},
                {RATE, 0, "rate must be above 0, not 0"},
                {RATE, INFINITY, "rate must be above 0 and finite, not inf"},
                {RATE, NAN, "rate is missing"},
                {WIDTHS + 1, 1, "widths must be in [0,1), not 1"},
                {WIDTHS, -0.5, "widths must be in [0,1), not -0.5"},
                {SHARED, 2, "shared: 2 is none of its values"},
                {COLOUR, 2, "colour: 2 is none of its values"},
                {MAP, 99, "map: 99 is none of its values"},
                {RATE, 0.5, ""}};
    double values[TS_MAX_FIELDS];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_fields_set_defaults(fields, values);
        values[RATE] = 1;
        values[rows[i].place] = rows[i].value;
        ck_assert_str_eq(message(values), rows[i].text);
    }
}
END_TEST

int main(void) {
    TCase *cases = tcase_create("fields");
    tcase_add_test(cases, places_and_defaults);
    tcase_add_test(cases, messages_name_the_field);
    return run_case("described numbers", cases);
}
