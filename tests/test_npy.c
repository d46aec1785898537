/* Tables as .npy arrays. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "table_files.h"

static void assert_npy(const char *descr, const void *payload, size_t size, int64_t count, const double *values) {
    char header[200];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }\n", descr, (int)count);
    put_npy(header, payload, size);
    ts_table table = read_good(NULL);
    ck_assert_ptr_null(table.names);
    assert_values(&table, count, 1, values);
    ts_table_free(&table);
}

/* Case 47 and every type in both orders. */
START_TEST(npy_types) {
    assert_npy(">f4", "\x3f\x80\0\0", 4, 1, (const double[]){1});
    assert_npy("<f4", "\0\0\x80\x3f\0\0\x20\xc0", 8, 2, (const double[]){1, -2.5});
    assert_npy(">f8", "\x3f\xf8\0\0\0\0\0\0", 8, 1, (const double[]){1.5});
    assert_npy("<f8", "\0\0\0\0\0\0\xf8\x3f", 8, 1, (const double[]){1.5});
    assert_npy("|i1", "\xff\x7f", 2, 2, (const double[]){-1, 127});
    assert_npy("u1", "\xff\x7f", 2, 2, (const double[]){255, 127});
    assert_npy("<i2", "\xfe\xff", 2, 1, (const double[]){-2});
    assert_npy(">i2", "\xff\xfe", 2, 1, (const double[]){-2});
    assert_npy("<u2", "\xfe\xff", 2, 1, (const double[]){65534});
    assert_npy(">u2", "\x01\x02", 2, 1, (const double[]){258});
    assert_npy("<i4", "\xfe\xff\xff\xff", 4, 1, (const double[]){-2});
    assert_npy(">i4", "\xff\xff\xff\xfe", 4, 1, (const double[]){-2});
    assert_npy("<u4", "\xfe\xff\xff\xff", 4, 1, (const double[]){4294967294.0});
    assert_npy(">u4", "\0\0\1\0", 4, 1, (const double[]){256});
    assert_npy("<i8", "\xfe\xff\xff\xff\xff\xff\xff\xff", 8, 1, (const double[]){-2});
    assert_npy(">i8", "\0\0\0\0\0\0\1\0", 8, 1, (const double[]){256});
    assert_npy("<u8", "\xff\xff\xff\xff\xff\xff\xff\xff", 8, 1, (const double[]){18446744073709551616.0});
    assert_npy(">i8", "\0\x20\0\0\0\0\0\1", 8, 1, (const double[]){9007199254740992.0}); /* 2^53 + 1 rounds */
    assert_npy("|b1", "\0\1\2", 3, 3, (const double[]){0, 1, 1});
    assert_npy("?", "\1\0", 2, 2, (const double[]){1, 0});
    const float native = 0.25f;
    assert_npy("=f4", &native, 4, 1, (const double[]){0.25});
    assert_npy("f4", &native, 4, 1, (const double[]){0.25});
    const double four[] = {0, 1, 10, 11}; /* case 14 */
    assert_npy("=f8", four, sizeof four, 4, four);
}
END_TEST

/* Case 46, and the ways a header may be written. */
START_TEST(npy_headers) {
    static const char *const headers[] = {
        "{'descr':'=f8','fortran_order':True,'shape':(2,3),}",
        "{'shape': (2, 3), 'fortran_order': True, 'descr': '=f8'}",
        "{\"descr\": \"=f8\" , \"fortran_order\" : True, \"shape\" : ( 2 , 3 , ) }   \n",
        " {'descr': '=f8', 'shape': (2L, 3L), 'fortran_order': True, }\n",
    };
    const double payload[] = {1, 2, 3, 4, 5, 6};
    for (size_t i = 0; i < COUNT(headers); i++) {
        for (int version = 1; version <= 3; version++) {
            put("a.npy", file_bytes, build_npy(version, headers[i], payload, sizeof payload));
            ts_table table = read_good(NULL);
            assert_values(&table, 2, 3, (const double[]){1, 3, 5, 2, 4, 6});
            ts_table_free(&table);
        }
    }
    put_npy("{'descr':'=f8','fortran_order':False,'shape':(2,3),}", payload, sizeof payload);
    ts_table table = read_good(NULL);
    assert_values(&table, 2, 3, payload);
    ts_table_free(&table);
}
END_TEST

START_TEST(npy_columns) {
    const double payload[] = {1, 2, 3, 4, 5, 6, -0.0, 0, 0.1}; /* by columns below */
    put_npy("{'descr':'=f8','fortran_order':True,'shape':(3,3),}", payload, sizeof payload);
    ts_table table = read_good(&(ts_table_options){.columns = "2,1", .labels_column = "3"});
    assert_values(&table, 3, 2, (const double[]){4, 1, 5, 2, 6, 3});
    ck_assert_int_eq(table.n_classes, 2);
    ck_assert_str_eq(table.classes[0], "0");
    ck_assert_str_eq(table.classes[1], "0.1");
    ck_assert(table.labels[0] == 0 && table.labels[1] == 0 && table.labels[2] == 1);
    ts_table_free(&table);
    ck_assert_str_eq(read_bad(&(ts_table_options){.columns = "x"}),
                     "--columns: no column is named 'x' (the file has no header row)");
    ck_assert_str_eq(read_bad(&(ts_table_options){.columns = "4"}), "--columns: there is no column 4, the file has 3");
}
END_TEST

START_TEST(npy_not_finite) {
    const double payload[] = {1, 2, 3, NAN, 5, -INFINITY};
    put_npy("{'descr':'=f8','fortran_order':False,'shape':(3,2),}", payload, sizeof payload);
    ck_assert_str_eq(read_bad(NULL), "row 2, column 2: not finite (nan)");
    put_npy("{'descr':'=f8','fortran_order':True,'shape':(3,2),}", payload, sizeof payload);
    ck_assert_str_eq(read_bad(NULL), "row 1, column 2: not finite (nan)");
    ck_assert_str_eq(read_bad(&(ts_table_options){.columns = "1", .labels_column = "2"}),
                     "row 1, column 2: not finite (nan)");
    ts_table table = read_good(&(ts_table_options){.columns = "1"});
    ts_table_free(&table);
    put_npy("{'descr':'=f8','fortran_order':False,'shape':(1,),}", payload + 5, 8);
    ck_assert_str_eq(read_bad(NULL), "row 1, column 1: not finite (-inf)");
}
END_TEST

START_TEST(npy_refused_types) {
    static const char *const descrs[] = {"<c16", "<f2", "<U3", "|S3", "|O", "<M8[ns]", "<f16", "<i3", "", "<"};
    for (size_t i = 0; i < COUNT(descrs); i++) {
        char header[200], message[200];
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }", descrs[i]);
        snprintf(message, sizeof message, "dtype '%s' is not supported (f4, f8, i1-i8, u1-u8 and bool are)", descrs[i]);
        put_npy(header, "0123456789abcdef", 16);
        ck_assert_str_eq(read_bad(NULL), message);
    }
    put_npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", "01234567", 8);
    ck_assert_str_eq(read_bad(NULL), "structured dtype '[('a', '<f8')], 'fortran_order...' is not supported (f4, f8, "
                                     "i1-i8, u1-u8 and bool are)");
}
END_TEST

START_TEST(npy_refused_headers) {
    static const bad_text cases[] = {
        {"'descr': '<f4'", "damaged .npy header: no dictionary"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", "damaged .npy header: unknown key 'x'"},
        {"{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}", "damaged .npy header: key 'descr' twice"},
        {"{'descr': '<f4', 'shape': (1,)}", "damaged .npy header: a key is missing"},
        {"{}", "damaged .npy header: a key is missing"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", "damaged .npy header: a comma was expected"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), ", "damaged .npy header: a key was expected"},
        {"{'descr' '<f4'}", "damaged .npy header: a colon was expected"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "damaged .npy header: value of 'fortran_order'"},
        {"{'descr': <f4, 'fortran_order': False, 'shape': (1,)}", "damaged .npy header: value of 'descr'"},
        {"{'descr': '<f4\\'', 'fortran_order': False, 'shape': (1,)}", "damaged .npy header: value of 'descr'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1)}", "damaged .npy header: value of 'shape'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}", "damaged .npy header: value of 'shape'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "damaged .npy header: value of 'shape'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,", "damaged .npy header: value of 'shape'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 1}", "damaged .npy header: value of 'shape'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "damaged .npy header: text after the dictionary"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': ()}", "shape () has 0 dimensions, a table has 1 or 2"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1)}",
         "shape (1, 1, 1) has 3 dimensions, a table has 1 or 2"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 2000000000000, 3000000000000, "
         "4000000000000, "
         "5000000000000)}",
         "shape (1000000000000, 2000000000000, 3000000000000, 4000000000000, 5000000000000) has 5 dimensions, a table "
         "has "
         "1 or 2"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 1)}", "shape (0, 1) holds no numbers"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 0)}", "shape (1, 0) holds no numbers"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
         "4 bytes of data where shape (2,) of '<f4' takes 8"},
        {"{'descr': '<i1', 'fortran_order': False, 'shape': (3,)}",
         "more data than shape (3,) of '<i1' takes (3 bytes)"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        put_npy(cases[i].text, "\0\0\0\0", 4);
        ck_assert_str_eq(read_bad(NULL), cases[i].message);
    }
}
END_TEST

/* Case 49, from a file and with no size to be had. */
START_TEST(npy_false_sizes) {
    put("a.npy", "\x93NUMPY\2\0\xf0\xff\xff\xff", 12);
    ck_assert_str_eq(read_bad(NULL), "damaged .npy header: it claims 4294967280 bytes");
    put("a.npy", "\x93NUMPY\1\0\x76\0{'descr'", 18);
    ck_assert_str_eq(read_bad(NULL), "damaged .npy header: the file ends in it");
    put("a.npy", "\x93NUMPY\1\0\x76", 9);
    ck_assert_str_eq(read_bad(NULL), "damaged .npy header: the file ends in it");
    put("a.npy", "\x93NUMP", 5);
    ck_assert_str_eq(read_bad(NULL), "not a .npy file");
    put("a.npy", "", 0);
    ck_assert_str_eq(read_bad(NULL), "not a .npy file");
    put("a.npy", "\x93NUMPY\4\0\0\0\0\0", 12);
    ck_assert_str_eq(read_bad(NULL), "version 4.0 of .npy is not supported");
    put("a.npy", "\x93NUMPY\1\0\4\0{}\0 ", 14);
    ck_assert_str_eq(read_bad(NULL), "damaged .npy header: a NUL byte");
    put_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "", 0);
    ck_assert_str_eq(read_bad(NULL), "shape (4294967296, 4294967296) is too large");
    put_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999, 1)}", "", 0);
    ck_assert_str_eq(read_bad(NULL), "shape (99999999999999999999999, 1) is too large");
    put_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000)}", "", 0);
    ck_assert_str_eq(read_bad(NULL), "0 bytes of data where shape (1000000, 1000000) of '<f8' takes 8000000000000");
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, npy_types);
    tcase_add_test(tests, npy_headers);
    tcase_add_test(tests, npy_columns);
    tcase_add_test(tests, npy_not_finite);
    tcase_add_test(tests, npy_refused_types);
    tcase_add_test(tests, npy_refused_headers);
    tcase_add_test(tests, npy_false_sizes);
    return run_table_case("npy arrays", tests);
}
