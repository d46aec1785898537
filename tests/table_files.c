#include "table_files.h"

#include <stdio.h>
#include <string.h>

unsigned char file_bytes[8192];

ts_table read_good(const ts_table_options *options) {
    ts_table table;
    ts_io_error error;
    ck_assert_msg(ts_table_read(path, options, &table, &error), "%s", error.text);
    return table;
}

const char *read_bad(const ts_table_options *options) {
    static ts_io_error error;
    ts_table table = {.rows = 7, .values = (double *)&error};
    error.text[0] = '\0';
    ck_assert_msg(!ts_table_read(path, options, &table, &error), "%s was accepted", path);
    ck_assert(table.rows == 0 && table.cols == 0 && table.values == NULL && table.names == NULL &&
              table.labels == NULL && table.classes == NULL && table.n_classes == 0);
    ck_assert_msg(strncmp(error.text, path, strlen(path)) == 0, "%s", error.text);
    const char *rest = error.text + strlen(path);
    return strncmp(rest, ": ", 2) == 0 ? rest + 2 : rest;
}

bool read_or_reason(void) {
    ts_table table;
    ts_io_error error = {""};
    const bool read = ts_table_read(path, NULL, &table, &error);
    if (!read) ck_assert_uint_gt(strlen(error.text), strlen(path) + 2);
    ts_table_free(&table);
    return read;
}

void assert_values(const ts_table *table, int64_t rows, int64_t cols, const double *values) {
    ck_assert_int_eq(table->rows, rows);
    ck_assert_int_eq(table->cols, cols);
    for (int64_t i = 0; i < rows * cols; i++) ck_assert_msg(table->values[i] == values[i], "value %d", (int)i);
}

void assert_good_texts(const good_text *cases, size_t count, const ts_table_options *options) {
    for (size_t i = 0; i < count; i++) {
        put(cases[i].file == NULL ? "a.csv" : cases[i].file, cases[i].text, strlen(cases[i].text));
        ts_table table = {0};
        ts_io_error error;
        ck_assert_msg(ts_table_read(path, options, &table, &error), "%s\n%s", cases[i].text, error.text);
        ck_assert_msg(table.rows == cases[i].rows && table.cols == cases[i].cols, "%s", cases[i].text);
        assert_values(&table, cases[i].rows, cases[i].cols, cases[i].values);
        ck_assert_msg((table.names == NULL) == (cases[i].first_name == NULL), "%s", cases[i].text);
        if (table.names != NULL) ck_assert_str_eq(table.names[0], cases[i].first_name);
        ts_table_free(&table);
        ts_table_free(&table);
    }
}

void assert_bad_texts(const bad_text *cases, size_t count, const ts_table_options *options) {
    for (size_t i = 0; i < count; i++) {
        put("a.csv", cases[i].text, strlen(cases[i].text));
        ck_assert_str_eq(read_bad(options), cases[i].message);
    }
}

size_t build_npy(int version, const char *header, const void *payload, size_t payload_size) {
    const size_t length = strlen(header), prefix = version == 1 ? 10 : 12;
    memcpy(file_bytes, "\x93NUMPY", 6);
    file_bytes[6] = (unsigned char)version;
    memset(file_bytes + 7, 0, 5);
    file_bytes[8] = (unsigned char)(length & 255);
    file_bytes[9] = (unsigned char)(length >> 8);
    memcpy(file_bytes + prefix, header, length);
    memcpy(file_bytes + prefix + length, payload, payload_size);
    return prefix + length + payload_size;
}

void put_npy(const char *header, const void *payload, size_t payload_size) {
    put("a.npy", file_bytes, build_npy(1, header, payload, payload_size));
}

int run_table_case(const char *name, TCase *tests) {
    tcase_add_checked_fixture(tests, enter, leave);
    return run_case(name, tests);
}
