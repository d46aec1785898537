#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../io/csv.h"
#include "../io/npy.h"
#include "table_files.h"

static uint64_t random_state;

static size_t draw(size_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(random_state >> 33) % below;
}

START_TEST(separators) {
    static const good_text cases[] = {
        {"1,2\n3,4\n", 2, 2, {1, 2, 3, 4}, NULL, NULL},
        {"1;2\n3;4\n", 2, 2, {1, 2, 3, 4}, NULL, NULL},
        {"1\t2\n3\t4\n", 2, 2, {1, 2, 3, 4}, NULL, NULL}, /* tabs under the name .csv */
        {"1\t2\n3\t4\n", 2, 2, {1, 2, 3, 4}, NULL, "a.tsv"},
        {"1,2\n3,4\n", 2, 2, {1, 2, 3, 4}, NULL, "a.tsv"},
        {"a b\t2,c\n1\t2\n", 1, 2, {1, 2}, "a b", "a.tsv"},
        {"x y,z w\tu v\n1\t2\n", 1, 2, {1, 2}, "x y,z w", "a.tsv"},
        {"1 2\n3   4\n", 2, 2, {1, 2, 3, 4}, NULL, NULL},
        {"  1\t 2 \n 3  4\t\n", 2, 2, {1, 2, 3, 4}, NULL, "a.txt"},
        {"1, 2\n3 ,\t4 \n", 2, 2, {1, 2, 3, 4}, NULL, NULL},
        {"1 \t2\n3\t 4\n", 2, 2, {1, 2, 3, 4}, NULL, NULL},
        {"petal width,petal length\n1,2\n", 1, 2, {1, 2}, "petal width", NULL},
        {"x, y\n1, 2\n", 1, 2, {1, 2}, "x", NULL},
        {"my column\n1\n2\n", 2, 1, {1, 2}, "my column", NULL},
        {"1\n2\n3", 3, 1, {1, 2, 3}, NULL, NULL},
        {"1,5;2,5\n3,5;4,5\n", 2, 2, {1.5, 2.5, 3.5, 4.5}, NULL, NULL}, /* case 58 */
        {"1,5;2\n3;4,5\n", 2, 2, {1.5, 2, 3, 4.5}, NULL, NULL},
        {"a;b\n1,5;-2,5e1\n", 1, 2, {1.5, -25}, "a", NULL},
        {"1.5;2.5\n3;4\n", 2, 2, {1.5, 2.5, 3, 4}, NULL, NULL},
        {"\"1,5\";\"2,5\"\n", 1, 2, {1.5, 2.5}, NULL, NULL},
        {"1,2\n3,4\n", 2, 2, {1, 2, 3, 4}, NULL, "without_ending"},
    };
    assert_good_texts(cases, COUNT(cases), NULL);
    static const good_text tabs[] = {{"1;2;3;x\t4\n5;6;7;y\t8\n", 2, 1, {4, 8}, NULL, "a.tsv"}};
    assert_good_texts(tabs, 1, &(ts_table_options){.labels_column = "1"});
}
END_TEST

START_TEST(lines_quotes_and_comments) {
    static const good_text cases[] = {
        {"\357\273\277\"1\",\"2\"\r\n\"3\",\"4\"\r\n", 2, 2, {1, 2, 3, 4}, NULL, NULL}, /* case 55 */
        {"\357\273\277a,b\n1,2\n", 1, 2, {1, 2}, "a", NULL},
        {"a,b\n1,2\n3,4", 2, 2, {1, 2, 3, 4}, "a", NULL}, /* case 56 */
        {"1,2\r3,4\r", 2, 2, {1, 2, 3, 4}, NULL, NULL},
        {"1,2\r\n3,4", 2, 2, {1, 2, 3, 4}, NULL, NULL},
        {"\n\n1,2\n\n  \n3,4\n\n", 2, 2, {1, 2, 3, 4}, NULL, NULL},
        {"# one, \"two\n#\n1,2\n3,4\n", 2, 2, {1, 2, 3, 4}, NULL, NULL},
        {"# x\na,b\n# units\n1,2\n", 1, 2, {1, 2}, "a", NULL},
        {"\"a,\"\"b\"\"\nc\",d\n1,2\n", 1, 2, {1, 2}, "a,\"b\"\nc", NULL},
        {"\"#a\",b\n1,2\n", 1, 2, {1, 2}, "#a", NULL},
        {"1, \"2\" ,3\n", 1, 3, {1, 2, 3}, NULL, NULL},
        {"\" 1 \",\"2\"\n", 1, 2, {1, 2}, NULL, NULL},
        {"\"1\" \"2\"\n3 4\n", 2, 2, {1, 2, 3, 4}, NULL, NULL},
        {"5\" x,b\n1,2\n", 1, 2, {1, 2}, "5\" x", NULL},
    };
    assert_good_texts(cases, COUNT(cases), NULL);
}
END_TEST

START_TEST(numbers) {
    static const good_text cases[] = {
        {"+1,-2,.5,5.\n", 1, 4, {1, -2, 0.5, 5}, NULL, NULL},
        {"1e3,1E-3,-1.5e+2,007\n", 1, 4, {1000, 0.001, -150, 7}, NULL, NULL},
        {"0.1,9007199254740993,1e-400,5e-324\n", 1, 4, {0.1, 9007199254740992, 0, 5e-324}, NULL, NULL},
        {"2.2250738585072011e-308,1.7976931348623157e308\n",
         1,
         2,
         {2.2250738585072011e-308, 1.7976931348623157e308},
         NULL,
         NULL},
    };
    static const bad_text bad[] = {
        {"1,2\n0x10,3\n", "row 2, column 1: not a number ('0x10')"},
        {"1,2\n1_000,3\n", "row 2, column 1: not a number ('1_000')"},
        {"1,2\n3,4e\n", "row 2, column 2: not a number ('4e')"},
        {"1,2\n3,1.2.3\n", "row 2, column 2: not a number ('1.2.3')"},
        {"1,2\n3,1 2\n", "row 2, column 2: not a number ('1 2')"},
        {"1,2\n3,-\n", "row 2, column 2: missing value (-)"},
        {"1,2\n3,nano\n", "row 2, column 2: not a number ('nano')"},
        {"1,2\n3,abc\1\xc3\xa4 and more than thirty characters\n",
         "row 2, column 2: not a number ('abc?\xc3\xa4 and more than thirty cha...')"},
        {"1;2,5\n3;1.234,5\n", "row 2, column 2: not a number ('1.234,5')"},
        {"1,2\n\"3,4\",5\n", "row 2, column 1: not a number ('3,4')"},
        {"1;2,5\n3;4.5\n", "row 2, column 2: a decimal point where numbers before have a decimal comma"},
        {"1;2.5\n3;4,5\n", "row 2, column 2: a decimal comma where numbers before have a decimal point"},
        {"1,2\n3,1e999\n", "row 2, column 2: not finite ('1e999')"},
    };
    assert_good_texts(cases, COUNT(cases), NULL);
    assert_bad_texts(bad, COUNT(bad), &(ts_table_options){.columns = "1-2"});
}
END_TEST

/* Cases 13 and 59: numbers, thus no header, and refused where they stand. */
START_TEST(not_finite) {
    static const char *const spellings[] = {"nan",  "NaN",  "NAN",      "-nan",      "inf",     "Inf",
                                            "+inf", "-INF", "Infinity", "-infinity", "\"nan\"", " inf "};
    static const char *const shown[] = {"nan", "nan",  "nan", "nan",  "inf", "inf",
                                        "inf", "-inf", "inf", "-inf", "nan", "inf"};
    assert_bad_texts(&(bad_text){"1,2\nnan,3\n4,5", "row 2, column 1: not finite (nan)"}, 1, NULL);
    assert_bad_texts(&(bad_text){"nan,inf\n1,2\n", "row 1, column 1: not finite (nan)"}, 1, NULL);
    for (size_t i = 0; i < COUNT(spellings); i++) {
        char text[100], message[100];
        snprintf(text, sizeof text, "1,%s\n2,3\n", spellings[i]);
        snprintf(message, sizeof message, "row 1, column 2: not finite (%s)", shown[i]);
        assert_bad_texts(&(bad_text){text, message}, 1, NULL);
    }
}
END_TEST

START_TEST(refused_texts) {
    static const bad_text cases[] = {
        {"", "the file is empty"},
        {"\n \n# x\n", "the file has no rows"},
        {"\357\273\277", "the file has no rows"},
        {"a,b\n", "a header row and no rows of numbers"},
        {"a,b\n1,2\n\n3\n", "row 4: 1 column where the first row has 2"},
        {"1,2,3,4\n1,2,3,4\n1,2,3,4\n1,2,3,4\n1,2,3\n1,2,3,4\n", "row 5: 3 columns where the first row has 4"},
        {"1,2\n3\n", "row 2: 1 column where the first row has 2"},
        {"1 2\n3\n", "row 2: 1 column where the first row has 2"},
        {"1,2\n3,4,\n", "row 2: 3 columns where the first row has 2"},
        {"1,2\n5,6\n3,\n", "row 3, column 2: missing value (empty cell)"},
        {"1,2\r\n5,6\r\n3,\r\n", "row 3, column 2: missing value (empty cell)"},
        {"1,2\n5,6\n\"\",4\n", "row 3, column 1: missing value (empty cell)"},
        {"1,,3\n4,5,6\n", "row 1, column 2: missing value (empty cell); if this row holds names, say --header yes"},
        {"1\n\"\"\n3\n", "row 2, column 1: missing value (empty cell)"},
        {"1,2\n# 3,4\n", "row 2, column 1: not a number ('# 3'); choose the columns of numbers with --columns, or name "
                         "one of classes with --labels-column"},
        {"1,2\n3,\"4\n5,6\n", "row 2, column 2: a quote is opened and never closed"},
        {"1,2\n\"3\"x,4\n", "row 2, column 1: text after a closing quote"},
        {"\377\3761,2", "UTF-16 text is not supported, save the file as UTF-8"},
        {"\376\3771,2", "UTF-16 text is not supported, save the file as UTF-8"},
        {"a,b\n1,2\n3,abc\n", "row 3, column 2: not a number ('abc'); choose the columns of numbers with --columns, or "
                              "name one of classes with --labels-column"},
    };
    static const char *const zeros[] = {"1,2\n3,\0"
                                        "4",
                                        "1 2\n3 \0"
                                        "4",
                                        "1,2\n3,\"\0"
                                        "4",
                                        "1,2\n\0,\0,4"};
    assert_bad_texts(cases, COUNT(cases), NULL);
    for (int i = 0; i < 4; i++) {
        put("a.csv", zeros[i], 8);
        ck_assert_str_eq(read_bad(NULL), i % 2 == 0 ? "row 2, column 2: a NUL byte (no text file?)"
                                                    : "row 2, column 1: a NUL byte (no text file?)");
    }
}
END_TEST

START_TEST(header_rows) {
    static const good_text automatic[] = {
        {"1,b\n3,4\n", 1, 2, {3, 4}, "1", NULL},
        {"1,2\n3,4\n", 2, 2, {1, 2, 3, 4}, NULL, NULL},
        {",x\n3,4\n", 1, 2, {3, 4}, "", NULL},
    };
    static const good_text yes[] = {{"1,2\n3,4\n", 1, 2, {3, 4}, "1", NULL},
                                    {"1,b\n3,4\n", 1, 2, {3, 4}, "1", NULL},
                                    {"nan,2\n3,4\n", 1, 2, {3, 4}, "nan", NULL}};
    static const good_text unchosen[] = {{"1,b\n3,4\n", 2, 1, {1, 3}, NULL, NULL}};
    assert_good_texts(automatic, COUNT(automatic), NULL);
    assert_good_texts(yes, COUNT(yes), &(ts_table_options){.header = TS_HEADER_YES});
    assert_good_texts(unchosen, 1, &(ts_table_options){.columns = "1"});
    static const good_text named[] = {{"1,kind\n2,cat\n", 1, 1, {2}, "1", NULL}}; /* a name chosen makes a header */
    assert_good_texts(named, 1, &(ts_table_options){.labels_column = "kind"});
    assert_bad_texts(&(bad_text){"a,b\n1,2\n", "row 1, column 1: not a number ('a')"}, 1,
                     &(ts_table_options){.header = TS_HEADER_NO, .columns = "1"});
    assert_bad_texts(&(bad_text){"a,b\n1,2\n", "--columns: no column is named 'a' (the file has no header row)"}, 1,
                     &(ts_table_options){.header = TS_HEADER_NO, .columns = "a"});
}
END_TEST

START_TEST(column_choice) {
    static const char text[] = "id,x,y,note,x z\n1,2,3,four,5\n6,7,8,nine,10\n";
    static const struct {
        const char *columns;
        int cols;
        double first[4];
        const char *last_name;
    } good[] = {
        {"1-3,5", 4, {1, 2, 3, 5}, "x z"}, {"5,1", 2, {5, 1}, "id"},   {"y,x", 2, {3, 2}, "x"},
        {" x , 3-3 ", 2, {2, 3}, "y"},     {"x z,1", 2, {5, 1}, "id"},
    };
    static const struct {
        const char *columns, *message;
    } bad[] = {
        {"3-1", "--columns: the range 3-1 runs backwards"},
        {"0", "--columns: columns count from 1, there is no 0"},
        {"0-2", "--columns: columns count from 1, there is no 0"},
        {"6", "--columns: there is no column 6, the file has 5"},
        {"1-99999999999999999999", "--columns: there is no column 9223372036854775807, the file has 5"},
        {"1,1", "--columns: column 1 is chosen twice"},
        {"1-3,x", "--columns: column 2 is chosen twice"},
        {"z", "--columns: no column is named 'z'"},
        {"-2", "--columns: no column is named '-2'"},
        {"1-", "--columns: no column is named '1-'"},
        {"", "--columns: a column's name or number is missing"},
        {"1,,2", "--columns: a column's name or number is missing"},
        {"1,", "--columns: a column's name or number is missing"},
        {"4", "row 2, column 4: not a number ('four')"},
    };
    put("a.csv", text, strlen(text));
    for (size_t i = 0; i < COUNT(good); i++) {
        ts_table table = read_good(&(ts_table_options){.columns = good[i].columns});
        ck_assert_int_eq(table.rows, 2);
        ck_assert_int_eq(table.cols, good[i].cols);
        for (int j = 0; j < good[i].cols; j++) ck_assert(table.values[j] == good[i].first[j]);
        ck_assert_str_eq(table.names[good[i].cols - 1], good[i].last_name);
        ts_table_free(&table);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        ck_assert_str_eq(read_bad(&(ts_table_options){.columns = bad[i].columns}), bad[i].message);
    }
    static const char twice[] = "x,y,x\n1,2,3\n";
    put("a.csv", twice, strlen(twice));
    ck_assert_str_eq(read_bad(&(ts_table_options){.columns = "x"}),
                     "--columns: 'x' names columns 1 and 3, choose by number");
    ts_table table = read_good(&(ts_table_options){.columns = "y"});
    assert_values(&table, 1, 1, (const double[]){2});
    ts_table_free(&table);
}
END_TEST

START_TEST(labels) {
    static const char text[] = "x,kind,y\n1,cat,2\n3,dog,4\n5,\"cat\",6\n";
    static const int64_t ids[] = {0, 1, 0};
    for (int i = 0; i < 3; i++) {
        put("a.csv", text + (i == 2 ? 9 : 0), strlen(text) - (i == 2 ? 9 : 0)); /* the last time without header */
        ts_table table = read_good(&(ts_table_options){.labels_column = i == 0 ? "kind" : "2"});
        assert_values(&table, 3, 2, (const double[]){1, 2, 3, 4, 5, 6});
        ck_assert(i == 2 ? table.names == NULL : strcmp(table.names[1], "y") == 0);
        ck_assert_mem_eq(table.labels, ids, sizeof ids);
        ck_assert_int_eq(table.n_classes, 2);
        ck_assert_str_eq(table.classes[0], "cat");
        ck_assert_str_eq(table.classes[1], "dog");
        ts_table_free(&table);
    }
    put("a.csv", text, strlen(text));
    ts_table table = read_good(&(ts_table_options){.columns = "y", .labels_column = "x"});
    assert_values(&table, 3, 1, (const double[]){2, 4, 6});
    ck_assert_str_eq(table.classes[2], "5");
    ts_table_free(&table);
    ck_assert_str_eq(read_bad(&(ts_table_options){.columns = "1-3", .labels_column = "kind"}),
                     "column 2 is both in --columns and the --labels-column");
    ck_assert_str_eq(read_bad(&(ts_table_options){.labels_column = "4"}),
                     "--labels-column: there is no column 4, the file has 3");
    ck_assert_str_eq(read_bad(&(ts_table_options){.labels_column = "1-2"}),
                     "--labels-column: no column is named '1-2'");
    assert_bad_texts(&(bad_text){"1,a\n2,\n", "row 2, column 2: missing value (empty cell)"}, 1,
                     &(ts_table_options){.labels_column = "2"});
    assert_bad_texts(&(bad_text){"1\n2\n", "no column is left beside the --labels-column"}, 1,
                     &(ts_table_options){.labels_column = "1"});
}
END_TEST

START_TEST(many_classes) {
    enum { ROWS = 5000 };
    FILE *stream;
    put("a.csv", "", 0);
    stream = fopen(path, "wb");
    for (int i = 0; i < ROWS; i++) fprintf(stream, "%d,class %d\n", i, i % (ROWS / 2));
    fclose(stream);
    ts_table table = read_good(&(ts_table_options){.labels_column = "2"});
    ck_assert_int_eq(table.rows, ROWS);
    ck_assert_int_eq(table.n_classes, ROWS / 2);
    for (int i = 0; i < ROWS; i++) {
        char text[20];
        snprintf(text, sizeof text, "class %d", i % (ROWS / 2));
        ck_assert(table.values[i] == i);
        ck_assert_int_eq(table.labels[i], i % (ROWS / 2));
        ck_assert_str_eq(table.classes[table.labels[i]], text);
    }
    ts_table_free(&table);
}
END_TEST

/* Records, quotes and line ends across the reader's buffer: 3 to 4 MiB, in rows of changing length. */
START_TEST(large_text) {
    enum { ROWS = 200000 };
    put("a.csv", "", 0);
    FILE *stream = fopen(path, "wb");
    for (int i = 0; i < ROWS; i++) fprintf(stream, i % 3 == 0 ? "%d,\"%d\"\r\n" : "%d.0 ,%d\r\n", i, -i);
    fclose(stream);
    ts_table table = read_good(NULL);
    ck_assert_int_eq(table.rows, ROWS);
    for (int i = 0; i < ROWS; i++) ck_assert(table.values[2 * i] == i && table.values[2 * i + 1] == -i);
    ts_table_free(&table);
    stream = fopen(path, "wb"); /* one record longer than the buffer */
    for (int i = 0; i < ROWS; i++) fprintf(stream, "%d;", i);
    fprintf(stream, "1,5\n");
    fclose(stream);
    table = read_good(NULL);
    ck_assert_int_eq(table.rows, 1);
    ck_assert_int_eq(table.cols, ROWS + 1);
    ck_assert(table.values[ROWS] == 1.5 && table.values[ROWS - 1] == ROWS - 1);
    ts_table_free(&table);
    stream = fopen(path, "wb"); /* a second record that the sample cuts off */
    for (int i = 0; i < ROWS; i++) fprintf(stream, "%c ", i % 2 == 0 ? 'a' : 'b');
    for (int i = 0; i < ROWS; i++) fprintf(stream, "%c%d.25000 ", i == 0 ? '\n' : ' ', i);
    fclose(stream);
    table = read_good(NULL);
    ck_assert_int_eq(table.rows, 1);
    ck_assert_int_eq(table.cols, ROWS);
    ts_table_free(&table);
}
END_TEST

/* Case 58. */
START_TEST(locale_changes_nothing) {
    static const good_text cases[] = {
        {"1.5,2.5\n", 1, 2, {1.5, 2.5}, NULL, NULL},
        {"1,5;2,5\n3,5;4,5\n", 2, 2, {1.5, 2.5, 3.5, 4.5}, NULL, NULL},
    };
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
        skip_test("no locale de_DE.UTF-8");
        return;
    }
    assert_good_texts(cases, COUNT(cases), NULL);
    setlocale(LC_ALL, "C");
}
END_TEST

/* ---- .npy ---- */

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

/* ---- sources ---- */

/* Memory handed out in pieces of 1 to 7 bytes, that may fail at its end. */
typedef struct dripping {
    const unsigned char *bytes;
    int64_t size, used;
    bool fails;
} dripping;

static int64_t drip(void *context, void *buffer, int64_t size, ts_io_error *error) {
    dripping *source = context;
    int64_t count = 1 + source->used % 7;
    if (count > size) count = size;
    if (count > source->size - source->used) count = source->size - source->used;
    if (count == 0 && source->fails) {
        ts_io_fail(error, "drip", "Input/output error");
        return -1;
    }
    memcpy(buffer, source->bytes + source->used, (size_t)count);
    source->used += count;
    return count;
}

/* Reads from a source of unknown size as ts_table_read would. */
static bool read_source(bool npy, const unsigned char *bytes, size_t size, bool fails, ts_table *table,
                        ts_io_error *error) {
    static const ts_table_options options = {TS_HEADER_AUTO, NULL, NULL};
    dripping dripped = {bytes, (int64_t)size, 0, fails};
    const ts_byte_source source = {"drip", -1, drip, &dripped};
    *table = (ts_table){0};
    ts_table_builder builder = {.source_name = "drip", .options = &options, .table = table};
    const bool ok = npy ? ts_npy_read(&source, &builder, error) : ts_csv_read(&source, false, &builder, error);
    ts_builder_free(&builder);
    if (!ok) ts_table_free(table);
    return ok;
}

START_TEST(short_reads_and_failures) {
    const double payload[] = {1, 2, 3, 4, 5, 6};
    const size_t size = build_npy(1, "{'descr':'=f8','fortran_order':True,'shape':(2,3),}", payload, sizeof payload);
    ts_table table;
    ts_io_error error;
    ck_assert(read_source(true, file_bytes, size, false, &table, &error));
    assert_values(&table, 2, 3, (const double[]){1, 3, 5, 2, 4, 6});
    ts_table_free(&table);
    ck_assert(!read_source(true, file_bytes, size - 1, false, &table, &error));
    ck_assert_str_eq(error.text, "drip: 47 bytes of data where shape (2,3) of '=f8' takes 48");
    file_bytes[size] = 0;
    ck_assert(!read_source(true, file_bytes, size + 1, false, &table, &error));
    ck_assert_str_eq(error.text, "drip: more data than shape (2,3) of '=f8' takes (48 bytes)");
    static const size_t cuts[] = {3, 9, 20, 80};
    for (size_t i = 0; i < COUNT(cuts); i++) {
        ck_assert(!read_source(true, file_bytes, cuts[i], true, &table, &error));
        ck_assert_str_eq(error.text, "drip: Input/output error");
    }
    static const unsigned char text[] = "1,2\n3,4\n";
    ck_assert(read_source(false, text, 8, false, &table, &error));
    assert_values(&table, 2, 2, payload);
    ts_table_free(&table);
    for (size_t i = 0; i <= 8; i++) {
        ck_assert(!read_source(false, text, i, true, &table, &error));
        ck_assert_str_eq(error.text, "drip: Input/output error");
    }
    const size_t huge =
        build_npy(1, "{'descr':'=f8','fortran_order':True,'shape':(2,300000000000),}", payload, sizeof payload);
    ck_assert(!read_source(true, file_bytes, huge, false, &table, &error));
    ck_assert_str_eq(error.text, "drip: 48 bytes of data where shape (2,300000000000) of '=f8' takes 4800000000000");
}
END_TEST

/* Reads bytes through a named pipe that a child fills. */
static ts_table read_pipe(const char *name, const void *bytes, size_t size, const char **message) {
    static ts_io_error error;
    ts_table table;
    unlink(path);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ck_assert_int_eq(mkfifo(path, 0666), 0);
    const pid_t child = fork();
    if (child == 0) {
        const int pipe = open(path, O_WRONLY);
        for (size_t done = 0; done < size;) {
            const ssize_t count = write(pipe, (const char *)bytes + done, size - done);
            if (count < 0) break;
            done += (size_t)count;
        }
        _exit(0);
    }
    const bool ok = ts_table_read(path, NULL, &table, &error);
    waitpid(child, NULL, 0);
    *message = ok ? NULL : error.text + strlen(path) + 2;
    return table;
}

START_TEST(pipes) {
    enum { ROWS = 300000 };
    const char *message;
    double *payload = malloc(ROWS * sizeof *payload);
    unsigned char *bytes = malloc(200 + ROWS * sizeof *payload);
    for (int i = 0; i < ROWS; i++) payload[i] = i;
    const size_t header = build_npy(1, "{'descr':'=f8','fortran_order':False,'shape':(150000,2)}", "", 0);
    memcpy(bytes, file_bytes, header);
    memcpy(bytes + header, payload, ROWS * sizeof *payload);
    for (int i = 0; i < 2; i++) { /* by its ending, by its first bytes */
        ts_table table = read_pipe(i == 0 ? "a.npy" : "pipe", bytes, header + ROWS * sizeof *payload, &message);
        ck_assert_ptr_null(message);
        assert_values(&table, ROWS / 2, 2, payload);
        ts_table_free(&table);
    }
    free(payload);
    free(bytes);
    ts_table table = read_pipe("pipe", "1,2\n3,4\n", 8, &message);
    ck_assert_ptr_null(message);
    assert_values(&table, 2, 2, (const double[]){1, 2, 3, 4});
    ts_table_free(&table);
    table = read_pipe("pipe", "1", 1, &message);
    ck_assert_ptr_null(message);
    ts_table_free(&table);
    read_pipe("pipe", "PK\3\4 and so on", 14, &message);
    ck_assert_str_eq(message, "an .npz archive cannot be read from a pipe");
}
END_TEST

START_TEST(standard_input) {
    put("a.csv", "1,2\n3\n", 6);
    ts_table table;
    ts_io_error error;
    ck_assert_ptr_nonnull(freopen(path, "rb", stdin));
    ck_assert(!ts_table_read("-", NULL, &table, &error));
    ck_assert_str_eq(error.text, "standard input: row 2: 1 column where the first row has 2");
    put("b.csv", "1,2\n3,4\n", 8);
    ck_assert_ptr_nonnull(freopen(path, "rb", stdin));
    ck_assert_msg(ts_table_read("-", NULL, &table, &error), "%s", error.text);
    assert_values(&table, 2, 2, (const double[]){1, 2, 3, 4});
    ts_table_free(&table);
}
END_TEST

START_TEST(files_that_cannot_be_read) {
    ts_table table;
    ts_io_error error;
    static const char *const endings[] = {"", ".csv", ".npy"};
    for (size_t i = 0; i < COUNT(endings); i++) {
        char message[700];
        put("gone", "", 0);
        unlink(path);
        snprintf(path, sizeof path, "%s/gone%s", folder, endings[i]);
        ck_assert_str_eq(read_bad(NULL), "No such file or directory");
        ck_assert_int_eq(mkdir(path, 0777), 0);
        snprintf(message, sizeof message, "%s: Is a directory", path);
        ck_assert(!ts_table_read(path, NULL, &table, &error));
        ck_assert_str_eq(error.text, message);
        rmdir(path);
    }
    put("a.csv", "1,2\n", 4);
    ck_assert_int_eq(chmod(path, 0), 0);
    if (access(path, R_OK) != 0)
        ck_assert_str_eq(read_bad(NULL), "Permission denied");
    else
        skip_part("root, who reads everything");
    if (access("/proc/self/mem", R_OK) == 0) {
        ck_assert(!ts_table_read("/proc/self/mem", NULL, &table, &error));
        ck_assert_str_eq(error.text, "/proc/self/mem: Input/output error");
    } else {
        skip_part("no /proc/self/mem");
    }
    ck_assert(!ts_table_read("", NULL, &table, &error));
    ck_assert_str_eq(error.text, ": No such file or directory");
}
END_TEST

/* ---- damage ---- */

/* Flips, replaces, repeats and cuts bytes of good files. Whatever comes of it is read or refused with a reason. */
START_TEST(mutations) {
    enum { ROUNDS = 4000, MOST = 4096 };
    static const char *const texts[] = {
        "a,b,c\n1,2,3\n4.5,\"6\",7e1\n",
        "\357\273\2771,5;2,5\r\n# x\r\n3,5;4,5\r\n",
        "x y\n1 2\n3\t4\n\n5 6",
        "\"q,\"\"r\",s\r1,2\r3,4\r",
        "\"a\" \"b\"\n\"1\" 1.5 2\n\"2\" 3 4\n",
        "sep=;\n# x\n#N/A;Gr\366\337e;2019\n1,5;2;3\n",
    };
    static const char *const headers[] = {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }  \n",
                                          "{'descr': '>i2', 'fortran_order': True, 'shape': (24,), }\n"};
    static unsigned char bytes[2 * MOST];
    int refused = 0;
    random_state = test_seed();
    printf("mutations: seed %" PRIu64 "\n", random_state);
    for (int round = 0; round < ROUNDS; round++) {
        const bool npy = round % 2 == 0;
        size_t size;
        if (npy) {
            static const char payload[48] = {0};
            size = build_npy(1 + (int)draw(3), headers[draw(2)], payload, sizeof payload);
            memcpy(bytes, file_bytes, size);
        } else {
            const char *text = texts[draw(COUNT(texts))];
            size = strlen(text);
            memcpy(bytes, text, size);
        }
        for (size_t changes = 1 + draw(4); changes > 0 && size > 0; changes--) {
            static const char special[] = "\0\"',;\t\r\n #-:()[]{}9eE.\xff";
            const size_t at = draw(size);
            switch (draw(4)) {
            case 0: bytes[at] ^= (unsigned char)(1u << draw(8)); break;
            case 1: bytes[at] = (unsigned char)special[draw(sizeof special)]; break;
            case 2: size = at; break;
            default: memmove(bytes + at + 1, bytes + at, size - at); size++;
            }
        }
        ts_table table;
        ts_io_error error = {""};
        bool ok;
        if (round % 4 < 2) {
            put(npy ? "a.npy" : "a.csv", bytes, size);
            ok = ts_table_read(path, NULL, &table, &error);
        } else {
            ok = read_source(npy, bytes, size, false, &table, &error);
        }
        if (ok) {
            ck_assert(table.rows > 0 && table.cols > 0);
            for (int64_t i = 0; i < table.rows * table.cols; i++) ck_assert(isfinite(table.values[i]));
        } else {
            ck_assert_uint_gt(strlen(error.text), 6);
            ck_assert_ptr_null(strpbrk(error.text, "\n\r"));
            refused++;
        }
        ts_table_free(&table);
    }
    ck_assert(refused > ROUNDS / 4 && refused < ROUNDS);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("tables");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, separators);
    tcase_add_test(tests, lines_quotes_and_comments);
    tcase_add_test(tests, numbers);
    tcase_add_test(tests, not_finite);
    tcase_add_test(tests, refused_texts);
    tcase_add_test(tests, header_rows);
    tcase_add_test(tests, column_choice);
    tcase_add_test(tests, labels);
    tcase_add_test(tests, many_classes);
    tcase_add_test(tests, large_text);
    tcase_add_test(tests, locale_changes_nothing);
    tcase_add_test(tests, npy_types);
    tcase_add_test(tests, npy_headers);
    tcase_add_test(tests, npy_columns);
    tcase_add_test(tests, npy_not_finite);
    tcase_add_test(tests, npy_refused_types);
    tcase_add_test(tests, npy_refused_headers);
    tcase_add_test(tests, npy_false_sizes);
    tcase_add_test(tests, short_reads_and_failures);
    tcase_add_test(tests, pipes);
    tcase_add_test(tests, standard_input);
    tcase_add_test(tests, files_that_cannot_be_read);
    tcase_add_test(tests, mutations);
    return run_table_suite(suite, tests);
}
