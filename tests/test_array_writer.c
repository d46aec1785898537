#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../io/array_writer.h"
#include "../io/table.h"
#include "one_file.h"

static char content[1 << 20];

/* Writes the array under this name; its bytes are in `content`, their number is returned. */
static size_t write_array(const char *name, const ts_array_view *array) {
    ts_io_error error;
    name_file(name);
    ck_assert_msg(ts_array_write(path, array, &error), "%s", error.text);
    const size_t size = get(content, sizeof content - 1);
    content[size] = '\0';
    return size;
}

START_TEST(npy_bytes) {
    const float values[] = {1, -2, 0.5f, 0, 3, 4};
    const size_t size = write_array("a.npy", &(ts_array_view){TS_ARRAY_FLOAT32, 2, {2, 3}, values, NULL});
    static const char header[] = "\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    ck_assert_uint_eq(size, 128 + sizeof values);
    ck_assert_mem_eq(content, header, sizeof header - 1);
    for (size_t i = sizeof header - 1; i < 127; i++) ck_assert_int_eq(content[i], ' ');
    ck_assert_int_eq(content[127], '\n');
    ck_assert_mem_eq(content + 128, "\0\0\x80\x3f\0\0\0\xc0\0\0\0\x3f", 12);
}
END_TEST

START_TEST(npy_shapes) {
    static const char *const shapes[] = {"(5,)", "(5, 1)", "(5, 1, 2)", "(5, 1, 2, 3)"};
    const int64_t values[30] = {-1, INT64_MAX};
    for (int rank = 1; rank <= 4; rank++) {
        char header[100];
        const size_t count = rank < 3 ? 5 : rank == 3 ? 10 : 30;
        const size_t size = write_array("a.npy", &(ts_array_view){TS_ARRAY_INT64, rank, {5, 1, 2, 3}, values, NULL});
        snprintf(header, sizeof header, "{'descr': '<i8', 'fortran_order': False, 'shape': %s, }", shapes[rank - 1]);
        ck_assert_uint_eq(size, 128 + 8 * count);
        ck_assert_mem_eq(content + 10, header, strlen(header));
        ck_assert_mem_eq(content + 128, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 16);
    }
    ck_assert_uint_eq(write_array("e.npy", &(ts_array_view){TS_ARRAY_FLOAT64, 2, {0, 7}, NULL, NULL}), 128);
    ck_assert_ptr_nonnull(strstr(content + 10, "'<f8', 'fortran_order': False, 'shape': (0, 7), }"));
    /* Large extents lengthen the header, and it stays aligned. */
    const size_t size =
        write_array("e.npy", &(ts_array_view){TS_ARRAY_FLOAT64, 4, {0, INT64_MAX, INT64_MAX, INT64_MAX}, NULL, NULL});
    ck_assert_uint_eq(size % 64, 0);
    ck_assert_uint_eq((unsigned char)content[8] + 256u * (unsigned char)content[9] + 10, size);
}
END_TEST

START_TEST(text_files) {
    char *names[] = {"a", "b c", "d,e", "f\"g", "", "#h", " i", "1;2", "j\tk", "l\nm"};
    const double row[10] = {1, 0.1, -2.5e-7, 1e300, 5, 6, 7, 8, 9, 10};
    write_array("a.csv", &(ts_array_view){TS_ARRAY_FLOAT64, 2, {1, 10}, row, names});
    ck_assert_str_eq(content, "a,b c,\"d,e\",\"f\"\"g\",\"\",\"#h\",\" i\",\"1;2\",\"j\tk\",\"l\nm\"\n"
                              "1,0.1,-2.5e-07,1e+300,5,6,7,8,9,10\n");
    write_array("a.TSV", &(ts_array_view){TS_ARRAY_FLOAT64, 2, {2, 2}, row, names});
    ck_assert_str_eq(content, "a\tb c\n1\t0.1\n-2.5e-07\t1e+300\n");
    write_array("a.txt", &(ts_array_view){TS_ARRAY_FLOAT64, 2, {2, 2}, row, names});
    ck_assert_str_eq(content, "a \"b c\"\n1 0.1\n-2.5e-07 1e+300\n");
    const int64_t labels[] = {0, -3, INT64_MAX, INT64_MIN};
    write_array("a.csv", &(ts_array_view){TS_ARRAY_INT64, 1, {4}, labels, NULL});
    ck_assert_str_eq(content, "0\n-3\n9223372036854775807\n-9223372036854775808\n");
    write_array("a.csv", &(ts_array_view){TS_ARRAY_INT64, 1, {1}, labels, names});
    ck_assert_str_eq(content, "a\n0\n");
    write_array("a.csv", &(ts_array_view){TS_ARRAY_FLOAT32, 2, {0, 2}, NULL, names});
    ck_assert_str_eq(content, "a,b c\n");
    ck_assert_uint_eq(write_array("a.csv", &(ts_array_view){TS_ARRAY_FLOAT32, 2, {0, 2}, NULL, NULL}), 0);
}
END_TEST

START_TEST(shortest_numbers) {
    const float singles[] = {0.1f,       1.0f / 3,        16777216, 1e-45f,
                             FLT_MAX,    -0.0f,           100000,   1000.00006f, /* needs 9 digits */
                             (float)NAN, (float)-INFINITY};
    write_array("a.csv", &(ts_array_view){TS_ARRAY_FLOAT32, 1, {10}, singles, NULL});
    const char *cell = strtok(content, "\n");
    ck_assert_str_eq(cell, "0.1");
    for (int i = 0; i < 8; i++, cell = strtok(NULL, "\n")) {
        const float back = strtof(cell, NULL);
        ck_assert_mem_eq(&back, &singles[i], sizeof back);
        ck_assert_uint_le(strlen(cell), 15);
    }
    ck_assert_str_eq(cell, "nan");
    ck_assert_str_eq(strtok(NULL, "\n"), "-inf");
    double doubles[1000] = {0.1, 0.3, 1.0 / 3, 5e-324, DBL_MAX, -0.0, 123456789012345678.0};
    uint64_t state = 7;
    for (int i = 7; i < 1000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        doubles[i] = ldexp((double)(int64_t)state, (int)(state >> 58) - 60);
    }
    write_array("a.csv", &(ts_array_view){TS_ARRAY_FLOAT64, 1, {1000}, doubles, NULL});
    cell = strtok(content, "\n");
    ck_assert_str_eq(cell, "0.1");
    for (int i = 0; i < 1000; i++, cell = strtok(NULL, "\n")) {
        const double back = strtod(cell, NULL);
        ck_assert_mem_eq(&back, &doubles[i], sizeof back);
    }
}
END_TEST

START_TEST(locale_changes_nothing) {
    const double values[] = {1.5, 1234567.25};
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
        skip_test("no locale de_DE.UTF-8");
        return;
    }
    write_array("a.csv", &(ts_array_view){TS_ARRAY_FLOAT64, 2, {1, 2}, values, NULL});
    char comma[10];
    snprintf(comma, sizeof comma, "%.1f", 1.5);
    setlocale(LC_ALL, "C");
    ck_assert_str_eq(content, "1.5,1234567.25\n");
    ck_assert_str_eq(comma, "1,5"); /* and the program's locale is left alone */
}
END_TEST

static void assert_refused(const char *name, int rank, const char *message) {
    const double values[16] = {0};
    const ts_array_view array = {TS_ARRAY_FLOAT64, rank, {1, 1, 1, 1}, values, NULL};
    ts_io_error asked = {""}, written = {""};
    ck_assert(!ts_array_path_ok(name, rank, &asked));
    ck_assert(!ts_array_write(name, &array, &written));
    ck_assert_str_eq(asked.text, message);
    ck_assert_str_eq(written.text, message);
    ck_assert_int_ne(access(name, F_OK), 0);
}

START_TEST(names_and_ranks) {
    ts_io_error error;
    assert_refused("a.xlsx", 2, "a.xlsx: the name must end in .npy, .csv, .tsv or .txt");
    assert_refused("npy", 2, "npy: the name must end in .npy, .csv, .tsv or .txt");
    assert_refused("a.csv", 3, "a.csv: a .csv file takes 1 to 2 dimensions, the array has 3");
    assert_refused("a.npy", 0, "a.npy: a .npy file takes 1 to 4 dimensions, the array has 0");
    assert_refused("a.npy", 5, "a.npy: a .npy file takes 1 to 4 dimensions, the array has 5");
    ck_assert(ts_array_path_ok("a.npy", 4, &error) && ts_array_path_ok("a.csv", 2, &error) &&
              ts_array_path_ok("a.tsv", 1, &error) && ts_array_path_ok("a.TXT", 2, &error));
}
END_TEST

START_TEST(failures_are_reported) {
    static const double values[20000] = {0};
    const ts_array_view array = {TS_ARRAY_FLOAT64, 2, {10000, 2}, values, NULL};
    ts_io_error error;
    ck_assert(!ts_array_write("out_that_is_not_there/x.csv", &array, &error));
    ck_assert_str_eq(error.text, "out_that_is_not_there/x.csv: No such file or directory");
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/full.%s", folder, i == 0 ? "csv" : "npy");
        if (access("/dev/full", W_OK) != 0 || symlink("/dev/full", path) != 0) {
            skip_part("no /dev/full");
            return;
        }
        ck_assert(!ts_array_write(path, &array, &error));
        ck_assert_ptr_nonnull(strstr(error.text, ": No space left on device"));
        unlink(path);
    }
}
END_TEST

/* What is written reads back the same, names with every special character included. */
START_TEST(reads_back) {
    static const char *const files[] = {"a.npy", "a.csv", "a.tsv", "a.txt"};
    char *names[] = {"petal width", "a,\"b\"", "# c;\td"};
    const double values[] = {0.1, 1e-300, -3, 1.0 / 3, 5e-324, 1e22};
    for (int i = 0; i < 4; i++) {
        write_array(files[i], &(ts_array_view){TS_ARRAY_FLOAT64, 2, {2, 3}, values, names});
        ts_table table;
        ts_io_error error;
        ck_assert_msg(ts_table_read(path, NULL, &table, &error), "%s", error.text);
        ck_assert(table.rows == 2 && table.cols == 3);
        ck_assert_mem_eq(table.values, values, sizeof values);
        for (int j = 0; i > 0 && j < 3; j++) ck_assert_str_eq(table.names[j], names[j]);
        ts_table_free(&table);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, enter, leave);
    tcase_add_test(tests, npy_bytes);
    tcase_add_test(tests, npy_shapes);
    tcase_add_test(tests, text_files);
    tcase_add_test(tests, shortest_numbers);
    tcase_add_test(tests, locale_changes_nothing);
    tcase_add_test(tests, names_and_ranks);
    tcase_add_test(tests, failures_are_reported);
    tcase_add_test(tests, reads_back);
    return run_case("array writer", tests);
}
