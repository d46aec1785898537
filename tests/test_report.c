/* Tables as rows of described columns: text, CSV and Markdown of the same rows; and the order of doubles. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "../cli/common/report.h"
#include "../models/data/compare_doubles.h"
#include "test_main.h"

typedef struct row {
    const char *name, *reason;
    int64_t runs;
    double ms, least, most;
} row;

static const char *two_digits(double value, char text[CLI_NUMBER_TEXT]) {
    text[0] = '\0';
    if (!isnan(value)) snprintf(text, CLI_NUMBER_TEXT, "%.2g", value);
    return text;
}

#define FIELD(name) offsetof(row, name)
enum { COLUMNS = 6 };
static const cli_column columns[COLUMNS] = {
    {.field = FIELD(name), .cell = CLI_CELL_TEXT, .csv = "name", .head = "", .md = "", .width = -5},
    {.field = FIELD(runs), .cell = CLI_CELL_WHOLE, .csv = "runs", .head = "runs", .width = 4, .gap = 1},
    {.field = FIELD(ms), .csv = "ms", .head = "ms", .md = "ms", .width = 6, .show = two_digits},
    {.field = FIELD(least), .cell = CLI_CELL_RANGE, .md = "range", .show = two_digits},
    {.field = FIELD(most), .csv = "most", .show_in_csv = cli_any_number},
    {.field = FIELD(reason), .cell = CLI_CELL_QUOTED, .csv = "reason"},
};
static const row rows[] = {{"one", "", 3, 1.25, 0.1, 2}, {"two", "it \"failed\", so", 0, NAN, NAN, NAN}};

/* The table in a form; the caller frees it. */
static char *table(cli_form form) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(stream);
    cli_report_head(stream, form, columns, COLUMNS);
    for (int i = 0; i < 2; i++) cli_report_row(stream, form, columns, COLUMNS, &rows[i]);
    fclose(stream);
    return text;
}

static void expect_table(cli_form form, const char *expected) {
    char *text = table(form);
    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(a_table_is_text) {
    expect_table(CLI_TEXT_TABLE, "       runs     ms\n"
                                 "one       3    1.2\n"
                                 "two       0       \n");
}
END_TEST

/* All digits, nothing where there is no number unless the column says so, quotes doubled. */
START_TEST(a_table_is_csv) {
    expect_table(CLI_CSV, "name,runs,ms,most,reason\n"
                          "one,3,1.25,2,\n"
                          "two,0,,nan,\"it \"\"failed\"\", so\"\n");
}
END_TEST

START_TEST(a_table_is_markdown) {
    expect_table(CLI_MARKDOWN, "| | ms | range |\n"
                               "|---|---:|---:|\n"
                               "| one | 1.2 | 0.1 to 2 |\n"
                               "| two |  |  to  |\n");
}
END_TEST

START_TEST(doubles_rise_and_nan_is_last) {
    double values[] = {NAN, 2, -INFINITY, NAN, 0.5, INFINITY};
    qsort(values, 6, sizeof values[0], ts_compare_doubles);
    ck_assert(values[0] < 0 && values[1] <= 0.5 && values[2] <= 2 && values[2] > 0.5 && isinf(values[3]));
    ck_assert(isnan(values[4]) && isnan(values[5]));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("report");
    TCase *cases = tcase_create("report");
    tcase_add_test(cases, a_table_is_text);
    tcase_add_test(cases, a_table_is_csv);
    tcase_add_test(cases, a_table_is_markdown);
    tcase_add_test(cases, doubles_rise_and_nan_is_last);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
