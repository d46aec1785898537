/* The op that applies simplex maps along an axis, and the two normalisations. */
#include <math.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/gradcheck.h"
#include "../autograd/parallel.h"
#include "on_tape.h"
#include "simplex_rows.h"

static void check_refused(const char *message) {
    ck_assert_ptr_nonnull(ts_tape_error(tape));
    ck_assert_str_eq(ts_tape_error(tape), message);
    ts_tape_reset(tape);
}

START_TEST(ops_refuse_by_name) {
    const ts_rng rng = {1, 2, 3};
    ts_normmax(tape, ts_variable(tape, TS_SHAPE(2, 3), NULL), -1, 0.5);
    check_refused("simplex_map [2,3]: normmax: alpha must be > 1 and finite, not 0.5");
    ts_gumbel_softmax(tape, ts_variable(tape, TS_SHAPE(3), NULL), 0, 0, true, rng);
    check_refused("simplex_map [3]: gumbel-hardmax: tau must be > 0 and finite, not 0");
    ts_simplex_apply(tape, ts_variable(tape, TS_SHAPE(3), NULL), 0,
                     &(ts_simplex_spec){.map = &ts_top_m_map, .parameter = 1.5});
    check_refused("simplex_map [3]: top-m: the trimmed share F must be >= 0 and < 1, not 1.5");
    ts_softmax(tape, ts_variable(tape, TS_SHAPE(2, 3), NULL), -3);
    check_refused("simplex_map [2,3]: there is no axis -3");
    ts_rms_norm(tape, ts_variable(tape, TS_SHAPE(2, 3), NULL), ts_variable(tape, TS_SHAPE(2), NULL), 2, 2, 0);
    check_refused("rms_norm [2,3] [2]: 2 coordinates from 2 on do not lie in the last axis, 0 to 2");
    ts_rms_norm(tape, ts_variable(tape, TS_SHAPE(2, 3), NULL), ts_variable(tape, TS_SHAPE(2), NULL), 0, 3, 0);
    check_refused("rms_norm [2,3] [2]: the gain must have shape [3]");
    ts_rms_norm(tape, ts_variable(tape, TS_SHAPE(3), NULL), ts_variable(tape, TS_SHAPE(3), NULL), 0, 3, -1);
    check_refused("rms_norm [3] [3]: eps must be >= 0 and finite, not -1");
    ts_rms_norm(tape, ts_variable(tape, TS_SHAPE(3), NULL), ts_variable(tape, TS_SHAPE(3), NULL), 0, 3, NAN);
    ck_assert_ptr_nonnull(strstr(ts_tape_error(tape), "eps must be >= 0 and finite"));
    ts_tape_reset(tape);
    ts_rms_norm(tape, ts_variable(tape, TS_SHAPE(3), NULL), ts_variable(tape, TS_SHAPE(3), NULL), INT64_MAX, INT64_MAX,
                0);
    ck_assert_ptr_nonnull(strstr(ts_tape_error(tape), "do not lie in the last axis"));
}
END_TEST

/* ---- the op ------------------------------------------------------------------------------------------------------ */

/* The generic test of the three ops, where the precision allows it. */
START_TEST(op_cases) {
    static const ts_op *const ops[] = {&ts_op_simplex_map, &ts_op_rms_norm, &ts_op_layer_norm};
    for (const ts_op_case *test = ops[_i]->cases; test->label != NULL; test++) {
        ts_gradcheck_report report;
        if (sizeof(ts_real) != sizeof(double) && test->kind != TS_CASE_REFUSED) continue;
        const ts_status status = ts_op_check(ops[_i], test, test_seed(), 1e-7, &report);
        ck_assert_msg(status == TS_OK, "%s, case '%s': %s", ops[_i]->name, test->label, report.text);
    }
}
END_TEST

START_TEST(rows_are_independent) {
    ts_tensor *x = ts_variable(tape, TS_SHAPE(2, 2), (ts_real[]){1000, 1000, -1000, -1000});
    const ts_tensor *y = ts_softmax(tape, x, 1);
    for (int i = 0; i < 4; i++) ck_assert(y->data[i] == (ts_real)0.5);
}
END_TEST

/* Element (a, b, c) of a map along any axis is what the row through it gives. */
START_TEST(any_axis) {
    const int64_t dim[3] = {3, 4, 5}, step[3] = {20, 5, 1};
    ts_tensor *x = ts_variable(tape, TS_SHAPE(3, 4, 5), NULL);
    double s[60], upstream_row[5], row_s[5], p[5], ds[5];
    ts_real upstream[60];
    random_row(&ts_softmax_map, 1, 2, 60, s);
    for (int i = 0; i < 60; i++) x->data[i] = (ts_real)s[i], upstream[i] = (ts_real)s[59 - i];
    for (int axis = 0; axis < 3; axis++) {
        const probe sparsemax = {&ts_sparsemax_map, 0, true};
        const ts_tensor *y = ts_sparsemax(tape, x, axis - 3);
        if (x->grad != NULL) memset(x->grad, 0, 60 * sizeof *x->grad);
        ck_assert_int_eq(ts_backward_from(tape, ts_sparsemax(tape, x, axis), upstream), TS_OK);
        for (int64_t start = 0; start < 60; start++) {
            if (start / step[axis] % dim[axis] != 0) continue;
            for (int64_t j = 0; j < dim[axis]; j++) {
                row_s[j] = (double)x->data[start + j * step[axis]];
                upstream_row[j] = (double)upstream[start + j * step[axis]];
            }
            weights(&sparsemax, dim[axis], row_s, p), gradient(&sparsemax, dim[axis], row_s, upstream_row, ds);
            for (int64_t j = 0; j < dim[axis]; j++) {
                ck_assert(y->data[start + j * step[axis]] == (ts_real)p[j]);
                ck_assert(x->grad[start + j * step[axis]] == (ts_real)ds[j]);
            }
        }
    }
}
END_TEST

/* A map without gradient writes zeros into one that holds nothing yet. */
START_TEST(no_gradient_is_zeros) {
    static const ts_real values[6] = {1, 4, 2, -1, 0, 3}, upstream[6] = {1, -2, 3, 4, 5, -6};
    int none = 0;
    ts_tape_observe(tape, ts_poison_fresh, NULL);
    for (const ts_simplex *const *map = ts_simplex_maps; *map != NULL; map++) {
        const ts_simplex_spec spec = {.map = *map, .parameter = 0.5};
        if ((*map)->backward != NULL) continue;
        ts_tensor *x = ts_variable(tape, TS_SHAPE(2, 3), values), *z = ts_scale(tape, x, 2);
        ck_assert_int_eq(ts_backward_from(tape, ts_simplex_apply(tape, z, none % 2, &spec), upstream), TS_OK);
        for (int i = 0; i < 6; i++) ck_assert_msg(z->grad[i] == 0 && x->grad[i] == 0, "%s", (*map)->name);
        none++;
    }
    ck_assert_int_ge(none, 4);
}
END_TEST

START_TEST(wrappers_choose_their_maps) {
    const ts_real values[3] = {0, (ts_real)0.5, 1};
    ts_tensor *x = ts_variable(tape, TS_SHAPE(3), values);
    const ts_rng rng = {5, 6, 7};
    ck_assert(ts_hardmax(tape, x, 0)->data[2] == 1);
    ck_assert(ts_normmax(tape, x, 0, INFINITY)->data[1] == (ts_real)0.5);
    ck_assert_double_eq_tol((double)ts_normmax(tape, x, 0, 2)->data[1], 0.311018, 1e-6);
    ck_assert_double_eq_tol((double)ts_linear_normalise(tape, x, 0)->data[1], 1 / 3.0, EPS);
    const ts_tensor *soft = ts_gumbel_softmax(tape, x, 0, 0.5, false, rng),
                    *hard = ts_gumbel_softmax(tape, x, 0, 0.5, true, rng);
    const double largest = fmax(fmax((double)soft->data[0], (double)soft->data[1]), (double)soft->data[2]);
    for (int i = 0; i < 3; i++) ck_assert((hard->data[i] == 1) == ((double)soft->data[i] == largest));
    ck_assert_ptr_null(ts_tape_error(tape));
}
END_TEST

/* ---- normalisation
 * --------------------------------------------------------------------------------------------------- */

static void check_rms(double a, double b, double eps, double right_a, double right_b) {
    ts_tensor *x = ts_variable(tape, TS_SHAPE(1, 2), (ts_real[]){(ts_real)a, (ts_real)b});
    ts_tensor *y = ts_rms_norm(tape, x, ts_variable(tape, TS_SHAPE(2), (ts_real[]){1, 1}), 0, 2, eps);
    ck_assert_double_eq_tol((double)y->data[0], right_a, 1e-6);
    ck_assert_double_eq_tol((double)y->data[1], right_b, 1e-6);
    ck_assert_int_eq(ts_backward_from(tape, y, (ts_real[]){1, 2}), TS_OK);
    ck_assert(isfinite((double)x->grad[0]) && isfinite((double)x->grad[1]));
}

START_TEST(rms_norm_values) {
    check_rms(0, 0, 1e-6, 0, 0);
    check_rms(0, 0, 0, 0, 0);
    check_rms(3, 4, 1e-6, 0.848528, 1.131371);
    check_rms(1e25, 2e25, 1e-6, 0.632456, 1.264911);
    check_rms(1e-3, 0, 1e-6, 0.816497, 0);
    check_rms(1e-30, -1e-30, 0, 1, -1);
    check_rms((double)(sizeof(ts_real) == 4 ? 3e38f : 1.7e308), 0, 1e-6, 1.414214, 0);
}
END_TEST

START_TEST(layer_norm_values) {
    ts_tensor *gain = ts_variable(tape, TS_SHAPE(3), (ts_real[]){1, 1, 2});
    ts_tensor *bias = ts_variable(tape, TS_SHAPE(3), (ts_real[]){0, 10, -1});
    const double third = sqrt(1.5), big = sizeof(ts_real) == 4 ? 1e38 : 8e307;
    static const double rows[4][3] = {{1, 2, 3}, {-1, 0, 1}, {-3, 0, 3}, {0.1, 0.1, 0.1}};
    for (int k = 0; k < 4; k++) {
        const double scale = k == 1 ? 1e-3 : k == 2 ? big / 3 : 1;
        ts_tensor *x = ts_variable(tape, TS_SHAPE(3), NULL);
        for (int i = 0; i < 3; i++) x->data[i] = (ts_real)(scale * rows[k][i]);
        ts_tensor *y = ts_layer_norm(tape, x, gain, bias, 0, 3, 0);
        const double h = k == 3 ? 0 : third;
        ck_assert_double_eq_tol((double)y->data[0], -h, 4 * EPS);
        ck_assert_double_eq_tol((double)y->data[1], 10, 8 * EPS);
        ck_assert_double_eq_tol((double)y->data[2], 2 * h - 1, 8 * EPS);
        ck_assert_int_eq(ts_backward_from(tape, y, (ts_real[]){1, 0, 3}), TS_OK);
        for (int i = 0; i < 3; i++) ck_assert(isfinite((double)x->grad[i]) && (k != 3 || x->grad[i] == 0));
    }
}
END_TEST

START_TEST(coordinates_outside_the_range_pass_unchanged) {
    const ts_real values[10] = {1, 2, 3, 4, (ts_real)INFINITY, -1, -2, -3, -4, (ts_real)0.1};
    const ts_real upstream[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, (ts_real)0.3};
    ts_tensor *gain = ts_variable(tape, TS_SHAPE(2), (ts_real[]){3, 4}), *bias = ts_variable(tape, TS_SHAPE(2), NULL);
    for (int layer = 0; layer < 2; layer++) {
        ts_tensor *x = ts_variable(tape, TS_SHAPE(2, 5), values);
        ts_tensor *y = layer ? ts_layer_norm(tape, x, gain, bias, 2, 2, 1e-5) : ts_rms_norm(tape, x, gain, 2, 2, 1e-5);
        ck_assert_int_eq(ts_backward_from(tape, y, upstream), TS_OK);
        for (int i = 0; i < 10; i++) {
            const bool inside = i % 5 == 2 || i % 5 == 3;
            ck_assert((y->data[i] == values[i]) == !inside && (x->grad[i] == upstream[i]) == !inside);
        }
    }
    ck_assert(bias->grad[0] == 11 && bias->grad[1] == 13);
}
END_TEST

#ifdef _OPENMP
enum { MANY = 500 * 67 };

static void run_all(int64_t *used, ts_real *results) {
    ts_tensor *x = ts_variable(tape, TS_SHAPE(500, 67), NULL), *gain = ts_variable(tape, TS_SHAPE(60), NULL);
    ts_tensor *bias = ts_variable(tape, TS_SHAPE(60), NULL);
    const ts_rng rng = {test_seed(), ts_rng_stream("threads"), 0};
    for (int i = 0; i < MANY; i++) x->data[i] = (ts_real)ts_rng_normal(rng, (uint64_t)i);
    for (int i = 0; i < 60; i++) gain->data[i] = (ts_real)(i + 1), bias->data[i] = (ts_real)0.1;
    ts_tensor *y[5] = {ts_softmax(tape, x, 0), ts_normmax(tape, x, 1, 1.5),
                       ts_gumbel_softmax(tape, x, -1, 0.5, true, rng), ts_rms_norm(tape, x, gain, 3, 60, 1e-5),
                       ts_layer_norm(tape, x, gain, bias, 3, 60, 1e-5)};
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(ts_backward_from(tape, y[i], x->data), TS_OK);
        memcpy(results + *used, y[i]->data, MANY * sizeof *results), *used += MANY;
        memcpy(results + *used, x->grad, MANY * sizeof *results), *used += MANY;
    }
    memcpy(results + *used, gain->grad, 60 * sizeof *results), *used += 60;
    memcpy(results + *used, bias->grad, 60 * sizeof *results), *used += 60;
}

START_TEST(the_same_bits_on_any_number_of_threads) {
    static ts_real results[2][10 * MANY + 120];
    const int before = omp_get_max_threads();
    for (int t = 0; t < 4; t++) {
        int64_t used = 0;
        omp_set_num_threads((int[]){1, 2, 3, 8}[t]);
        ts_tape_reset(tape);
        run_all(&used, results[t > 0]);
        ck_assert_int_eq(used, 10 * MANY + 120);
        if (t > 0) ck_assert(memcmp(results[0], results[1], sizeof results[0]) == 0);
    }
    omp_set_num_threads(before);
}
END_TEST
#endif

int main(void) {
    ts_parallel_cutoff = 1000; /* small work meets threads */
    TCase *tests = tape_case();
    tcase_add_test(tests, ops_refuse_by_name);
    tcase_add_loop_test(tests, op_cases, 0, 3);
    tcase_add_test(tests, rows_are_independent);
    tcase_add_test(tests, any_axis);
    tcase_add_test(tests, no_gradient_is_zeros);
    tcase_add_test(tests, wrappers_choose_their_maps);
    tcase_add_test(tests, rms_norm_values);
    tcase_add_test(tests, layer_norm_values);
    tcase_add_test(tests, coordinates_outside_the_range_pass_unchanged);
#ifdef _OPENMP
    tcase_add_test(tests, the_same_bits_on_any_number_of_threads);
#else
    say_skipped("the_same_bits_on_any_number_of_threads", "no OpenMP");
#endif
    return run_case("simplex op and normalisation", tests);
}
