/* test_definition_json.c: definitions as text: what is written is read back as the same, and what is wrong is refused
 * by name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/rng.h"
#include "../models/definition/definition_json.h"
#include "../models/definition/variants.h"
#include "../models/run/circuit.h"
#include "test_main.h"

static ts_error error;

static void setup(void) {
    error = (ts_error){.status = TS_OK};
}

static char *write_text(const ts_definition *definition) {
    char *text = ts_definition_to_json(definition);
    ck_assert_ptr_nonnull(text);
    return text;
}

static ts_definition read_text(const char *text) {
    ts_definition definition;
    ck_assert_msg(ts_definition_from_json(text, strlen(text), &definition, &error) == TS_OK, "%s in\n%s", error.text,
                  text);
    return definition;
}

/* ---- there and back ------------------------------------------------------------------------------------------------
 */

enum { N = 40, D = 3, K = 4, MOST_SETTINGS = 64 };

typedef struct setting {
    const ts_variant *variant;
    ts_settings settings;
} setting;

static void add(setting *list, int *count, const ts_variant *v, ts_settings s) {
    ck_assert_int_lt(*count, MOST_SETTINGS);
    list[(*count)++] = (setting){v, s};
}

/* Every variant in every construction, with numbers that are no short decimals. */
static int all_settings(setting *list) {
    int count = 0;
    for (const ts_variant *v = ts_variants; v->name != NULL; v++)
        for (int i = 0; ts_scheme_names[i] != NULL; i++) {
            ts_settings s = ts_variant_settings(v);
            s.scheme = ts_scheme_names[i];
            if (strstr(v->schemes, s.scheme) == NULL) continue;
            if (ts_variant_chooses_gamma(v, &s)) s.gamma = 1.0 / 3;
            add(list, &count, v, s);
            s.alpha = 1.1, s.fuzziness = 5.0 / 3;
            if (v->update == &ts_normmax_map || v->assign == &ts_fuzzy_map) add(list, &count, v, s);
            if (v->trims) s.trim = 0.1;
            if (v->trims) add(list, &count, v, s);
            if (v->gamma != TS_GAMMA_ASSIGN) continue;
            s.gamma = 0.7;
            add(list, &count, v, s);
            s.gamma = INFINITY;
            s.share_ties = true;
            if (strcmp(v->name, "lloyd") == 0 && strcmp(s.scheme, "binary") != 0) add(list, &count, v, s);
        }
    return count;
}

static void fill_points(ts_real *x) {
    const ts_rng rng = {test_seed(), ts_rng_stream("json"), 0};
    for (int i = 0; i < N * D; i++) x[i] = (ts_real)(1 + ts_rng_uniform(rng, (uint64_t)i));
}

static ts_circuit *run(const ts_definition *definition, const ts_problem *p) {
    ts_circuit *circuit = ts_circuit_create(definition, p, &error);
    ck_assert_msg(circuit != NULL, "%s", error.text);
    for (int t = 0; t < 4; t++) ck_assert_int_eq(ts_circuit_step(circuit, &error), TS_OK);
    ck_assert_int_eq(ts_circuit_finish(circuit, &error), TS_OK);
    return circuit;
}

static void expect_the_same_run(const ts_definition *one, const ts_definition *other) {
    ts_real x[N * D];
    fill_points(x);
    const ts_problem p = {.n = N, .d = D, .k = K, .points = x, .centers = x, .seed = test_seed()};
    ts_circuit *a = run(one, &p), *b = run(other, &p);
    ck_assert_mem_eq(ts_circuit_state(a)->centers, ts_circuit_state(b)->centers, K * D * sizeof *x);
    ck_assert_mem_eq(ts_circuit_state(a)->labels, ts_circuit_state(b)->labels, N * sizeof(int64_t));
    ts_circuit_free(a);
    ts_circuit_free(b);
}

START_TEST(every_variant_comes_back) {
    setting list[MOST_SETTINGS];
    const int count = all_settings(list);
    ck_assert_int_gt(count, 25);
    for (int i = 0; i < count; i++) {
        ts_definition definition;
        ck_assert_msg(ts_variant_define(list[i].variant, &list[i].settings, &definition, &error) == TS_OK, "%s",
                      error.text);
        char *text = write_text(&definition);
        const ts_definition again = read_text(text);
        char *twice = write_text(&again);
        ck_assert_str_eq(text, twice);
        ck_assert(text[strlen(text) - 1] == '\n');
        expect_the_same_run(&definition, &again);
        free(text);
        free(twice);
    }
}
END_TEST

/* One that uses all that there is. */
static const char everything[] =
    "{\n"
    "  \"name\": \"all \\\"of\\\" it \xc3\xa9\",\n"
    "  \"tokens\": \"dot\",\n"
    "  \"medoids\": true,\n"
    "  \"trims\": true,\n"
    "  \"cross_points\": {\n"
    "    \"score\": \"dot\", \"simplex\": \"gumbel-softmax\", \"parameter\": 0.30000000000000004, \"gamma\": 1e-12,"
    " \"dropout\": 0.01, \"scaled\": true,\n"
    "    \"query\": \"learned\",\n"
    "    \"key\": [{\"from\": \"data[0:2]\", \"scale\": 2}, {\"from\": \"one\", \"to\": \"norm\", \"scale\": -1}],\n"
    "    \"value\": \"-code[1:3]\"\n"
    "  },\n"
    "  \"self_points\": {\n"
    "    \"score\": \"euclidean\", \"simplex\": \"softmax\", \"gamma\": 1,\n"
    "    \"query\": \"data\",\n"
    "    \"key\": \"-data[1:2]\",\n"
    "    \"value\": \"learned\"\n"
    "  },\n"
    "  \"cross_centers\": {\n"
    "    \"score\": \"euclidean\", \"simplex\": \"power\", \"parameter\": 2, \"gamma\": 1e+100, \"own_code\": true,\n"
    "    \"query\": \"code\",\n"
    "    \"key\": \"code\",\n"
    "    \"value\": [{\"from\": \"data\", \"scale\": 0.1}]\n"
    "  },\n"
    "  \"self_centers\": {\n"
    "    \"identity\": true,\n"
    "    \"value\": [{\"from\": \"data\", \"scale\": 0}, {\"from\": \"norm\", \"to\": \"one\", \"scale\": 1},"
    " {\"from\": \"data\", \"to\": \"norm\", \"scale\": 1}, {\"from\": \"code\", \"scale\": -1}]\n"
    "  },\n"
    "  \"norm\": {\"range\": \"data[1:3]\", \"length\": 0.1, \"eps\": 1e-12},\n"
    "  \"feed_forward\": {\n"
    "    \"activation\": \"tanh\",\n"
    "    \"units\": [{\"from\": \"data\", \"to\": \"norm\", \"scale\": 1, \"weight\": 0.10000000000000001},\n"
    "              {\"from\": \"one\", \"to\": \"one\", \"scale\": -1, \"weight\": 5e-324}]\n"
    "  }\n"
    "}\n";

/* Read, and written, but for the shorter way to write .1. */
START_TEST(everything_comes_back) {
    const ts_definition d = read_text(everything);
    ck_assert_str_eq(d.name, "all \"of\" it \xc3\xa9");
    ck_assert(d.scheme == TS_SCHEME_DOT && d.medoids && d.trims);
    ck_assert(d.cross_points.query.learned && d.cross_points.scaled && d.cross_points.score == TS_SCORE_DOT);
    ck_assert(d.cross_points.gamma == 1e-12 && d.cross_points.simplex.parameter == 0.1 + 0.2);
    ck_assert(d.cross_points.dropout == 0.01 && d.cross_centers.own_code && d.cross_centers.gamma == 1e100);
    ck_assert(d.cross_points.key.n_copies == 2 && d.self_centers.value.n_copies == 4 && d.self_centers.identity);
    const ts_copy *copy = d.cross_points.key.copy;
    ck_assert(copy[0].from.first == 0 && copy[0].from.count == 2 && copy[0].to.count == 2 && copy[0].scale == 2);
    ck_assert(copy[1].from.group == TS_GROUP_ONE && copy[1].to.group == TS_GROUP_NORM && copy[1].scale == -1);
    ck_assert(d.cross_points.value.copy[0].scale == -1 && d.cross_points.value.copy[0].from.first == 1);
    ck_assert(d.norm.present && d.norm.length == 0.1 && d.norm.eps == 1e-12 && d.norm.range.first == 1);
    ck_assert(d.feed_forward.present && d.feed_forward.activation == ts_tanh && d.feed_forward.n_units == 2);
    ck_assert(d.feed_forward.unit[1].weight == 5e-324 && d.feed_forward.unit[0].weight == 0.1);
    char *text = write_text(&d);
    const ts_definition again = read_text(text);
    char *twice = write_text(&again);
    ck_assert_str_eq(text, twice);
    const char *const tail = strstr(everything, "0.10000000000000001");
    ck_assert_mem_eq(text, everything, (size_t)(tail - everything));
    free(text);
    free(twice);
}
END_TEST

START_TEST(defaults) {
    const ts_definition d = read_text("{\"name\":\"n\",\"tokens\":\"none\","
                                      "\"cross_points\":{\"score\":\"dot\",\"simplex\":\"softmax\",\"query\":"
                                      "[{\"from\":\"data\"}],\"key\":\"data\",\"value\":\"data\"},"
                                      "\"self_points\":{\"identity\":true,\"value\":\"data\"},"
                                      "\"self_centers\":{\"identity\":true,\"value\":\"data\"},"
                                      "\"cross_centers\":{\"identity\":false,\"score\":\"dot\",\"simplex\":\"softmax\","
                                      "\"query\":\"data\",\"key\":\"data\",\"value\":\"data\"},"
                                      "\"norm\":{\"range\":\"data\"},"
                                      "\"feed_forward\":{\"activation\":\"relu\",\"hidden\":7}}");
    ck_assert(!d.medoids && !d.trims && d.scheme == TS_SCHEME_NONE);
    ck_assert(d.cross_points.gamma == 1 && d.cross_points.dropout == 0 && !d.cross_points.scaled);
    ck_assert(d.cross_points.query.copy[0].scale == 1 && d.cross_points.query.copy[0].to.group == TS_GROUP_DATA);
    ck_assert(d.norm.length == 1 && d.norm.eps == 0);
    ck_assert(d.feed_forward.learned && d.feed_forward.hidden == 7 && d.feed_forward.activation == ts_relu);
    char *text = write_text(&d);
    const ts_definition again = read_text(text);
    char *twice = write_text(&again);
    ck_assert_str_eq(text, twice);
    free(text);
    free(twice);
}
END_TEST

START_TEST(numbers_survive) {
    const double list[] = {
        1e-12, 0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789012345680.0, 4503599627370497.5};
    ts_definition d = read_text(everything);
    const ts_rng rng = {test_seed(), ts_rng_stream("numbers"), 0};
    for (uint64_t i = 0; i < 2000; i++) {
        uint64_t bits = ts_rng_bits(rng, i);
        double number;
        memcpy(&number, &bits, sizeof number);
        if (!isfinite(number)) continue;
        if (i < sizeof list / sizeof *list) number = list[i];
        d.cross_points.gamma = d.norm.length = d.self_centers.value.copy[0].scale = number;
        d.feed_forward.unit[0].scale = d.feed_forward.unit[1].weight = number;
        char *text = write_text(&d);
        const ts_definition again = read_text(text);
        const double read[] = {again.cross_points.gamma, again.norm.length, again.self_centers.value.copy[0].scale,
                               again.feed_forward.unit[0].scale, again.feed_forward.unit[1].weight};
        for (int l = 0; l < 5; l++) ck_assert_msg(read[l] == number, "%.17g came back as %.17g", number, read[l]);
        free(text);
    }
}
END_TEST

/* ---- what is refused -----------------------------------------------------------------------------------------------
 */

static void expect_refusal(const char *text, size_t length, const char *message) {
    ts_definition definition;
    error = (ts_error){.status = TS_OK};
    ck_assert_msg(ts_definition_from_json(text, length, &definition, &error) == TS_ERROR_VALUE, "accepted: %.*s",
                  (int)length, text);
    if (message != NULL) ck_assert_str_eq(error.text, message);
    for (const char *c = error.text; *c != '\0'; c++) ck_assert((unsigned char)*c >= ' ' && *c != 127);
    error = (ts_error){.status = TS_OK};
}

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
    expect_refusal(everything, sizeof everything, "line 35, column 1: end of file expected near end of file");
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
    expect_change_refused("gumbel-softmax", "argmx",
                          "cross_points.simplex: unknown 'argmx' (softmax, hardmax, argmax, sparsemax, normmax, "
                          "normmax-inf, linear, gumbel-softmax, gumbel-hardmax, top-m, entmax-1.5, power, fuzzy)");
    expect_change_refused("\"-data[1:2]\"", "\"dat\"", "self_points.key: unknown 'dat' (data, code, norm, one)");
    expect_change_refused("\"-data[1:2]\"", "\"--data\"", "self_points.key: unknown '-data' (data, code, norm, one)");
    expect_change_refused("\"-data[1:2]\"", "\"-learned\"",
                          "self_points.key: unknown 'learned' (data, code, norm, one)");
    expect_change_refused("\"-data[1:2]\"", "\"\"", "self_points.key: unknown '' (data, code, norm, one)");
    expect_change_refused("\"-data[1:2]\"", "\"datadatadatadatadata[0:1]\"",
                          "self_points.key: unknown 'datadatadatadatadata[0:1]' (data, code, norm, one)");
    expect_change_refused("\"data[0:2]\"", "\"points\"",
                          "cross_points.key.from: unknown 'points' (data, code, norm, one)");
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

/* ---- damaged texts -------------------------------------------------------------------------------------------------
 */

/* A copy of exactly its length, so that a read beyond its end is seen by a sanitizer. */
static ts_status read_exactly(const char *text, size_t length, ts_definition *definition) {
    char *copy = malloc(length > 0 ? length : 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, length);
    error = (ts_error){.status = TS_OK};
    const ts_status status = ts_definition_from_json(copy, length, definition, &error);
    ck_assert((status == TS_OK) == (error.status == TS_OK));
    for (const char *c = error.text; status != TS_OK && *c != '\0'; c++)
        ck_assert((unsigned char)*c >= ' ' && *c != 127);
    free(copy);
    return status;
}

START_TEST(truncated_anywhere) {
    const size_t length = strlen(everything);
    ts_definition definition;
    for (size_t i = 0; i + 1 < length; i++) /* without its last newline it is still whole */
        ck_assert_msg(read_exactly(everything, i, &definition) != TS_OK, "%zu bytes were enough", i);
    ck_assert_int_eq(read_exactly(everything, length - 1, &definition), TS_OK);
    ck_assert_int_eq(read_exactly(everything, length, &definition), TS_OK);
    error = (ts_error){.status = TS_OK};
}
END_TEST

/* Some bytes changed, removed or doubled: read or refused; and what is read can be written, read and checked. */
START_TEST(damaged_anywhere) {
    const size_t length = strlen(everything);
    const ts_rng rng = {test_seed(), ts_rng_stream("damage"), 0};
    static const char bytes[] = "{}[]\",:-0123456789.e\\ \ntfnu\x01\x7f\xc3\xff";
    char text[sizeof everything + 8];
    for (uint64_t i = 0; i < 6000; i++) {
        size_t now = length;
        memcpy(text, everything, length);
        for (uint64_t l = 0; l <= i % 3; l++) {
            const size_t at = (size_t)ts_rng_below(rng, 16 * i + 4 * l, (int64_t)now - 1);
            const int64_t kind = ts_rng_below(rng, 16 * i + 4 * l + 1, 3);
            const char byte = bytes[ts_rng_below(rng, 16 * i + 4 * l + 2, (int64_t)sizeof bytes - 1)];
            if (kind != 1) text[at] = kind == 0 ? byte : text[at + 1];
            if (kind == 1) memmove(text + at, text + at + 1, --now - at);
        }
        ts_definition d, again;
        if (read_exactly(text, now, &d) != TS_OK) continue;
        char *written = write_text(&d);
        ck_assert_msg(read_exactly(written, strlen(written), &again) == TS_OK, "%s in\n%s", error.text, written);
        ts_definition_check(&d, D, K, &error);
        free(written);
    }
    error = (ts_error){.status = TS_OK};
}
END_TEST

START_TEST(deep_and_large_texts) {
    enum { MANY = 200000 };
    char *text = malloc(2 * MANY + 64);
    ts_definition definition;
    for (int kind = 0; kind < 3; kind++) {
        const char *const unit = (const char *[]){"[", "{\"a\":", "{\"name\":"}[kind];
        size_t length = 0;
        while (length + 8 < MANY) length += (size_t)snprintf(text + length, 10, "%s", unit);
        ck_assert_int_ne(read_exactly(text, length, &definition), TS_OK);
    }
    expect_refusal(text, 0, NULL);
    memset(text, '[', 3000);
    expect_refusal(text, 3000, "line 1, column 2049: maximum parsing depth reached near '['");
    size_t length = (size_t)snprintf(text, 20, "{\"");
    memset(text + length, 'k', MANY);
    length += MANY;
    length += (size_t)snprintf(text + length, 20, "\": 1}");
    ck_assert_int_ne(read_exactly(text, length, &definition), TS_OK);
    ck_assert_mem_eq(error.text, "unknown key 'kkk", 16);
    free(text);
    error = (ts_error){.status = TS_OK};
}
END_TEST

int main(void) {
    Suite *suite = suite_create("definition_json");
    TCase *tests = tcase_create("all");
    printf("seed %" PRIu64 "\n", test_seed());
#ifdef _OPENMP
    omp_set_num_threads(1); /* small problems, beside other test programs: threads would wait for cores */
#endif
    tcase_set_timeout(tests, 0);
    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_test(tests, every_variant_comes_back);
    tcase_add_test(tests, everything_comes_back);
    tcase_add_test(tests, defaults);
    tcase_add_test(tests, numbers_survive);
    tcase_add_test(tests, syntax_errors_name_line_and_column);
    tcase_add_test(tests, names_are_text);
    tcase_add_test(tests, unknown_things_are_refused_by_name);
    tcase_add_test(tests, missing_things_are_refused_by_name);
    tcase_add_test(tests, missing_blocks_are_refused_by_name);
    tcase_add_test(tests, wrong_types_are_refused_by_name);
    tcase_add_test(tests, sizes_are_refused);
    tcase_add_test(tests, ranges_are_refused);
    tcase_add_test(tests, what_the_check_refuses);
    tcase_add_test(tests, truncated_anywhere);
    tcase_add_test(tests, damaged_anywhere);
    tcase_add_test(tests, deep_and_large_texts);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
