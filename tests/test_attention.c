#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/gradcheck.h"
#include "../autograd/parallel.h"
#include "on_tape.h"

static const ts_attention_spec dot_softmax = {.score = TS_SCORE_DOT, .simplex = {.map = &ts_softmax_map}, .gamma = 1};

/* A row with every key masked gives zeros and no gradient, and poisons nothing. */
START_TEST(fully_masked_row) {
    ts_tensor *eye = ts_variable(tape, TS_SHAPE(2, 2), (ts_real[]){1, 0, 0, 1});
    ts_tensor *v = ts_variable(tape, TS_SHAPE(2, 2), (ts_real[]){1, 2, 3, 4});
    ts_tensor *mask = ts_constant(tape, TS_SHAPE(2, 2), (ts_real[]){1, 1, 0, 0});
    ts_attention_spec spec = dot_softmax;
    spec.gamma = 1 / sqrt(2.0);
    ts_tensor *y = ts_attention(tape, eye, eye, v, mask, &spec);
    const double first = 1 / (1 + exp(-spec.gamma));
    ck_assert_double_eq_tol((double)y->data[0], 3 - 2 * first, 4 * EPS);
    ck_assert_double_eq_tol((double)y->data[1], 4 - 2 * first, 4 * EPS);
    ck_assert(y->data[2] == 0 && y->data[3] == 0);
    ck_assert_int_eq(ts_backward_from(tape, y, (ts_real[]){0, 0, 1, 1}), TS_OK);
    for (int i = 0; i < 4; i++) ck_assert(v->grad[i] == 0 && eye->grad[i] == 0);
}
END_TEST

/* The mask is exact: whatever stands in excluded keys and values is never read into the result. */
START_TEST(masked_keys_are_excluded_exactly) {
    ts_tensor *q = ts_variable(tape, TS_SHAPE(1, 1), (ts_real[]){1});
    ts_tensor *k = ts_variable(tape, TS_SHAPE(3, 1), (ts_real[]){1, (ts_real)NAN, 1});
    ts_tensor *v = ts_variable(tape, TS_SHAPE(3, 1), (ts_real[]){2, (ts_real)INFINITY, 4});
    ts_tensor *mask = ts_constant(tape, TS_SHAPE(1, 3), (ts_real[]){1, 0, 1});
    ts_tensor *y = ts_attention(tape, q, k, v, mask, &dot_softmax);
    ck_assert(y->data[0] == 3);
    ck_assert_int_eq(ts_backward(tape, ts_sum(tape, y, TS_ALL_AXES, false)), TS_OK);
    ck_assert(v->grad[1] == 0 && k->grad[1] == 0 && isfinite((double)q->grad[0]));
}
END_TEST

static ts_attention_spec spec_of(const ts_simplex *map, ts_score score) {
    return (ts_attention_spec){
        .score = score,
        .gamma = 1.5,
        .simplex = {.map = map, .parameter = map == &ts_top_m_map ? 0.3 : 1.7, .rng = {3, 4, 5}}};
}

/* Whether scores of the sign that the map is made for can be had; makes dot products so. */
static bool suits(const ts_attention_spec *spec, ts_tensor **q, ts_tensor **k) {
    const bool up = spec->simplex.map->domain == TS_SCORES_NONNEGATIVE;
    const bool down = spec->simplex.map->domain == TS_SCORES_NONPOSITIVE;
    if (spec->score == TS_SCORE_EUCLIDEAN) return !up;
    if (up || down) *q = ts_square(tape, *q), *k = ts_square(tape, *k);
    if (down) *k = ts_neg(tape, *k);
    return true;
}

/* One op equals the same thing composed of others, for every map. */
START_TEST(equals_its_composition) {
    for (const ts_simplex *const *map = ts_simplex_maps; *map != NULL; map++)
        for (int score = 0; score < 2; score++) {
            ts_tape_reset(tape);
            ts_tensor *q = ts_constant(tape, TS_SHAPE(3, 42, 7), NULL),
                      *k = ts_constant(tape, TS_SHAPE(3, 65, 7), NULL);
            ts_tensor *v = ts_constant(tape, TS_SHAPE(3, 65, 5), NULL);
            fill(q, "q"), fill(k, "k"), fill(v, "v");
            const ts_attention_spec spec = spec_of(*map, (ts_score)score);
            if (!suits(&spec, &q, &k)) continue;
            ts_tensor *y = ts_attention(tape, q, k, v, NULL, &spec);
            ts_tensor *s = score == TS_SCORE_DOT ? ts_scale(tape, ts_matmul(tape, q, k, false, true), 1.5)
                                                 : ts_scale(tape, ts_squared_distances(tape, q, k), -1.5);
            ts_tensor *z = ts_matmul(tape, ts_simplex_apply(tape, s, -1, &spec.simplex), v, false, false);
            ck_assert_msg(ts_tape_error(tape) == NULL, "%s", ts_tape_error(tape));
            for (int64_t i = 0; i < ts_shape_size(&y->shape); i++)
                ck_assert_msg(fabs((double)(y->data[i] - z->data[i])) <= 32 * EPS, "%s: %g, composed %g", (*map)->name,
                              (double)y->data[i], (double)z->data[i]);
        }
}
END_TEST

/* All numbers but 0 let a key through alike. */
START_TEST(masks_are_zero_or_not) {
    static const ts_real ones[] = {1, 1, 1, 0, 1, 0}, others[] = {-1, (ts_real)0.25, 7, 0, (ts_real)-1e-30, 0};
    for (int fast = 0; fast < 2; fast++) {
        ts_attention_spec spec = dot_softmax;
        spec.fast = fast;
        ts_tensor *q = filled(TS_SHAPE(2, 2), "q"), *k = filled(TS_SHAPE(3, 2), "k"), *v = filled(TS_SHAPE(3, 2), "v");
        ts_tensor *mask[2] = {ts_constant(tape, TS_SHAPE(2, 3), ones), ts_constant(tape, TS_SHAPE(2, 3), others)};
        const ts_tensor *y[2] = {ts_attention(tape, q, k, v, mask[0], &spec),
                                 ts_attention(tape, q, k, v, mask[1], &spec)};
        ck_assert_mem_eq(y[0]->data, y[1]->data, 4 * sizeof(ts_real));
        const ts_tensor *w[2] = {ts_attention_weights(tape, q, k, mask[0], &spec),
                                 ts_attention_weights(tape, q, k, mask[1], &spec)};
        ck_assert_mem_eq(w[0]->data, w[1]->data, 6 * sizeof(ts_real));
    }
}
END_TEST

/* Weights times values is attention, for every map and both scores, with a mask and without; what is masked is exactly
 * 0, a row with every key masked is zeros. */
static void check_weights_times_values(const ts_attention_spec *spec, ts_tensor *q, ts_tensor *k, ts_tensor *v,
                                       ts_tensor *mask) {
    const ts_tensor *y = ts_attention(tape, q, k, v, mask, spec);
    ts_tensor *p = ts_attention_weights(tape, q, k, mask, spec);
    const ts_tensor *z = ts_matmul(tape, p, v, false, false);
    const char *name = spec->simplex.map->name;
    const double tolerance = sizeof(ts_real) == sizeof(double) ? 1e-14 : 1e-6;
    ck_assert_msg(ts_tape_error(tape) == NULL, "%s", ts_tape_error(tape));
    ck_assert(ts_shape_equal(&p->shape, &TS_SHAPE(3, 42, 65)));
    for (int64_t i = 0; i < ts_shape_size(&y->shape); i++)
        ck_assert_msg(fabs((double)(y->data[i] - z->data[i])) <= tolerance, "%s: %g, weights times values %g", name,
                      (double)y->data[i], (double)z->data[i]);
    for (int64_t row = 0; row < 3 * 42; row++) {
        double sum = 0;
        bool right = true;
        for (int64_t j = 65 * row; j < 65 * (row + 1); j++) {
            sum += (double)p->data[j];
            right = right && p->data[j] >= 0 && (mask == NULL || mask->data[j] != 0 || p->data[j] == 0);
        }
        ck_assert_msg(right, "%s, row %lld: a weight is negative, or not 0 where it is masked", name, (long long)row);
        ck_assert_double_eq_tol(sum, mask != NULL && row % 42 == 5 ? 0 : 1, tolerance);
    }
}

START_TEST(weights_times_values_equal_attention) {
    for (const ts_simplex *const *map = ts_simplex_maps; *map != NULL; map++)
        for (int score = 0; score < 2; score++)
            for (int masked = 0; masked < 2; masked++) {
                ts_tape_reset(tape);
                ts_tensor *q = ts_constant(tape, TS_SHAPE(3, 42, 7), NULL);
                ts_tensor *k = ts_constant(tape, TS_SHAPE(3, 65, 7), NULL);
                ts_tensor *v = ts_constant(tape, TS_SHAPE(3, 65, 5), NULL);
                ts_tensor *mask = ts_constant(tape, TS_SHAPE(3, 42, 65), NULL);
                fill(q, "q"), fill(k, "k"), fill(v, "v"), fill(mask, "mask");
                for (int64_t i = 0; i < ts_shape_size(&mask->shape); i++)
                    if (mask->data[i] < 0 || i / 65 % 42 == 5) mask->data[i] = 0;
                const ts_attention_spec spec = spec_of(*map, (ts_score)score);
                if (suits(&spec, &q, &k)) check_weights_times_values(&spec, q, k, v, masked ? mask : NULL);
            }
}
END_TEST

/* With the unit matrix as values attention is its weights, to the bit where one division rounds both. */
START_TEST(weights_are_attention_to_unit_values) {
    const ts_real unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    ts_tensor *x = ts_constant(tape, TS_SHAPE(3, 3), NULL), *v = ts_constant(tape, TS_SHAPE(3, 3), unit);
    fill(x, "x");
    ts_attention_spec spec = dot_softmax;
    const ts_tensor *y = ts_attention(tape, x, x, v, NULL, &spec);
    spec.dropout = 0.7; /* not used by the weights */
    const ts_tensor *p = ts_attention_weights(tape, x, x, NULL, &spec);
    ck_assert_mem_eq(p->data, y->data, 9 * sizeof(ts_real));
    const ts_real upstream[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    ts_tensor *q = ts_variable(tape, TS_SHAPE(3, 3), x->data), *k = ts_variable(tape, TS_SHAPE(3, 3), x->data);
    ck_assert_int_eq(ts_backward_from(tape, ts_attention_weights(tape, q, k, NULL, &spec), upstream), TS_OK);
    ts_tensor *same_q = ts_variable(tape, TS_SHAPE(3, 3), x->data),
              *same_k = ts_variable(tape, TS_SHAPE(3, 3), x->data);
    ck_assert_int_eq(ts_backward_from(tape, ts_attention(tape, same_q, same_k, v, NULL, &dot_softmax), upstream),
                     TS_OK);
    ck_assert_mem_eq(q->grad, same_q->grad, 9 * sizeof(ts_real));
    ck_assert_mem_eq(k->grad, same_k->grad, 9 * sizeof(ts_real));
}
END_TEST

/* A row with every key masked has weights of zero and gives no gradient; NaN in excluded keys goes nowhere. */
START_TEST(weights_of_a_fully_masked_row) {
    ts_tensor *q = ts_variable(tape, TS_SHAPE(2, 1), (ts_real[]){1, 2});
    ts_tensor *k = ts_variable(tape, TS_SHAPE(3, 1), (ts_real[]){1, (ts_real)NAN, 1});
    ts_tensor *mask = ts_constant(tape, TS_SHAPE(2, 3), (ts_real[]){1, 0, 1, 0, 0, 0});
    ts_tensor *p = ts_attention_weights(tape, q, k, mask, &dot_softmax);
    const ts_real right[6] = {(ts_real)0.5, 0, (ts_real)0.5, 0, 0, 0};
    ck_assert_mem_eq(p->data, right, sizeof right);
    ck_assert_int_eq(ts_backward_from(tape, p, (ts_real[]){1, 2, 3, 4, 5, 6}), TS_OK);
    ck_assert(q->grad[0] == 0 && q->grad[1] == 0 && k->grad[1] == 0);
    ck_assert(k->grad[0] == (ts_real)-0.5 && k->grad[2] == (ts_real)0.5);
}
END_TEST

/* Near ties far from the origin are decided by differences, not by norms. */
START_TEST(hardmax_far_from_the_origin) {
    ts_tensor *q = ts_constant(tape, TS_SHAPE(4, 1), (ts_real[]){100000, 100000.5f, 100001.5f, 100002});
    ts_tensor *k = ts_constant(tape, TS_SHAPE(2, 1), (ts_real[]){100000, 100002});
    ts_tensor *v = ts_constant(tape, TS_SHAPE(2, 1), (ts_real[]){0, 1});
    const ts_attention_spec spec = {.score = TS_SCORE_EUCLIDEAN, .simplex = {.map = &ts_hardmax_map}, .gamma = 1};
    ts_tensor *y = ts_attention(tape, q, k, v, NULL, &spec);
    ck_assert(y->data[0] == 0 && y->data[1] == 0 && y->data[2] == 1 && y->data[3] == 1);
}
END_TEST

START_TEST(ties_share_or_go_to_the_first) {
    ts_tensor *q = ts_constant(tape, TS_SHAPE(1, 1), (ts_real[]){1});
    ts_tensor *k = ts_constant(tape, TS_SHAPE(2, 1), (ts_real[]){0, 2});
    ts_tensor *v = ts_constant(tape, TS_SHAPE(2, 2), (ts_real[]){1, 0, 0, 1});
    ts_attention_spec spec = {.score = TS_SCORE_EUCLIDEAN, .simplex = {.map = &ts_hardmax_map}, .gamma = 1};
    ts_tensor *y = ts_attention(tape, q, k, v, NULL, &spec);
    ck_assert(y->data[0] == (ts_real)0.5 && y->data[1] == (ts_real)0.5);
    spec.simplex.map = &ts_argmax_map;
    y = ts_attention(tape, q, k, v, NULL, &spec);
    ck_assert(y->data[0] == 1 && y->data[1] == 0);
}
END_TEST

START_TEST(dropout_of_everything_is_zero) {
    ts_attention_spec spec = dot_softmax;
    spec.dropout = 1;
    ts_tensor *x = ts_variable(tape, TS_SHAPE(3, 2), (ts_real[]){1, 2, 3, 4, 5, 6});
    ts_tensor *y = ts_attention(tape, x, x, x, NULL, &spec);
    ck_assert_int_eq(ts_backward(tape, ts_sum(tape, y, TS_ALL_AXES, false)), TS_OK);
    for (int i = 0; i < 6; i++) ck_assert(y->data[i] == 0 && x->grad[i] == 0);
}
END_TEST

/* Dropping a hundredth leaves the mean where it was. */
START_TEST(dropout_keeps_the_mean) {
    ts_attention_spec spec = dot_softmax;
    spec.dropout = 0.3;
    ts_tensor *q = ts_constant(tape, TS_SHAPE(500, 1), NULL), *k = ts_constant(tape, TS_SHAPE(100, 1), NULL);
    ts_tensor *v = ts_add(tape, k, ts_constant(tape, TS_SCALAR, (ts_real[]){1}));
    ts_tensor *mean = ts_mean(tape, ts_attention(tape, q, k, v, NULL, &spec), TS_ALL_AXES, false);
    ck_assert_double_eq_tol((double)mean->data[0], 1, 0.02);
    ck_assert(mean->data[0] != 1);
}
END_TEST

static ts_tensor *masked(ts_tape *t, ts_tensor *const in[], void *context) {
    static const ts_real mask[6] = {1, 0, 1, 0, 0, 0};
    return ts_attention(t, in[0], in[1], in[2], ts_borrow(t, TS_SHAPE(2, 3), mask), context);
}

static ts_tensor *masked_weights(ts_tape *t, ts_tensor *const in[], void *context) {
    static const ts_real mask[6] = {1, 0, 1, 0, 0, 0};
    return ts_attention_weights(t, in[0], in[1], ts_borrow(t, TS_SHAPE(2, 3), mask), context);
}

START_TEST(gradient_through_a_mask) {
    ts_attention_spec spec = dot_softmax;
    const ts_shape shapes[3] = {TS_SHAPE(2, 2), TS_SHAPE(3, 2), TS_SHAPE(3, 2)};
    const ts_real values[6] = {(ts_real)0.3, -1, (ts_real)0.7, (ts_real)1.2, (ts_real)-0.4, (ts_real)0.5};
    const ts_real *const in[3] = {values, values, values};
    ts_gradcheck_report report;
    const double tolerance = sizeof(ts_real) == sizeof(double) ? 1e-7 : 5e-3;
    ts_status status = ts_gradcheck(masked, &spec, 3, shapes, in, NULL, test_seed(), tolerance, &report);
    ck_assert_msg(status == TS_OK, "%s", report.text);
    status = ts_gradcheck(masked_weights, &spec, 2, shapes, in, NULL, test_seed(), tolerance, &report);
    ck_assert_msg(status == TS_OK, "%s", report.text);
    spec.fast = true;
    spec.gamma = 0.3; /* sparsemax gives weight to two keys, and so has a gradient */
    static const ts_simplex *const maps[] = {&ts_softmax_map, &ts_sparsemax_map, &ts_hardmax_map, &ts_linear_map};
    for (int m = 0; m < 8; m++) {
        spec.simplex.map = maps[m / 2];
        spec.score = (ts_score)(m % 2);
        status = ts_gradcheck(masked, &spec, 3, shapes, in, NULL, test_seed(), tolerance, &report);
        ck_assert_msg(status == TS_OK, "%s: %s", spec.simplex.map->name, report.text);
    }
}
END_TEST

#ifdef _OPENMP
/* Output and all gradients, byte for byte, on 1, 2, 3 and 8 threads. */
START_TEST(the_same_bits_on_any_number_of_threads) {
    static ts_real reference[4][6 * 130 * 5];
    for (int t = 0; t < 4; t++) {
        omp_set_num_threads((int[]){1, 2, 3, 8}[t]);
        ts_tape_reset(tape);
        ts_tensor *in[3];
        for (int i = 0; i < 3; i++)
            in[i] = ts_variable(tape, TS_SHAPE(6, 130, 5), NULL), fill(in[i], i == 0 ? "a" : "b");
        ts_attention_spec spec = {
            .score = TS_SCORE_EUCLIDEAN, .simplex = {.map = &ts_softmax_map}, .gamma = 2, .dropout = 0.1};
        ts_tensor *y = ts_attention(tape, in[0], in[1], in[2], NULL, &spec);
        ck_assert_int_eq(ts_backward(tape, ts_sum(tape, ts_square(tape, y), TS_ALL_AXES, false)), TS_OK);
        const ts_real *results[4] = {y->data, in[0]->grad, in[1]->grad, in[2]->grad};
        for (int i = 0; i < 4; i++) {
            if (t == 0) memcpy(reference[i], results[i], sizeof reference[i]);
            ck_assert_mem_eq(reference[i], results[i], sizeof reference[i]);
        }
    }
}
END_TEST

START_TEST(weights_are_the_same_bits_on_any_number_of_threads) {
    static ts_real reference[3][6 * 130 * 130];
    for (int t = 0; t < 4; t++) {
        omp_set_num_threads((int[]){1, 2, 3, 8}[t]);
        ts_tape_reset(tape);
        ts_tensor *q = ts_variable(tape, TS_SHAPE(6, 130, 5), NULL), *k = ts_variable(tape, TS_SHAPE(6, 130, 5), NULL);
        fill(q, "a"), fill(k, "b");
        const ts_attention_spec spec = spec_of(&ts_gumbel_softmax_map, TS_SCORE_EUCLIDEAN);
        ts_tensor *p = ts_attention_weights(tape, q, k, NULL, &spec);
        ck_assert_int_eq(ts_backward(tape, ts_sum(tape, ts_square(tape, p), TS_ALL_AXES, false)), TS_OK);
        const ts_real *results[3] = {p->data, q->grad, k->grad};
        for (int i = 0; i < 3; i++) {
            const size_t bytes = (size_t)(6 * 130) * (i == 0 ? 130 : 5) * sizeof(ts_real);
            if (t == 0) memcpy(reference[i], results[i], bytes);
            ck_assert_mem_eq(reference[i], results[i], bytes);
        }
    }
}
END_TEST
#endif

int main(void) {
    ts_parallel_cutoff = 1000; /* small work meets threads */
    TCase *tests = tape_case();
    tcase_add_test(tests, fully_masked_row);
    tcase_add_test(tests, masked_keys_are_excluded_exactly);
    tcase_add_test(tests, masks_are_zero_or_not);
    tcase_add_test(tests, equals_its_composition);
    tcase_add_test(tests, weights_times_values_equal_attention);
    tcase_add_test(tests, weights_are_attention_to_unit_values);
    tcase_add_test(tests, weights_of_a_fully_masked_row);
    tcase_add_test(tests, hardmax_far_from_the_origin);
    tcase_add_test(tests, ties_share_or_go_to_the_first);
    tcase_add_test(tests, dropout_of_everything_is_zero);
    tcase_add_test(tests, dropout_keeps_the_mean);
    tcase_add_test(tests, gradient_through_a_mask);
#ifdef _OPENMP
    tcase_add_test(tests, the_same_bits_on_any_number_of_threads);
    tcase_add_test(tests, weights_are_the_same_bits_on_any_number_of_threads);
#else
    say_skipped("the_same_bits_on_any_number_of_threads, and of weights", "no OpenMP");
#endif
    return run_case("attention", tests);
}
