/* Text that is UTF-8, that is not, and that is cut. */
#include <stdbool.h>
#include <string.h>

#include "../io/io_base.h"
#include "../io/utf8.h"
#include "test_main.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

START_TEST(characters) {
    static const struct {
        const char *text;
        size_t length;
        uint32_t code;
    } cases[] = {
        {"", 0, 0},
        {"a", 1, 'a'},
        {"\x7f", 1, 127},
        {"\xc2\x80", 2, 0x80},
        {"\xc3\xb6l", 2, 0xf6},
        {"\xe2\x88\x92", 3, 0x2212},
        {"\xef\xbf\xbf", 3, 0xffff},
        {"\xf0\x9f\x99\x82", 4, 0x1f642},
        {"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
        {"\x80", 0, 0},
        {"\xc0\x80", 0, 0}, /* longer than needed */
        {"\xc1\xbf", 0, 0},
        {"\xe0\x9f\xbf", 0, 0},
        {"\xf0\x8f\xbf\xbf", 0, 0},
        {"\xed\xa0\x80", 0, 0}, /* half of a pair */
        {"\xf4\x90\x80\x80", 0, 0},
        {"\xf8\x88\x80\x80\x80", 0, 0},
        {"\xff", 0, 0},
        {"\xc3", 0, 0},
        {"\xe2\x88", 0, 0},
        {"\xf6ln", 0, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint32_t code = 0;
        ck_assert_msg(ts_utf8_length(cases[i].text, &code) == cases[i].length, "case %d", (int)i);
        ck_assert_msg(cases[i].length == 0 || code == cases[i].code, "case %d", (int)i);
    }
    ck_assert_ptr_null(ts_utf8_fault("K\xc3\xb6ln"));
    const char *const latin = "K\xf6ln";
    ck_assert_ptr_eq(ts_utf8_fault(latin), latin + 1);
}
END_TEST

START_TEST(shown_and_repaired) {
    static const char *const cases[][3] = {
        {"K\xc3\xb6ln", "K\xc3\xb6ln", "K\xc3\xb6ln"},
        {"K\xf6ln", "K?ln", "K?ln"},
        {"a\nb\x1b[31m\x7f", "a?b?[31m?", "a\nb\x1b[31m\x7f"},
        {"a\xc2\x9b"
         "31m",
         "a?31m",
         "a\xc2\x9b"
         "31m"}, /* a control code of two bytes */
        {"\xe2\x88", "??", "??"},
        {"\xf0\x9f\x99\x82\xf0\x9f", "\xf0\x9f\x99\x82??", "\xf0\x9f\x99\x82??"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char shown[40], repaired[40];
        strcpy(shown, cases[i][0]);
        strcpy(repaired, cases[i][0]);
        ts_utf8_show(shown);
        ts_utf8_repair(repaired);
        ck_assert_str_eq(shown, cases[i][1]);
        ck_assert_str_eq(repaired, cases[i][2]);
    }
}
END_TEST

/* Cuts at every byte leave whole characters. */
START_TEST(cuts) {
    static const char text[] = "a\xc3\xb6\xe2\x88\x92\xf0\x9f\x99\x82z";
    static const size_t whole[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    for (size_t size = 0; size <= strlen(text) + 1; size++) {
        char cut[20] = "";
        ck_assert_uint_eq(ts_utf8_fit(text, size), whole[size]);
        memcpy(cut, text, size < sizeof text ? size : sizeof text - 1);
        ts_utf8_end_whole(cut);
        ck_assert_uint_eq(strlen(cut), whole[size]);
    }
}
END_TEST

START_TEST(latin1_is_read) {
    char *name = ts_utf8_from_latin1("Gr\xf6\xdf"
                                     "e \xc3\xb6");
    ck_assert_str_eq(name, "Gr\xc3\xb6\xc3\x9f"
                           "e \xc3\xb6");
    free(name);
}
END_TEST

START_TEST(quotes) {
    char quoted[TS_QUOTE_SIZE], text[200] = "";
    ts_io_quote("K\xc3\xb6ln\n", quoted);
    ck_assert_str_eq(quoted, "'K\xc3\xb6ln?'");
    ts_io_quote("K\xf6ln", quoted);
    ck_assert_str_eq(quoted, "'K?ln'");
    for (int i = 0; i < 30; i++) strcat(text, "\xf0\x9f\x99\x82");
    ts_io_quote(text, quoted);
    ck_assert_uint_eq(strlen(quoted), 122);
    strcat(text, "x");
    ts_io_quote(text, quoted);
    ck_assert_str_eq(quoted + 121, "...'");
    ts_io_quote_part("abcdef", 3, quoted);
    ck_assert_str_eq(quoted, "'abc'");
    ts_io_quote_part("ab", 3, quoted);
    ck_assert_str_eq(quoted, "'ab'");
}
END_TEST

/* A long name is shortened at its front and a long message at its end, both between characters. */
START_TEST(messages_are_utf8) {
    char name[700] = "", long_text[2100] = "";
    ts_io_error error;
    for (int i = 0; i < 300; i++) strcat(name, "\xc3\xb6");
    for (int i = 0; i < 500; i++) strcat(long_text, "\xf0\x9f\x99\x82");
    for (int shift = 0; shift < 4; shift++) {
        strcat(name, "x");
        ck_assert(!ts_io_fail(&error, name, "row 1: %s", long_text));
        ck_assert_ptr_null(ts_utf8_fault(error.text));
        ck_assert_ptr_null(strchr(error.text, '?'));
        ck_assert_int_eq(strncmp(error.text, "...\xc3\xb6", 5), 0);
    }
    ts_io_fail(&error, "n\xf6", "a\nb");
    ck_assert_str_eq(error.text, "n?: a?b");
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, characters);
    tcase_add_test(tests, shown_and_repaired);
    tcase_add_test(tests, cuts);
    tcase_add_test(tests, latin1_is_read);
    tcase_add_test(tests, quotes);
    tcase_add_test(tests, messages_are_utf8);
    return run_case("UTF-8", tests);
}
