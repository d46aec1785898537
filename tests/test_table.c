/* Tables as text. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "table_files.h"

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

int main(void) {
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
    return run_table_case("tables as text", tests);
}
