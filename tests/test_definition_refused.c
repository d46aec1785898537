/* Definitions as text that are refused, and what is named as wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition_texts.h"

/* `everything` with its first `from` replaced by `to`. */
static void expect_change_refused(const char *from, const char *to, const char *message) {
    static char text[8192];
    const char *at = strstr(everything, from);
    ck_assert_msg(at != NULL, "%s", from);
    const int length =
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - everything), everything, to, at + strlen(from));
    ck_assert_int_lt(length, (int)sizeof text);
    expect_refusal(text, (size_t)length, message);
}

START_TEST(syntax_errors_name_line_and_column) {
    expect_refusal("", 0, "line 1, column 0: '[' or '{' expected near end of file");
    expect_refusal(" \n\n", 3, "line 3, column 0: '[' or '{' expected near end of file");
    expect_refusal("3", 1, "line 1, column 1: '[' or '{' expected near '3'");
    expect_refusal("[]", 2, "an object {...} is needed");
    expect_refusal("{}", 2, "name: is missing");
    expect_refusal("{\"name\": 1\n,}", 13, NULL);
    expect_change_refused("\"tokens\"", "\"name\": \"b\", \"tokens\"",
                          "line 3, column 8: duplicate object key near '\"name\"'");
    expect_change_refused("\"score\": \"dot\"", "\"score\": \"dot\", \"score\": \"dot\"",
                          "line 7, column 27: duplicate object key near '\"score\"'");
    expect_change_refused("1e-12", "1e400", "line 7, column 97: real number overflow near '1e400'");
    expect_change_refused("1e-12", "-1e400", "line 7, column 98: real number overflow near '-1e400'");
    expect_change_refused("1e-12", "99999999999999999999",
                          "line 7, column 112: too big integer near '99999999999999999999'");
    const char *const no_numbers[] = {"NaN", "Infinity", "-Infinity", "inf", "01", "1.", ".5", "+1", "0x10", "1e"};
    for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++)
        expect_change_refused("1e-12", no_numbers[i], NULL);
    expect_change_refused("\n}\n", "\n}\nx", "line 35, column 1: end of file expected near 'x'");
    expect_change_refused("\n}\n", "\n}\n{}", "line 35, column 1: end of file expected near '{'");
    expect_refusal(everything, strlen(everything) + 1, "line 35, column 1: end of file expected near end of file");
}
END_TEST

START_TEST(names_are_text) {
    expect_change_refused("all ", "a\xff", NULL);
    expect_change_refused("all ", "a\xc3", NULL);
    expect_change_refused("all ", "a\xed\xa0\x80", NULL); /* half of a surrogate pair */
    expect_change_refused("all ", "a\n", NULL);
    expect_change_refused("all ", "a\\u0000", NULL);
    expect_change_refused("all ", "a\\n", "name: has control characters");
    expect_change_refused("all ", "a\\u001b[2J", "name: has control characters");
    expect_change_refused("all ", "a\x7f", "name: has control characters");
    expect_change_refused("all \\\"of\\\" it \xc3\xa9", "", "name: 1 to 63 bytes are needed");
    expect_change_refused("\"all \\\"of\\\" it \xc3\xa9\"", "null", "name: a word is needed");
    char name[65];
    memset(name, 'n', sizeof name);
    name[64] = '\0';
    expect_change_refused("all \\\"of\\\" it \xc3\xa9", name, "name: 1 to 63 bytes are needed");
    ts_definition d = read_text(everything);
    memset(d.name, 'n', 63);
    d.name[63] = '\0';
    char *text = write_text(&d);
    const ts_definition again = read_text(text);
    ck_assert_str_eq(again.name, d.name);
    free(text);
}
END_TEST

START_TEST(unknown_things_are_refused_by_name) {
    expect_change_refused("\"medoids\"", "\"colour\": 1, \"medoids\"",
                          "unknown key 'colour' (name|tokens|medoids|trims|cross_points|self_points|cross_centers|"
                          "self_centers|norm|feed_forward)");
    expect_change_refused("\"medoids\"", "\"name|tokens\": 1, \"medoids\"", NULL);
    expect_change_refused("\"medoids\"", "\"\": 1, \"medoids\"", NULL);
    expect_change_refused("\"medoids\"", "\"med\": 1, \"medoids\"", NULL);
    expect_change_refused("\"medoids\"", "\"a\\nb\\u001b\x7f\": 1, \"medoids\"", NULL); /* the message stays one line */
    expect_change_refused("\"scaled\"", "\"scale\"",
                          "cross_points: unknown key 'scale' "
                          "(identity|score|simplex|parameter|gamma|scaled|dropout|own_code|query|key|value)");
    expect_change_refused("\"dot\"", "\"Dot\"", "tokens: unknown 'Dot' (onehot, binary, none, dot)");
    expect_change_refused("\"score\": \"dot\"", "\"score\": \"cosine\"",
                          "cross_points.score: unknown 'cosine' (dot, euclidean)");
    char maps[512] = "cross_points.simplex: unknown 'argmx' (";
    for (const ts_simplex *const *map = ts_simplex_maps; *map != NULL; map++)
        snprintf(maps + strlen(maps), sizeof maps - strlen(maps), "%s%s", (*map)->name, map[1] != NULL ? ", " : ")");
    expect_change_refused("gumbel-softmax", "argmx", maps);
    expect_change_refused("\"-data[1:2]\"", "\"dat\"",
                          "self_points.key: unknown 'dat' (data, code, norm, one, memory)");
    expect_change_refused("\"-data[1:2]\"", "\"--data\"",
                          "self_points.key: unknown '-data' (data, code, norm, one, memory)");
    expect_change_refused("\"-data[1:2]\"", "\"-learned\"",
                          "self_points.key: unknown 'learned' (data, code, norm, one, memory)");
    expect_change_refused("\"-data[1:2]\"", "\"\"", "self_points.key: unknown '' (data, code, norm, one, memory)");
    expect_change_refused("\"-data[1:2]\"", "\"datadatadatadatadata[0:1]\"",
                          "self_points.key: unknown 'datadatadatadatadata[0:1]' (data, code, norm, one, memory)");
    expect_change_refused("\"data[0:2]\"", "\"points\"",
                          "cross_points.key.from: unknown 'points' (data, code, norm, one, memory)");
    expect_change_refused("\"to\": \"norm\"", "\"too\": \"norm\"",
                          "cross_points.key: unknown key 'too' (from|to|scale)");
    expect_change_refused("\"eps\"", "\"epsilon\"", "norm: unknown key 'epsilon' (range|length|eps)");
    expect_change_refused("tanh", "gelu",
                          "feed_forward.activation: unknown 'gelu' (relu, relu_squared, tanh, sigmoid)");
    expect_change_refused("\"units\"", "\"unit\"", "feed_forward: unknown key 'unit' (activation|hidden|units)");
    expect_change_refused("\"weight\"", "\"wait\"", "feed_forward: unknown key 'wait' (from|to|scale|weight)");
    expect_change_refused("\"identity\": true", "\"identity\": true, \"gamma\": 1",
                          "self_centers: unknown key 'gamma' (identity|value)");
}
END_TEST

START_TEST(missing_things_are_refused_by_name) {
    expect_change_refused("\"tokens\": \"dot\",", "", "tokens: is missing");
    expect_change_refused("\"score\": \"dot\", ", "", "cross_points.score: is missing");
    expect_change_refused("\"simplex\": \"gumbel-softmax\", ", "", "cross_points.simplex: is missing");
    expect_change_refused("\"parameter\": 0.30000000000000004, ", "",
                          "cross_points.simplex: gumbel-softmax needs a parameter: tau must be > 0 and finite");
    expect_change_refused("gumbel-softmax", "softmax", "cross_points.simplex: softmax has no parameter");
    expect_change_refused("\"query\": \"learned\",", "", "cross_points.query: is missing");
    expect_change_refused("\"range\": \"data[1:3]\", ", "", "norm.range: is missing");
    expect_change_refused("\"from\": \"data[0:2]\", ", "", "cross_points.key.from: is missing");
    expect_change_refused("\"to\": \"norm\", \"scale\": 1, \"weight\"", "\"scale\": 1, \"weight\"",
                          "feed_forward.to: is missing");
    expect_change_refused("\"activation\": \"tanh\",", "", "feed_forward.activation: is missing");
    expect_change_refused("\"activation\": \"tanh\",", "\"activation\": \"tanh\", \"hidden\": 3,",
                          "feed_forward: either units, fixed, or hidden, learned, is needed");
}
END_TEST

START_TEST(missing_blocks_are_refused_by_name) {
    char text[400] = "{\"name\": \"n\", \"tokens\": \"dot\"";
    for (int i = 0; i < TS_BLOCKS; i++) {
        const size_t length = strlen(text);
        char message[60];
        const char *const wrong[] = {"", "3", "{}"}, *const reasons[] = {"is missing", "an object {...} is needed", ""};
        for (int l = 0; l < 3; l++) {
            if (l > 0) snprintf(text + length, sizeof text - length, ", \"%s\": %s", ts_block_names[i], wrong[l]);
            snprintf(message, sizeof message, "%s%s", ts_block_names[i], l < 2 ? ": " : ".value: is missing");
            snprintf(message + strlen(message), sizeof message - strlen(message), "%s", reasons[l]);
            strcat(text, "}");
            expect_refusal(text, strlen(text), message);
        }
        snprintf(text + length, sizeof text - length, ", \"%s\": {\"identity\": true, \"value\": \"data\"}",
                 ts_block_names[i]);
    }
    strcat(text, "}");
    read_text(text);
}
END_TEST

START_TEST(wrong_types_are_refused_by_name) {
    expect_change_refused("\"medoids\": true", "\"medoids\": 1", "medoids: true or false is needed");
    expect_change_refused("\"trims\": true", "\"trims\": null", "trims: true or false is needed");
    expect_change_refused("\"tokens\": \"dot\"", "\"tokens\": 3", "tokens: a word is needed");
    expect_change_refused("1e-12", "\"1\"", "cross_points.gamma: a number is needed");
    expect_change_refused("1e-12", "null", "cross_points.gamma: a number is needed");
    expect_change_refused("1e-12", "[1]", "cross_points.gamma: a number is needed");
    expect_change_refused("\"scaled\": true", "\"scaled\": \"yes\"", "cross_points.scaled: true or false is needed");
    expect_change_refused("\"identity\": true", "\"identity\": 1", "self_centers.identity: true or false is needed");
    expect_change_refused("\"learned\"", "3", "cross_points.query: a group, \"learned\" or a list of copies is needed");
    expect_change_refused("\"learned\"", "{}",
                          "cross_points.query: a group, \"learned\" or a list of copies is needed");
    expect_change_refused("\"learned\"", "[]", "cross_points.query: 0 copies; 1 to 4 fit");
    expect_change_refused("\"learned\"", "[1,2,3,4,5]", "cross_points.query: 5 copies; 1 to 4 fit");
    expect_change_refused("\"learned\"", "[1]", "cross_points.query: an object {...} is needed");
    expect_change_refused("\"scale\": 2", "\"scale\": true", "cross_points.key.scale: a number is needed");
    expect_change_refused("\"length\": 0.1", "\"length\": []", "norm.length: a number is needed");
    expect_change_refused("\"norm\": {\"range\": \"data[1:3]\", \"length\": 0.1, \"eps\": 1e-12}", "\"norm\": null",
                          "norm: an object {...} is needed");
    expect_change_refused("\"units\": [", "\"units\": [1, ", "feed_forward: an object {...} is needed");
    expect_change_refused("\"units\": [", "\"hidden\": 0.5, \"unit\": [", NULL);
}
END_TEST

static void expect_hidden_refused(const char *hidden) {
    char text[400];
    const int length = snprintf(text, sizeof text,
                                "{\"name\":\"n\",\"tokens\":\"none\","
                                "\"cross_points\":{\"identity\":true,\"value\":\"data\"},"
                                "\"self_points\":{\"identity\":true,\"value\":\"data\"},"
                                "\"cross_centers\":{\"identity\":true,\"value\":\"data\"},"
                                "\"self_centers\":{\"identity\":true,\"value\":\"data\"},"
                                "\"feed_forward\":{\"activation\":\"relu\",%s}}",
                                hidden);
    expect_refusal(text, (size_t)length,
                   strstr(hidden, "units") != NULL ? "feed_forward: units must be a list of 1 to 4"
                                                   : "feed_forward: hidden must be a whole number from 1 to 1048576");
}

START_TEST(sizes_are_refused) {
    expect_hidden_refused("\"hidden\":0");
    expect_hidden_refused("\"hidden\":-3");
    expect_hidden_refused("\"hidden\":2.0");
    expect_hidden_refused("\"hidden\":1048577");
    expect_hidden_refused("\"hidden\":\"8\"");
    expect_hidden_refused("\"units\":[]");
    expect_hidden_refused("\"units\":{}");
    expect_hidden_refused("\"units\":[1,2,3,4,5]");
}
END_TEST

START_TEST(ranges_are_refused) {
    const char *const wrong[] = {"data[]",
                                 "data[0]",
                                 "data[0:]",
                                 "data[:2]",
                                 "data[2:2]",
                                 "data[3:2]",
                                 "data[-1:2]",
                                 "data[0:-2]",
                                 "data[0:2",
                                 "data[0:2]]",
                                 "data[0:2] ",
                                 "data[0;2]",
                                 "data[a:b]",
                                 "data[0:2][0:1]",
                                 "data[",
                                 "data[0x0:0x2]",
                                 "data[0.0:2]",
                                 "data[0:99999999999999999999]",
                                 "data[0:12345678901]",
                                 "data[1e0:2]",
                                 "data[ 0:2]",
                                 "data[0: 2]",
                                 "data[+0:2]",
                                 "data[-0:2]"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char to[80], message[200];
        snprintf(to, sizeof to, "\"range\": \"%s\"", wrong[i]);
        snprintf(message, sizeof message, "norm.range: '%s' is no range: write data[FIRST:END], END not included",
                 wrong[i]);
        expect_change_refused("\"range\": \"data[1:3]\"", to, message);
    }
}
END_TEST

/* What only d and k can tell: `from` replaced in an exact Lloyd for 2 coordinates and 3 clusters. */
static void expect_check_refuses(const char *from, const char *to, const char *message) {
    static const char lloyd[] =
        "{\"name\": \"n\", \"tokens\": \"onehot\", \"cross_points\": {\"score\": \"euclidean\", \"simplex\": "
        "\"argmax\","
        " \"gamma\": 1, \"query\": \"data\", \"key\": \"data\", \"value\": \"code\"},"
        " \"self_points\": {\"identity\": true, \"value\": \"-code\"},"
        " \"cross_centers\": {\"score\": \"dot\", \"simplex\": \"linear\", \"query\": \"code\", \"key\": \"code\","
        " \"value\": \"data\"}, \"self_centers\": {\"identity\": true, \"value\": \"-data\"}}";
    char text[1200];
    const char *at = strstr(lloyd, from);
    ck_assert_msg(at != NULL, "%s", from);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - lloyd), lloyd, to, at + strlen(from));
    const ts_definition definition = read_text(text);
    error = (ts_error){.status = TS_OK};
    ck_assert_int_ne(ts_definition_check(&definition, 2, 3, &error), TS_OK);
    ck_assert_str_eq(error.text, message);
    error = (ts_error){.status = TS_OK};
}

START_TEST(what_the_check_refuses) {
    expect_check_refuses("\"query\": \"data\"", "\"query\": \"data[0:9]\"",
                         "cross_points.query: data[0:9] is out of range: there are 2");
    expect_check_refuses("\"query\": \"data\"", "\"query\": \"data[2:3]\"",
                         "cross_points.query: data[2:3] is out of range: there are 2");
    expect_check_refuses("\"key\": \"data\"", "\"key\": \"norm\"",
                         "cross_points.key: tokens of scheme onehot have no norm");
    expect_check_refuses("\"score\": \"euclidean\", \"simplex\": \"argmax\", \"gamma\": 1, \"query\": \"data\", "
                         "\"key\": \"data\", \"value\": \"code\"",
                         "\"identity\": true, \"value\": \"code\"",
                         "cross_points: identity weights need self-attention");
    expect_check_refuses("\"gamma\": 1", "\"gamma\": 0", "cross_points: gamma must be positive and finite, not 0");
    expect_check_refuses("\"gamma\": 1", "\"gamma\": -2", "cross_points: gamma must be positive and finite, not -2");
    expect_check_refuses("\"gamma\": 1", "\"dropout\": 1.5", "cross_points: dropout must be in [0,1], not 1.5");
    expect_check_refuses("\"simplex\": \"argmax\"", "\"simplex\": \"top-m\", \"parameter\": 1",
                         "cross_points: top-m: the trimmed share F must be >= 0 and < 1, not 1");
    expect_check_refuses(
        "\"gamma\": 1", "\"own_code\": true",
        "cross_points: only centres that look at points (cross_centers) can be held to their own code");
    expect_check_refuses("\"tokens\"", "\"trims\": true, \"tokens\"",
                         "cross_centers: trimmed points need centres that see only the points of their own code");
    expect_check_refuses("\"key\": \"data\"", "\"key\": \"code\"",
                         "cross_points: query and key have no coordinate in common");
    expect_check_refuses("\"value\": \"code\"", "\"value\": \"data\"",
                         "cross_points.value: writes no code, from which clusters are read");
    expect_check_refuses("\"tokens\"", "\"norm\": {\"range\": \"data\", \"length\": -1}, \"tokens\"",
                         "norm: the length must be positive and finite, not -1");
    expect_check_refuses("\"tokens\"", "\"norm\": {\"range\": \"data\", \"eps\": -1}, \"tokens\"",
                         "norm: eps must be finite and not negative, not -1");
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, syntax_errors_name_line_and_column);
    tcase_add_test(tests, names_are_text);
    tcase_add_test(tests, unknown_things_are_refused_by_name);
    tcase_add_test(tests, missing_things_are_refused_by_name);
    tcase_add_test(tests, missing_blocks_are_refused_by_name);
    tcase_add_test(tests, wrong_types_are_refused_by_name);
    tcase_add_test(tests, sizes_are_refused);
    tcase_add_test(tests, ranges_are_refused);
    tcase_add_test(tests, what_the_check_refuses);
    return run_definition_case("refused definitions", tests);
}
