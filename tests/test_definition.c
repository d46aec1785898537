/* Definitions: code books, what is refused by name, and the weights that a transformer gets from them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../models/run/transformer.h"
#include "variant_runs.h"

START_TEST(code_books) {
    ts_real book[18];
    ck_assert_int_eq(ts_construction_width(TS_CONSTRUCTION_ONEHOT, 3), 3);
    ts_construction_code_book(TS_CONSTRUCTION_ONEHOT, 3, book);
    for (int i = 0; i < 9; i++) ck_assert(book[i] == (i % 4 == 0));
    const int64_t widths[][2] = {{1, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {6, 3}, {8, 3}, {9, 4}, {1000, 10}};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        ck_assert_int_eq(ts_construction_width(TS_CONSTRUCTION_BINARY, widths[i][0]), widths[i][1]);
    ts_construction_code_book(TS_CONSTRUCTION_BINARY, 6, book);
    const char *rows = "000100010110001101";
    for (int i = 0; i < 18; i++) ck_assert(book[i] == rows[i] - '0');
    ck_assert_int_eq(ts_construction_width(TS_CONSTRUCTION_NONE, 6), 0);
}
END_TEST

static void expect_refusal(ts_definition definition, const char *text) {
    error = (ts_error){.status = TS_OK};
    ck_assert_int_ne(ts_definition_check(&definition, 2, 3, &error), TS_OK);
    ck_assert_str_eq(error.text, text);
}

START_TEST(wrong_definitions_are_refused_by_name) {
    const ts_definition good = lloyd(5, false);
    ck_assert_int_eq(ts_definition_check(&good, 2, 3, &error), TS_OK);
    ts_definition bad = good;
    bad.cross_points.identity = true;
    expect_refusal(bad, "cross_points: identity weights need self-attention");
    bad = good;
    bad.cross_centers.simplex.map = NULL;
    expect_refusal(bad, "cross_centers: no simplex map");
    bad = good;
    bad.cross_points.gamma = 0;
    expect_refusal(bad, "cross_points: gamma must be positive and finite, not 0");
    bad = good;
    bad.cross_points.simplex = (ts_simplex_spec){.map = &ts_normmax_map, .parameter = 0.5};
    error = (ts_error){.status = TS_OK};
    ck_assert_int_ne(ts_definition_check(&bad, 2, 3, &error), TS_OK);
    ck_assert_ptr_nonnull(strstr(error.text, "cross_points: normmax"));
    bad = good;
    bad.self_points.value.n_copies = 9;
    expect_refusal(bad, "self_points.value: 9 copies; 1 to 4 fit");
    bad = good;
    bad.cross_points.value.copy[0].to.group = TS_GROUP_DATA;
    expect_refusal(bad, "cross_points.value: 3 coordinates of code do not fit into 2 of data");
    bad = good;
    bad.cross_points.query.copy[0].from = (ts_range){TS_GROUP_DATA, 1, 2};
    expect_refusal(bad, "cross_points.query: data[1:3] is out of range: there are 2");
    bad = good;
    bad.self_centers.value.copy[0].from.group = TS_GROUP_NORM;
    expect_refusal(bad, "self_centers.value: tokens of scheme onehot have no norm");
    bad = good;
    bad.cross_points.own_code = true;
    expect_refusal(bad, "cross_points: only centres that look at points (cross_centers) can be held to their own code");
    bad = good;
    bad.trims = true;
    expect_refusal(bad, "cross_centers: trimmed points need centres that see only the points of their own code");
    bad = good;
    bad.norm = (ts_norm_definition){.present = true, .range = {.group = TS_GROUP_DATA}, .length = 0};
    expect_refusal(bad, "norm: the length must be positive and finite, not 0");
    bad.norm.length = 1e-300;
    expect_refusal(bad, "norm: the length must be from 1e-15 to 1e15, not 1e-300");
    bad.norm = (ts_norm_definition){.present = true, .range = {.group = TS_GROUP_CODE}, .length = 1};
    expect_refusal(bad, "norm: only data have a direction, not code, which points enter without");
    bad = good;
    bad.feed_forward = (ts_feed_forward_definition){.present = true};
    expect_refusal(bad, "feed_forward: unknown activation");
    bad = good;
    bad.name[0] = '\0';
    expect_refusal(bad, "a definition needs a name of at most 63 bytes");
}
END_TEST

/* The weights of theorem 2.1, as a transformer has them. */
START_TEST(weights_of_the_construction) {
    const ts_definition definition = lloyd(INFINITY, false);
    ts_transformer model;
    ck_assert_int_eq(ts_transformer_build(&model, &definition, 2, 3, 0, &error), TS_OK);
    const struct {
        const char *name;
        ts_real weight[5];
    } expected[] = {{"cross_points.query.weight", {1, 1, 0, 0, 0}},  {"cross_points.key.weight", {1, 1, 0, 0, 0}},
                    {"cross_points.value.weight", {0, 0, 1, 1, 1}},  {"self_points.value.weight", {0, 0, -1, -1, -1}},
                    {"cross_centers.query.weight", {0, 0, 1, 1, 1}}, {"cross_centers.value.weight", {1, 1, 0, 0, 0}},
                    {"self_centers.value.weight", {-1, -1, 0, 0, 0}}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const int at = ts_params_find(model.params, expected[i].name);
        ck_assert_msg(at >= 0, "%s", expected[i].name);
        ck_assert_mem_eq(ts_params_value(model.params, at), expected[i].weight, sizeof expected[i].weight);
    }
    ts_transformer_clear(&model);
}
END_TEST

/* A layer of learned blocks: sizes, names, and gradients that reach every parameter. */
START_TEST(a_learned_layer_trains) {
    ts_definition definition = {.name = "learned", .construction = TS_CONSTRUCTION_ONEHOT};
    ts_block_definition *blocks[4] = {&definition.cross_points, &definition.self_points, &definition.cross_centers,
                                      &definition.self_centers};
    for (int i = 0; i < 4; i++)
        *blocks[i] = (ts_block_definition){.score = TS_SCORE_EUCLIDEAN,
                                           .simplex = {.map = &ts_softmax_map},
                                           .gamma = 1,
                                           .scaled = true,
                                           .dropout = 0.01,
                                           .query = {.learned = true},
                                           .key = {.learned = true},
                                           .value = {.learned = true}};
    ts_transformer model;
    ck_assert_int_eq(ts_transformer_build(&model, &definition, 32, 10, 1, &error), TS_OK);
    ck_assert_int_eq(ts_params_size(model.params), 21672); /* 12 (e^2 + e), e = 42 */
    ts_tape *tape = ts_tape_create(TS_RECORD);
    ts_tensor *points = ts_constant(tape, TS_SHAPE(2, 20, 42), NULL),
              *centers = ts_constant(tape, TS_SHAPE(2, 10, 42), NULL);
    for (int64_t i = 0; i < ts_shape_size(&points->shape); i++)
        points->data[i] = (ts_real)ts_rng_normal((ts_rng){1, 2, 3}, (uint64_t)i);
    for (int64_t i = 0; i < ts_shape_size(&centers->shape); i++) centers->data[i] = points->data[i];
    points = ts_transformer_assign(&model, tape, points, centers, 1);
    centers = ts_transformer_update(&model, tape, points, centers, 1);
    ck_assert_int_eq(ts_backward(tape, ts_sum(tape, ts_square(tape, centers), TS_ALL_AXES, false)), TS_OK);
    for (int i = 0; i < ts_params_count(model.params); i++) {
        const ts_real *grad = ts_params_grad(model.params, i);
        double largest = 0;
        for (int64_t j = 0; j < ts_shape_size(ts_params_shape(model.params, i)); j++)
            largest = fmax(largest, fabs((double)grad[j]));
        ck_assert_msg(largest > 0 && isfinite(largest), "%s has no gradient", ts_params_name(model.params, i));
    }
    ts_tape_free(tape);
    ts_transformer_clear(&model);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, code_books);
    tcase_add_test(tests, wrong_definitions_are_refused_by_name);
    tcase_add_test(tests, weights_of_the_construction);
    tcase_add_test(tests, a_learned_layer_trains);
}

int main(void) {
    return run_variant_tests("definitions", add_tests);
}
