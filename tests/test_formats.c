/* What files are told by their first bytes, and files packed by gzip. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "table_files.h"
#ifdef TS_HAVE_ZLIB
#include <zlib.h>
#endif

#define BYTES(text) text, sizeof(text) - 1

START_TEST(formats_are_named) {
    static const struct {
        const char *bytes;
        size_t size;
        const char *name;
    } cases[] = {
        {BYTES("PAR1\x15\x04\x15\x10"), "a Parquet file"},
        {BYTES("ARROW1\0\0"), "an Arrow or Feather file"},
        {BYTES("FEA1\0\0\0\0"), "a Feather file"},
        {BYTES("\x89HDF\r\n\x1a\n\0"), "an HDF5 file"},
        {BYTES("MATLAB 7.3 MAT-file, Platform: GLNXA64"), "a MATLAB file (HDF5)"},
        {BYTES("MATLAB 5.0 MAT-file, Platform: GLNXA64"), "a MATLAB file"},
        {BYTES("\x80\x04\x95\x1a\0\0\0\0\0\0\0"), "a pickle of Python"},
        {BYTES("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0"), "an Excel workbook (.xls)"},
        {BYTES("PK\3\4\24\0\6\0\10\0\0\0!\0abcdefghijkl\23\0\0\0[Content_Types].xml"), "an Excel workbook (.xlsx)"},
        {BYTES("PK\3\4\24\0\0\0\10\0\0\0!\0abcdefghijkl\10\0\0\0mimetypeapplication"), "an OpenDocument file (.ods)"},
        {BYTES("RDX3\nX\n\0\0\0\3"), "an R data file"},
        {BYTES("SQLite format 3\0"), "an SQLite database"},
        {BYTES("<!doctype HTML><html>"), "a web page (HTML)"},
        {BYTES("r\2\1\0\4\0"), "a Stata file"},
        {BYTES("\xef\xbb\xbf<?xml version='1.0'?>"), "an XML file"},
        {BYTES("[{\"a\": 1}]"), "a JSON file"},
        {BYTES("\x80\2\0\0\0\0\0\0{\"a\""), "a safetensors file"},
    };
    static const char *const names[] = {"a", "a.csv", "a.npy", "a.parquet"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t j = 0; j < COUNT(names); j++) {
            char message[200];
            snprintf(message, sizeof message, "this is %s, which is not read: save the table as .csv or .npy",
                     cases[i].name);
            put(names[j], cases[i].bytes, cases[i].size);
            ck_assert_str_eq(read_bad(NULL), message);
        }
    }
}
END_TEST

START_TEST(packed_formats_are_named) {
    static const struct {
        const char *bytes;
        size_t size;
        const char *name;
    } cases[] = {
        {BYTES("BZh91AY&SY\1\2"), "a bzip2 file"},      {BYTES("\3757zXZ\0\0"), "an xz file"},
        {BYTES("\x28\xb5\x2f\xfd\4\0"), "a zstd file"}, {BYTES("7z\xbc\xaf\x27\x1c"), "a 7z archive"},
        {BYTES("\x04\x22\x4d\x18\x64"), "an lz4 file"},
    };
    unsigned char tar[512] = "points.csv";
    for (size_t i = 0; i < COUNT(cases); i++) {
        char message[200];
        snprintf(message, sizeof message, "this is %s, which is not read: decompress it first", cases[i].name);
        put("a.csv", cases[i].bytes, cases[i].size);
        ck_assert_str_eq(read_bad(NULL), message);
    }
    memcpy(tar + 257, "ustar", 6);
    put("a.tar", tar, sizeof tar);
    ck_assert_str_eq(read_bad(NULL), "this is a tar archive, which is not read: decompress it first");
}
END_TEST

/* Names of columns that begin as some format does. */
START_TEST(texts_are_no_formats) {
    static const good_text cases[] = {
        {"PAR1,PAR2\n1,2\n", 1, 2, {1, 2}, "PAR1", NULL},
        {"ORC,b\n1,2\n", 1, 2, {1, 2}, "ORC", NULL},
        {"BZh\n1\n", 1, 1, {1}, "BZh", NULL},
        {"CDF,x\n1,2\n", 1, 2, {1, 2}, "CDF", NULL},
        {"PK,x\n1,2\n", 1, 2, {1, 2}, "PK", NULL},
        {"FEA1\n1\n", 1, 1, {1}, "FEA1", NULL},
        {"X\n1\n", 1, 1, {1}, "X", NULL},
        {"RDX3\n1\n", 1, 1, {1}, "RDX3", NULL},
        {"MATLAB,R\n1,2\n", 1, 2, {1, 2}, "MATLAB", NULL},
    };
    assert_good_texts(cases, COUNT(cases), NULL);
}
END_TEST

/* The content counts, not the name: an array under the name of a text. */
START_TEST(arrays_under_other_names) {
    const double values[] = {1, 2, 3, 4};
    const size_t size = build_npy(1, "{'descr':'=f8','fortran_order':False,'shape':(2,2)}", values, sizeof values);
    static const char *const names[] = {"a.csv", "a.txt", "a"};
    for (size_t i = 0; i < COUNT(names); i++) {
        put(names[i], file_bytes, size);
        ts_table table = read_good(NULL);
        assert_values(&table, 2, 2, values);
        ts_table_free(&table);
    }
}
END_TEST

#ifdef TS_HAVE_ZLIB

enum { MOST = 1 << 22 };
static unsigned char packed[MOST];

/* Appends a gzip member to packed[at], and returns the end. */
static size_t pack(size_t at, const void *bytes, size_t size) {
    z_stream stream = {0};
    ck_assert_int_eq(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)bytes;
    stream.avail_in = (unsigned)size;
    stream.next_out = packed + at;
    stream.avail_out = (unsigned)(MOST - at);
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return MOST - stream.avail_out;
}

static void assert_packed(const char *name, size_t size, int64_t rows, int64_t cols, const double *values) {
    put(name, packed, size);
    ts_table table = read_good(NULL);
    assert_values(&table, rows, cols, values);
    ts_table_free(&table);
}

START_TEST(gzip_is_read) {
    const double values[] = {1, 2, 3, 4};
    static const char *const names[] = {"a.csv.gz", "a.gz", "a", "a.csv", "a.CSV.GZ"};
    const size_t size = pack(0, BYTES("a,b\n1,2\n3,4\n"));
    for (size_t i = 0; i < COUNT(names); i++) assert_packed(names[i], size, 2, 2, values);
    assert_packed("a.tsv.gz", pack(0, BYTES("a,b;c\td\n1\t2\n3\t4\n")), 2, 2, values);
    const size_t npy = build_npy(1, "{'descr':'=f8','fortran_order':False,'shape':(2,2)}", values, sizeof values);
    assert_packed("a.npy.gz", pack(0, file_bytes, npy), 2, 2, values);
    assert_packed("a", pack(0, file_bytes, npy), 2, 2, values);
    put("a.npy.gz", packed, pack(0, file_bytes, npy - 1));
    ck_assert_str_eq(read_bad(NULL), "31 bytes of data where shape (2,2) of '=f8' takes 32");
}
END_TEST

START_TEST(gzip_of_several_members) {
    const double values[] = {1, 2, 3, 4};
    size_t size = pack(pack(pack(0, BYTES("1,2\n3")), BYTES("")), BYTES(",4\n"));
    assert_packed("a.csv.gz", size, 2, 2, values);
    memset(packed + size, 0, 1000);
    assert_packed("a.csv.gz", size + 1000, 2, 2, values);
    packed[size + 500] = 'x';
    put("a.csv.gz", packed, size + 1000);
    ck_assert_str_eq(read_bad(NULL), "damaged gzip file: incorrect header check");
}
END_TEST

/* More than the buffers of any reader hold. */
START_TEST(gzip_of_a_large_text) {
    enum { ROWS = 300000, ROW = 16 };
    char *text = malloc(ROWS * ROW + 1);
    size_t size = 0;
    for (int i = 0; i < ROWS; i++) size += (size_t)sprintf(text + size, "%d,%d\n", i % 1000, i);
    put("a.csv.gz", packed, pack(0, text, size));
    free(text);
    ts_table table = read_good(NULL);
    ck_assert_int_eq(table.rows, ROWS);
    for (int i = 0; i < ROWS; i++) ck_assert(table.values[2 * i] == i % 1000 && table.values[2 * i + 1] == i);
    ts_table_free(&table);
}
END_TEST

START_TEST(gzip_damaged) {
    const size_t size = pack(0, BYTES("1,2\n3,4\n5,6\n"));
    put("a.csv.gz", packed, 2);
    ck_assert_str_eq(read_bad(NULL), "damaged gzip file: it ends too early");
    for (size_t cut = 2; cut < size; cut++) {
        put("a.csv.gz", packed, cut);
        ck_assert_str_eq(read_bad(NULL), "damaged gzip file: it ends too early");
    }
    packed[size - 4] ^= 1;
    put("a.csv.gz", packed, size);
    ck_assert_str_eq(read_bad(NULL), "damaged gzip file: incorrect length check");
    packed[size - 4] ^= 1;
    packed[size - 8] ^= 1;
    put("a.csv.gz", packed, size);
    ck_assert_str_eq(read_bad(NULL), "damaged gzip file: incorrect data check");
    pack(0, BYTES("1,2\n3,4\n5,6\n"));
    packed[2] = 7;
    put("a.csv.gz", packed, size);
    ck_assert_str_eq(read_bad(NULL), "damaged gzip file: unknown compression method");
}
END_TEST

START_TEST(gzip_of_what_is_not_read) {
    static unsigned char inner[200];
    put("a.gz", packed, pack(0, BYTES("PAR1\x15\x04")));
    ck_assert_str_eq(read_bad(NULL), "this is a Parquet file, which is not read: save the table as .csv or .npy");
    put("a.npz.gz", packed, pack(0, BYTES("PK\3\4 and so on")));
    ck_assert_str_eq(read_bad(NULL), "an archive inside a gzip file is not read: decompress it first");
    const size_t size = pack(0, BYTES("1,2\n"));
    memcpy(inner, packed, size);
    put("a.gz", packed, pack(0, inner, size));
    ck_assert_str_eq(read_bad(NULL), "gzip inside gzip is not read: decompress it first");
    put("a.csv.gz", packed, pack(0, BYTES("")));
    ck_assert_str_eq(read_bad(NULL), "the file is empty");
    put("a.csv.gz", packed, pack(0, BYTES("1,2\n3\n")));
    ck_assert_str_eq(read_bad(NULL), "row 2: 1 column where the first row has 2");
}
END_TEST

/* Flipped bits are read or refused with a reason. */
START_TEST(gzip_mutations) {
    const size_t size = pack(0, BYTES("a,b\n1,2\n3,4\n5,6\n7,8\n"));
    size_t accepted = 0;
    for (size_t bit = 0; bit < 8 * size; bit++) {
        packed[bit / 8] ^= (unsigned char)(1u << bit % 8);
        put("a.csv.gz", packed, size);
        packed[bit / 8] ^= (unsigned char)(1u << bit % 8);
        accepted += read_or_reason();
    }
    ck_assert_msg(accepted > 0 && accepted < 4 * size, "%zu of %zu are read", accepted, 8 * size);
}
END_TEST

#else

START_TEST(gzip_without_zlib) {
    put("a.csv.gz", "\x1f\x8b\x08", 3);
    ck_assert_str_eq(read_bad(NULL),
                     "this is a gzip file, and the program was built without zlib: decompress it first");
}
END_TEST

#endif

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, formats_are_named);
    tcase_add_test(tests, packed_formats_are_named);
    tcase_add_test(tests, texts_are_no_formats);
    tcase_add_test(tests, arrays_under_other_names);
#ifdef TS_HAVE_ZLIB
    tcase_add_test(tests, gzip_is_read);
    tcase_add_test(tests, gzip_of_several_members);
    tcase_add_test(tests, gzip_of_a_large_text);
    tcase_add_test(tests, gzip_damaged);
    tcase_add_test(tests, gzip_of_what_is_not_read);
    tcase_add_test(tests, gzip_mutations);
#else
    tcase_add_test(tests, gzip_without_zlib);
#endif
    return run_table_case("formats", tests);
}
