/* What `tessera cluster` makes of the names and encodings of the files that it reads. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "program.h"

/* Centres are matched with the features by name: what was written with --columns b,a is read without it. */
START_TEST(initial_centers_by_name) {
    const double centers[] = {1, 200, 4, 100};
    write_file("ab.csv", "a,b\n1,200\n1,200\n4,100\n4,100\n");
    ck_assert_int_eq(tessera("cluster ab.csv -k 2 --columns b,a --init first --centers ba.csv --steps 0"), 0);
    write_file("ba.csv", "b,a\n201,1.5\n99,3.5\n");
    json_t *report = tessera_json("cluster ab.csv -k 2 --init ba.csv");
    expect_centers(report, 2, 2, centers);
    expect_labels(report, "0011");
    ck_assert_str_eq(err, "");
    json_decref(report);
    write_file("extra.csv", "cluster,b,a\none,201,1.5\ntwo,99,3.5\n");
    report = tessera_json("cluster ab.csv -k 2 --init extra.csv");
    expect_centers(report, 2, 2, centers);
    ck_assert_str_eq(err,
                     "tessera: warning: extra.csv: column 1 ('cluster') is no feature of the data and is left out\n");
    json_decref(report);
    write_file("other.csv", "a,c\n1,2\n3,4\n");
    expect_failure(1, "other.csv: no column is named 'b', which is a feature of the data; the header has 'a', 'c'",
                   "cluster ab.csv -k 2 --init other.csv");
    write_file("bare.csv", "1,200\n4,100\n");
    report = tessera_json("cluster ab.csv -k 2 --init bare.csv");
    expect_centers(report, 2, 2, centers);
    json_decref(report);
}
END_TEST

/* Names that are numbers, which only --header yes takes for names. */
START_TEST(written_centers_read_back) {
    write_file("years.csv", "2019,2020\n1,200\n4,100\n1,200\n4,100\n");
    ck_assert_int_eq(tessera("cluster years.csv --header yes -k 2 --init first --centers c.csv"), 0);
    char *written = read_file("c.csv", NULL);
    ck_assert_str_eq(written, "2019,2020\n1,200\n4,100\n");
    free(written);
    json_t *report = tessera_json("cluster years.csv --header yes -k 2 --init c.csv");
    ck_assert_double_eq(number(report, "d"), 2);
    json_decref(report);
}
END_TEST

START_TEST(notes_are_warnings) {
    write_file("numbered.csv", "1,5,3\n2,7,3\n3,8,1\n");
    ck_assert_int_eq(tessera("cluster numbered.csv -k 2 --quiet"), 0);
    ck_assert_str_eq(err,
                     "tessera: warning: numbered.csv: column 1 counts the rows from 1: --columns 2-3 leaves it out\n");
    ck_assert_int_eq(tessera("cluster numbered.csv -k 2 --columns 1-3"), 0);
    ck_assert_str_eq(err, "");
    expect_failure(1, "k = 9", "cluster numbered.csv -k 9");
    write_file("names.csv", "2019,2020\n5,3\n4,1\n");
    ck_assert_int_eq(tessera("cluster - -k 2 <names.csv"), 0);
    ck_assert_ptr_nonnull(strstr(err, "tessera: warning: standard input: row 1 (2019, 2020) is read as data"));
    write_file("na.csv", "NA,2\n3,4\n5,6\n");
    expect_failure(1, "na.csv: row 1, column 1: missing value (NA); if this row holds names, say --header yes",
                   "cluster na.csv -k 2");
}
END_TEST

/* Names and cells in UTF-8 are shown whole; names in Latin-1 are read, noted, and no trouble to JSON and pictures. */
START_TEST(names_in_utf8_and_latin1) {
    write_file("utf8.csv", "Gr\xc3\xb6\xc3\x9f"
                           "e,b\n1,2\n3,K\xc3\xb6ln\n");
    expect_failure(1, "row 3, column 2: not a number ('K\xc3\xb6ln')", "cluster utf8.csv -k 2");
    expect_failure(2,
                   "unknown option '--gr\xc3\xb6\xc3\x9f"
                   "e'",
                   "cluster --gr\xc3\xb6\xc3\x9f"
                   "e");
    write_file("latin\xf6.csv", "Gr\xf6\xdf"
                                "e,b\n1,2\n3,4\n5,9\n");
    json_t *report = tessera_json("cluster latin\xf6.csv -k 2 --centers c.csv");
    ck_assert_str_eq(json_string_value(json_object_get(report, "file")), "latin?.csv");
    ck_assert_str_eq(err,
                     "tessera: warning: latin?.csv: the name of column 1 is not UTF-8 (byte 0xF6): names are read as "
                     "Latin-1\n");
    json_decref(report);
    ck_assert_int_eq(tessera("cluster latin\xf6.csv -k 2 --columns Gr\xc3\xb6\xc3\x9f"
                             "e"),
                     0);
    ck_assert_ptr_nonnull(strstr(out, "Gr\xc3\xb6\xc3\x9f"
                                      "e"));
    char *centers = read_file("c.csv", NULL);
    ck_assert_int_eq(strncmp(centers,
                             "Gr\xc3\xb6\xc3\x9f"
                             "e,b\n",
                             10),
                     0);
    free(centers);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, initial_centers_by_name);
    tcase_add_test(tests, written_centers_read_back);
    tcase_add_test(tests, notes_are_warnings);
    tcase_add_test(tests, names_in_utf8_and_latin1);
    return run_program_case("files that the program reads", tests);
}
