/* The first row of a text file: names or numbers; names of rows; what is noted of a table; features found by name. */
#include <stdio.h>
#include <string.h>

#include "../io/array_writer.h"
#include "table_files.h"

#define YES "; if this row holds names, say --header yes"
#define CHOOSE "; choose the columns of numbers with --columns, or name one of classes with --labels-column"

/* ---- a header is not guessed from what is no name ---- */

/* In the first row above numbers, beside a number and alone; and in the second row. */
START_TEST(marks_are_no_names) {
    static const char *const missing[] = {"NA",   "n/a", "N/A",     "NULL",   "null",    "None",    "#N/A",
                                          "<NA>", "?",   "-",       "--",     ".",       "..",      "\xe2\x80\x94",
                                          "*",    "\\N", "missing", "(null)", "#DIV/0!", "#VALUE!", "n.a."};
    char text[200], message[200];
    for (size_t i = 0; i < COUNT(missing); i++) {
        static const char *const first[] = {"%s,2\n3,4\n5,6\n", "%s\n3\n5\n", "\"%s\",NA\n3,4\n"};
        snprintf(message, sizeof message, "row 1, column 1: missing value (%s)" YES, missing[i]);
        for (size_t j = 0; j < COUNT(first); j++) {
            snprintf(text, sizeof text, first[j], missing[i]);
            assert_bad_texts(&(bad_text){text, message}, 1, NULL);
        }
        snprintf(text, sizeof text, "1,2\n3, %s \n5,6\n", missing[i]);
        snprintf(message, sizeof message, "row 2, column 2: missing value (%s)", missing[i]);
        assert_bad_texts(&(bad_text){text, message}, 1, NULL);
    }
    assert_bad_texts(&(bad_text){"\"\",2\n3,4\n", "row 1, column 1: missing value (empty cell)" YES}, 1, NULL);
    assert_bad_texts(&(bad_text){",\n3,4\n", "row 1, column 1: missing value (empty cell)" YES}, 1, NULL);
    assert_bad_texts(&(bad_text){"nan,2\n3,4\n", "row 1, column 1: not finite (nan)"}, 1, NULL);
}
END_TEST

START_TEST(malformed_numbers_are_no_names) {
    static const char *const malformed[] = {"1,234",      "0x10", "50 %", "1_000", "12:30",
                                            "2020-01-01", "$5",   "1e",   "5kg",   "<0.1"};
    static const bad_text unseen[] = {
        {"\xe2\x88\x92"
         "5,2\n3,4\n",
         "row 1, column 1: not a number ('\xe2\x88\x92"
         "5'; its minus is U+2212, not -)" CHOOSE YES},
        {"1,2\n\xe2\x80\x93.5,4\n",
         "row 2, column 1: not a number ('\xe2\x80\x93.5'; its minus is U+2013, not -)" CHOOSE},
        {"\xef\xbc\x95\n3\n", "row 1, column 1: not a number ('\xef\xbc\x95')" CHOOSE YES}, /* a digit of full width */
    };
    char text[200], message[300];
    for (size_t i = 0; i < COUNT(malformed); i++) {
        static const char *const first[] = {"\"%s\",2\n3,4\n5,6\n", "\"%s\"\n3\n5\n"};
        snprintf(message, sizeof message, "row 1, column 1: not a number ('%s')" CHOOSE YES, malformed[i]);
        for (size_t j = 0; j < COUNT(first); j++) {
            snprintf(text, sizeof text, first[j], malformed[i]);
            assert_bad_texts(&(bad_text){text, message}, 1, NULL);
        }
    }
    assert_bad_texts(unseen, COUNT(unseen), NULL);
}
END_TEST

/* A name beside whole numbers, as years are, makes a header row, one beside others does not; of the chosen columns,
 * only. */
START_TEST(names_beside_numbers) {
    static const bad_text mixed[] = {
        {"1.5,b\n3,4\n", "row 1, column 2: not a number ('b')" CHOOSE YES},
        {"5.1,3.5,setosa\n4.9,3.0,setosa\n", "row 1, column 3: not a number ('setosa')" CHOOSE YES},
        {",0,1\n0,5,6\n", "row 1, column 1: missing value (empty cell)" YES},
        {"inf,b\n3,4\n", "row 1, column 1: not finite (inf)"},
        {"#N/A,2\n3,4\n", "row 1, column 1: missing value (#N/A)" YES}, /* no comment */
        {"# x\n#DIV/0! ,2\n3,4\n", "row 2, column 1: missing value (#DIV/0!)" YES},
    };
    static const good_text names[] = {
        {"RI,Na,Mg\n1,2,3\n", 1, 3, {1, 2, 3}, "RI", NULL}, /* sodium */
        {"size,2019,2020\n1,2,3\n", 1, 3, {1, 2, 3}, "size", NULL},
        {"NA,b\n1,2\n", 1, 2, {1, 2}, "NA", NULL},
        {"0x10,b\n1,2\n", 1, 2, {1, 2}, "0x10", NULL},
        {"2m_temp,wind\n1,2\n", 1, 2, {1, 2}, "2m_temp", NULL},
        {"\xc2\xb5,\xce\xb1\n1,2\n", 1, 2, {1, 2}, "\xc2\xb5", NULL},
        {"\xe9\x95\xbf\n1\n", 1, 1, {1}, "\xe9\x95\xbf", NULL},
        {"#N/B,1\nx\n1\n", 1, 1, {1}, "x", NULL}, /* a comment */
        {"#\n# N/A\nx\n1\n", 1, 1, {1}, "x", NULL},
    };
    static const good_text unchosen[] = {{"1,2,b\n3,4,5\n", 2, 2, {1, 2, 3, 4}, NULL, NULL},
                                         {"a,b,3\n3,4,5\n", 1, 2, {3, 4}, "a", NULL}};
    assert_bad_texts(mixed, COUNT(mixed), NULL);
    assert_good_texts(names, COUNT(names), NULL);
    assert_good_texts(unchosen, COUNT(unchosen), &(ts_table_options){.columns = "1-2"});
    static const good_text settled[] = {{"NA,2\n3,4\n", 1, 2, {3, 4}, "NA", NULL},
                                        {"2019,b\n3,4\n", 1, 2, {3, 4}, "2019", NULL}};
    assert_good_texts(settled, COUNT(settled), &(ts_table_options){.header = TS_HEADER_YES});
    assert_bad_texts(&(bad_text){"NA,2\n3,4\n", "row 1, column 1: missing value (NA)"}, 1,
                     &(ts_table_options){.header = TS_HEADER_NO});
}
END_TEST

/* ---- notes ---- */

/* The notes of a text, joined by bars. */
static const char *notes_of(const char *text, const ts_table_options *options) {
    static char joined[TS_TABLE_NOTES * (TS_TABLE_NOTE + 1) + 1];
    put("a.csv", text, strlen(text));
    ts_table table = read_good(options);
    joined[0] = '\0';
    for (int i = 0; i < table.n_notes; i++) {
        if (i > 0) strcat(joined, "|");
        strcat(joined, table.notes[i]);
    }
    ts_table_free(&table);
    return joined;
}

typedef struct noted {
    const char *text, *note;
} noted;

static void assert_notes(const noted *cases, size_t count, const ts_table_options *options) {
    for (size_t i = 0; i < count; i++) ck_assert_str_eq(notes_of(cases[i].text, options), cases[i].note);
}

START_TEST(rows_that_are_numbered) {
    static const noted cases[] = {
        {"size,2019,2020\n1,2,3\n", "row 1 is taken for names, some of them numbers: --header no takes it for data"},
        {"1,5,3\n2,7,3\n3,8,1\n", "column 1 counts the rows from 1: --columns 2-3 leaves it out"},
        {"n,x,y\n0,5,3\n1,7,3\n2,8,1\n", "column 1 ('n') counts the rows from 0: --columns 2-3 leaves it out"},
        {"x,n,y,z\n5,1,3,4\n7,2,3,1\n9,3,1,1\n",
         "column 2 ('n') counts the rows from 1: --columns 1,3-4 leaves it out"},
        {"ID,x\n17,3\n4,5\n", "column 1 ('ID') is no feature, by its name: --columns 2 leaves it out"},
        {"x,index\n17,3\n4,5\n", "column 2 ('index') is no feature, by its name: --columns 1 leaves it out"},
        {",x\n17,3\n4,5\n", "column 1 has no name, as row numbers have none: --columns 2 leaves it out"},
        {"\"\",\"x\"\n\"1\",3\n\"2\",5\n\"3\",4\n", "column 1 counts the rows from 1: --columns 2 leaves it out"},
        {"Unnamed: 0,id,x\n0,7,3\n1,8,5\n2,1,5\n",
         "column 1 ('Unnamed: 0') counts the rows from 0: --columns 2-3 leaves it out|"
         "column 2 ('id') is no feature, by its name: --columns 1,3 leaves it out"},
        {"1\n2\n3\n4\n", ""},
        {"1,5\n2,6\n", ""},
        {"2,5\n3,6\n4,6\n", ""},
        {"1,5\n2,6\n4,6\n", ""},
        {"width,idea\n17,3\n4,5\n", ""},
    };
    static const noted chosen[] = {{"id,x\n1,3\n2,5\n3,1\n", ""}};
    static const noted labelled[] = {{"id,x,kind,y\n1,3,a,1\n2,5,b,1\n3,1,a,1\n",
                                      "column 1 ('id') counts the rows from 1: --columns 2,4 leaves it out"}};
    assert_notes(cases, COUNT(cases), NULL);
    assert_notes(chosen, COUNT(chosen), &(ts_table_options){.columns = "1-2"});
    assert_notes(labelled, COUNT(labelled), &(ts_table_options){.labels_column = "kind"});
}
END_TEST

START_TEST(many_columns_without_names) {
    char text[2000] = "a", row[1000] = "7";
    for (int j = 0; j < 200; j++) {
        strcat(text, ",");
        strcat(row, ",5");
    }
    strcat(text, "\n");
    strcat(text, row);
    put("a.csv", text, strlen(text));
    ts_table table = read_good(NULL);
    ck_assert_int_eq(table.n_notes, TS_TABLE_NOTES);
    ts_table_free(&table);
}
END_TEST

#define LOOKS(numbers) \
    "row 1 (" numbers ") is read as data, but looks like names: --header yes takes it for names, --header no for data"

START_TEST(first_rows_that_look_like_names) {
    static const noted cases[] = {
        {"0,1\n5.1,3.5\n4.9,3.0\n", LOOKS("0, 1")},
        {"0,1,2,3\n5.1,3.5,1,2\n4,3,1,1\n7,7,7,7\n", LOOKS("0, 1, ...")},
        {"1,2,3,4\n5,3,1,2\n4,3,1,1\n7,7,7,7\n", LOOKS("1, 2, ...")},
        {"2019,2020\n5,3\n4,1\n", LOOKS("2019, 2020")},
        {"1990,2000,2020\n5.5,3,12345678\n4,1,5\n", LOOKS("1990, 2000, ...")},
        {"400,410,420\n.5,.25,.5\n.5,.125,1\n", LOOKS("400, 410, ...")},
        {"\n# x\n2019,2020\n5,3\n4,1\n", "row 3 (2019, 2020) is read as data, but looks like names: --header yes takes "
                                         "it for names, --header no for data"},
        {"1809,1882\n1756,1791\n1685,1750\n", ""}, /* years of birth and death */
        {"0,1\n5,3\n4,3\n", ""},
        {"1,2,3\n4,5,6\n7,8,9\n", ""},
        {"0,1,2,3\n4,5,6,7\n8,9,10,11\n", ""},
        {"0,1,2,3\n1,1,1,1\n", ""},
        {"10,20,30\n12.5,19,28\n11,22,31.5\n", ""},
        {"3,1,2\n.5,.25,.5\n.5,.125,1\n", ""},
        {"0.0,1.0\n5.1,3.5\n4.9,3.0\n", ""},
    };
    static const noted settled[] = {{"2019,2020\n5,3\n4,1\n", ""}};
    static const noted chosen[] = {{"x,2019,2020\n1,5,3\n1,4,1\n", LOOKS("2019, 2020")}};
    assert_notes(cases, COUNT(cases), NULL);
    assert_notes(settled, COUNT(settled), &(ts_table_options){.header = TS_HEADER_NO});
    assert_notes(settled, COUNT(settled), &(ts_table_options){.header = TS_HEADER_YES});
    assert_notes(chosen, COUNT(chosen), &(ts_table_options){.columns = "2-3"});
}
END_TEST

START_TEST(bundled_data_is_not_noted) {
    static const char *const files[][2] = {
        {"iris.csv", "species"}, {"faithful.csv", NULL}, {"outliers.csv", "cluster"}};
    for (size_t i = 0; i < COUNT(files); i++) {
        char name[600];
        ts_table table;
        ts_io_error error;
        snprintf(name, sizeof name, "%s/%s", getenv("TESSERA_DATA"), files[i][0]);
        ck_assert_msg(ts_table_read(name, &(ts_table_options){.labels_column = files[i][1]}, &table, &error), "%s",
                      error.text);
        ck_assert_int_eq(table.n_notes, 0);
        ts_table_free(&table);
    }
}
END_TEST

/* ---- what programs write ---- */

START_TEST(names_of_rows) {
    static const char note[] = "column 1 has no name in the header and is left out, as names of the rows";
    static const good_text cases[] = {
        {"\"a\" \"b\"\n\"1\" 1.5 2\n\"2\" 3 4\n", 2, 2, {1.5, 2, 3, 4}, "a", "a.txt"},
        {"a b\n1 1.5 2\n2 3 4\n", 2, 2, {1.5, 2, 3, 4}, "a", NULL},
        {"a b\nMazda 1.5 2\nFiat 3 4\n", 2, 2, {1.5, 2, 3, 4}, "a", NULL},
        {"\"x\"\n\"1\" 1.5\n\"2\" 3\n", 2, 1, {1.5, 3}, "x", NULL},
        {"\"x\"\n\"1\" 1.5\n", 1, 1, {1.5}, "x", NULL},
        {"\"a b\",\"c\"\n\"r 1\",1.5,2\n\"r 2\",3,4\n", 2, 2, {1.5, 2, 3, 4}, "a b", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_good_texts(cases + i, 1, NULL);
        ck_assert_str_eq(notes_of(cases[i].text, NULL), note);
    }
    static const char r[] = "\"a\" \"b\"\n\"1\" 1.5 2\n\"2\" 3 4\n";
    assert_good_texts(&(good_text){r, 2, 1, {2, 4}, "b", NULL}, 1, &(ts_table_options){.columns = "b"});
    assert_good_texts(&(good_text){r, 2, 1, {2, 4}, "b", NULL}, 1, &(ts_table_options){.columns = "3"});
    assert_good_texts(&(good_text){r, 2, 1, {1, 2}, "", NULL}, 1, &(ts_table_options){.columns = "1"});
    static const bad_text bad[] = {
        {"a,b\n1,2,\n3,4,\n", "row 2: 3 columns where the first row has 2"}, /* lines that end in a separator */
        {"a,b\n7,1.5,2\n5,3,4\n", "row 2: 3 columns where the first row has 2"},
        {"a\tb\n1,5\t2\n", "row 2, column 1: not a number ('1,5')" CHOOSE}, /* tabs explain all lines, too */
        {"1 2\n\"1\" 1.5 2\n\"2\" 3 4\n", "row 2: 3 columns where the first row has 2"},
    };
    assert_bad_texts(bad, COUNT(bad), NULL);
    char text[400] = "a b\n";
    for (int i = 0; i < 25; i++) strcat(text, "\"1\" 1 2\n");
    strcat(text, "\"1\" 1\n");
    assert_bad_texts(&(bad_text){text, "row 27: 2 columns where the rows before have 3"}, 1, NULL);
    assert_bad_texts(&(bad_text){r, "row 1, column 1: not a number ('a')" CHOOSE}, 1,
                     &(ts_table_options){.header = TS_HEADER_NO});
}
END_TEST

START_TEST(separators_that_are_named) {
    static const good_text cases[] = {
        {"sep=;\na;b\n1,5;2\n", 1, 2, {1.5, 2}, "a", NULL},
        {"\357\273\277SEP=,\r\n1,2\r\n3,4\r\n", 2, 2, {1, 2, 3, 4}, NULL, NULL},
        {"sep=\t\na b\tc\n1\t2\n", 1, 2, {1, 2}, "a b", NULL},
        {"sep=|\na|b\n1|2\n", 1, 2, {1, 2}, "a", NULL},
        {"sep=;\n1\n2\n", 2, 1, {1, 2}, NULL, NULL},
        {"sep=x\n1\n", 1, 1, {1}, "sep=x", NULL},
        {"sep=,b\n1,2\n", 1, 2, {1, 2}, "sep=", NULL},
    };
    assert_good_texts(cases, COUNT(cases), NULL);
    assert_bad_texts(&(bad_text){"sep=;\n1;2\n3;x\n", "row 3, column 2: not a number ('x')" CHOOSE}, 1, NULL);
    assert_bad_texts(&(bad_text){"sep=;\n", "the file has no rows"}, 1, NULL);
}
END_TEST

START_TEST(other_encodings) {
    put("a.csv", "1\0,\0002\0\n\0003\0,\0004\0", 14);
    ck_assert_str_eq(read_bad(NULL), "UTF-16 text is not supported, save the file as UTF-8");
    put("a.csv", "\0001\0,\0002\0\n", 8);
    ck_assert_str_eq(read_bad(NULL), "UTF-16 text is not supported, save the file as UTF-8");
    static const char latin1[] = "Gr\xf6\xdf"
                                 "e,b\n1,2\n3,4\n5,9\n";
    static const good_text cases[] = {{latin1,
                                       3,
                                       2,
                                       {1, 2, 3, 4, 5, 9},
                                       "Gr\xc3\xb6\xc3\x9f"
                                       "e",
                                       NULL}};
    assert_good_texts(cases, 1, NULL);
    ck_assert_str_eq(notes_of(latin1, NULL),
                     "the name of column 1 is not UTF-8 (byte 0xF6): names are read as Latin-1");
    put("a.csv", latin1, strlen(latin1));
    ts_table table = read_good(&(ts_table_options){.columns = "Gr\xc3\xb6\xc3\x9f"
                                                              "e"});
    assert_values(&table, 3, 1, (const double[]){1, 3, 5});
    ts_table_free(&table);
    static const bad_text bad[] = {
        {"1,2\n3,K\xf6ln\n", "row 2, column 2: not a number ('K\xc3\xb6ln'; not UTF-8, read as Latin-1)" CHOOSE},
        {"1,2\n3,K\xc3\xb6ln\n", "row 2, column 2: not a number ('K\xc3\xb6ln')" CHOOSE},
    };
    assert_bad_texts(bad, COUNT(bad), NULL);
}
END_TEST

/* ---- features found by name ---- */

static char *names_of_data[8];

static void read_features(const char *text, int64_t count, ts_table *table, const char **message) {
    static ts_io_error error;
    put("init.csv", text, strlen(text));
    const bool ok = ts_table_read_features(path, count == 0 ? NULL : names_of_data, count, table, &error);
    *message = ok ? NULL : error.text + strlen(path) + 2;
}

static void name_data(const char *a, const char *b) {
    static char texts[2][100];
    strcpy(texts[0], a);
    strcpy(texts[1], b);
    names_of_data[0] = texts[0];
    names_of_data[1] = texts[1];
}

START_TEST(features_by_name) {
    static const struct {
        const char *text;
        double first[2];
        const char *note;
    } cases[] = {
        {"a,b\n1,2\n3,4\n", {1, 2}, NULL},
        {"b,a\n1,2\n3,4\n", {2, 1}, NULL},
        {"1,2\n3,4\n", {1, 2}, NULL}, /* without names by position */
        {"cluster,b,a\n0,1,2\n1,3,4\n", {2, 1}, "column 1 ('cluster') is no feature of the data and is left out"},
        {"a,kind,b\n1,cat,2\n3,dog,4\n", {1, 2}, "column 2 ('kind') is no feature of the data and is left out"},
        {"\"\",\"b\",\"a\"\n\"1\",1,2\n\"2\",3,4\n", {2, 1}, NULL},
        {"\"b\" \"a\"\n\"1\" 1 2\n\"2\" 3 4\n",
         {2, 1},
         "column 1 has no name in the header and is left out, as names of the rows"},
        {"a,b,x,x\n1,2,3,4\n3,4,5,6\n", {1, 2}, "column 3 ('x') is no feature of the data and is left out"},
        {"b;a\n1,5;2\n3;4\n", {2, 1.5}, NULL},
    };
    name_data("a", "b");
    for (size_t i = 0; i < COUNT(cases); i++) {
        ts_table table;
        const char *message;
        read_features(cases[i].text, 2, &table, &message);
        ck_assert_msg(message == NULL, "%s%s", cases[i].text, message);
        ck_assert_int_eq(table.cols, 2);
        ck_assert_int_eq(table.rows, 2);
        ck_assert(table.values[0] == cases[i].first[0] && table.values[1] == cases[i].first[1]);
        ck_assert_int_eq(table.n_notes > 0, cases[i].note != NULL);
        if (cases[i].note != NULL) ck_assert_str_eq(table.notes[0], cases[i].note);
        ts_table_free(&table);
    }
}
END_TEST

#define POSITION " (without a header row columns count by position)"

START_TEST(features_that_do_not_match) {
    static const bad_text cases[] = {
        {"a,c\n1,2\n", "no column is named 'b', which is a feature of the data; the header has 'a', 'c'" POSITION},
        {"A,b\n1,2\n", "no column is named 'a', which is a feature of the data; the header has 'A', 'b'" POSITION},
        {"a\n1\n", "no column is named 'b', which is a feature of the data; the header has 'a'" POSITION},
        {"a,b,b\n1,2,3\n",
         "it is not clear which column is 'b', a name that is there several times; the header has 'a', "
         "'b', 'b'" POSITION},
        {"p,q,r,s,t,u,v,w\n1,2,3,4,5,6,7,8\n", "no column is named 'a', which is a feature of the data; the header has "
                                               "'p', 'q', 'r', 's', 't', 'u', ..." POSITION},
        {"a,NA\n1,2\n", "no column is named 'b', which is a feature of the data; the header has 'a', 'NA'" POSITION},
        {"NA,2\n3,4\n", "row 1, column 1: missing value (NA)"},
        {"1.5,x\n3,4\n", "row 1, column 2: not a number ('x')"},
    };
    ts_table table;
    const char *message;
    name_data("a", "b");
    for (size_t i = 0; i < COUNT(cases); i++) {
        read_features(cases[i].text, 2, &table, &message);
        ck_assert_msg(message != NULL, "%s", cases[i].text);
        ck_assert_str_eq(message, cases[i].message);
    }
    name_data("x", "x");
    read_features("x,x\n1,2\n", 2, &table, &message); /* the same names in the same order need not differ */
    ck_assert_ptr_null(message);
    assert_values(&table, 1, 2, (const double[]){1, 2});
    ts_table_free(&table);
    read_features("x,y,x\n1,2,3\n", 2, &table, &message);
    ck_assert_str_eq(message, "it is not clear which column is 'x', a name that is there several times; the header has "
                              "'x', 'y', 'x'" POSITION);
    read_features("p,q\n1,2\n", 0, &table, &message); /* data without names */
    ck_assert_ptr_null(message);
    assert_values(&table, 1, 2, (const double[]){1, 2});
    ts_table_free(&table);
}
END_TEST

/* What was written with names that read as something else comes back in its columns. */
START_TEST(written_names_read_back) {
    static const char *const odd[] = {
        "",     " ",           "1",     "2019",   "NA",   "nan",           "-1.5", "a b", "a,b",   "a;b", "a\tb",
        "a\"b", "#a",          "#N/A",  "sep=;",  "sep=", "a\nb",          "a\r",  "\"",  "1,234", "1;5", "0x10",
        "?",    "K\xc3\xb6ln", " lead", "trail ", "PAR1", "\357\273\277x", "a:b",  "|",   "'",     "inf"};
    static const char *const files[] = {"c.csv", "c.tsv", "c.txt"};
    const double values[] = {1.5, -2, 3, 4e10};
    for (size_t i = 0; i < COUNT(odd); i++) {
        for (size_t j = 0; j < COUNT(odd); j++) {
            ts_table table;
            ts_io_error error;
            name_data(odd[i], odd[j]);
            put(files[(i + j) % 3], "", 0);
            const ts_array_view view = {TS_ARRAY_FLOAT64, 2, {2, 2}, values, names_of_data};
            ck_assert(ts_array_write(path, &view, &error));
            ck_assert_msg(ts_table_read_features(path, names_of_data, 2, &table, &error), "%s", error.text);
            assert_values(&table, 2, 2, values);
            ck_assert_int_eq(table.n_notes, 0);
            ts_table_free(&table);
        }
        ts_table table;
        ts_io_error error;
        put(files[i % 3], "", 0);
        const ts_array_view view = {TS_ARRAY_FLOAT64, 2, {2, 1}, values, names_of_data};
        ck_assert(ts_array_write(path, &view, &error));
        ck_assert_msg(ts_table_read_features(path, names_of_data, 1, &table, &error), "%s", error.text);
        assert_values(&table, 2, 1, values);
        ts_table_free(&table);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, marks_are_no_names);
    tcase_add_test(tests, malformed_numbers_are_no_names);
    tcase_add_test(tests, names_beside_numbers);
    tcase_add_test(tests, rows_that_are_numbered);
    tcase_add_test(tests, many_columns_without_names);
    tcase_add_test(tests, first_rows_that_look_like_names);
    tcase_add_test(tests, bundled_data_is_not_noted);
    tcase_add_test(tests, names_of_rows);
    tcase_add_test(tests, separators_that_are_named);
    tcase_add_test(tests, other_encodings);
    tcase_add_test(tests, features_by_name);
    tcase_add_test(tests, features_that_do_not_match);
    tcase_add_test(tests, written_names_read_back);
    return run_table_case("headers", tests);
}
