/* Definitions as text: what is written is read back as the same, and damaged texts are read or refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../autograd/rng.h"
#include "../models/definition/variants.h"
#include "../models/run/runner.h"
#include "definition_texts.h"

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
        for (int i = 0; ts_construction_names[i] != NULL; i++) {
            ts_settings s = ts_variant_settings(v);
            s.construction = ts_construction_names[i];
            if (strstr(v->constructions, s.construction) == NULL) continue;
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
            if (strcmp(v->name, "lloyd") == 0 && strcmp(s.construction, "binary") != 0) add(list, &count, v, s);
        }
    return count;
}

static void fill_points(ts_real *x) {
    const ts_rng rng = {test_seed(), ts_rng_stream("json"), 0};
    for (int i = 0; i < N * D; i++) x[i] = (ts_real)(1 + ts_rng_uniform(rng, (uint64_t)i));
}

static ts_runner *run(const ts_definition *definition, const ts_problem *p) {
    ts_runner *runner = ts_runner_create(definition, p, &error);
    ck_assert_msg(runner != NULL, "%s", error.text);
    for (int t = 0; t < 4; t++) ck_assert_int_eq(ts_runner_step(runner, &error), TS_OK);
    ck_assert_int_eq(ts_runner_finish(runner, &error), TS_OK);
    return runner;
}

static void expect_the_same_run(const ts_definition *one, const ts_definition *other) {
    ts_real x[N * D];
    fill_points(x);
    const ts_problem p = {.n = N, .d = D, .k = K, .points = x, .centers = x, .seed = test_seed()};
    ts_runner *a = run(one, &p), *b = run(other, &p);
    ck_assert_mem_eq(ts_runner_state(a)->centers, ts_runner_state(b)->centers, K * D * sizeof *x);
    ck_assert_mem_eq(ts_runner_state(a)->labels, ts_runner_state(b)->labels, N * sizeof(int64_t));
    ts_runner_free(a);
    ts_runner_free(b);
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

/* Read, and written, but for the shorter way to write .1. */
START_TEST(everything_comes_back) {
    const ts_definition d = read_text(everything);
    ck_assert_str_eq(d.name, "all \"of\" it \xc3\xa9");
    ck_assert(d.construction == TS_CONSTRUCTION_DOT && d.medoids && d.trims);
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
    ck_assert(!d.medoids && !d.trims && d.construction == TS_CONSTRUCTION_NONE);
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
    char text[4096];
    ck_assert_uint_lt(length, sizeof text);
    int accepted = 0;
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
        accepted++;
        char *written = write_text(&d);
        ck_assert_msg(read_exactly(written, strlen(written), &again) == TS_OK, "%s in\n%s", error.text, written);
        ts_definition_check(&d, D, K, &error);
        free(written);
    }
    ck_assert_msg(accepted > 100 && accepted < 5000, "%d of 6000 are read", accepted);
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
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, every_variant_comes_back);
    tcase_add_test(tests, everything_comes_back);
    tcase_add_test(tests, defaults);
    tcase_add_test(tests, numbers_survive);
    tcase_add_test(tests, truncated_anywhere);
    tcase_add_test(tests, damaged_anywhere);
    tcase_add_test(tests, deep_and_large_texts);
    return run_definition_case("definitions as text", tests);
}
