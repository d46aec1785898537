#include <float.h>
#include <math.h>

#include "../models/data/rescaling.h"
#include "../models/data/scores.h"
#include "test_main.h"

static ts_rescaling fit(ts_scaling scaling, int64_t n, int64_t d, const double *table) {
    ts_rescaling r;
    ts_error error = {0};
    ck_assert_int_eq(ts_rescaling_fit(scaling, n, d, table, &r, &error), TS_OK);
    ck_assert_int_eq(r.d, d);
    return r;
}

/* Back to the table from numbers in ts_real. */
static void invert(const ts_rescaling *r, int64_t n, const ts_real *points, double *table) {
    double wide[64];
    for (int64_t i = 0; i < n * r->d; i++) wide[i] = (double)points[i];
    ts_rescaling_invert(r, n, wide, table);
}

static bool keeps(const ts_rescaling *r, int64_t column) {
    return !(fabs(r->shift[column]) > 0) && !(fabs(r->scale[column] - 1) > 0);
}

/* Applies the scaling to the table and back, and expects the points and, to the precision of ts_real, the table again.
 */
static void expect_points(ts_scaling scaling, int64_t n, int64_t d, const double *table, const double *expected) {
    ts_rescaling r = fit(scaling, n, d, table);
    ts_real points[64];
    double back[64];
    ck_assert(n * d <= 64);
    ts_rescaling_apply(&r, n, table, points);
    invert(&r, n, points, back);
    for (int64_t i = 0; i < n * d; i++) {
        ck_assert_double_eq_tol((double)points[i], expected[i], 1e-6);
        ck_assert_double_eq_tol(back[i], table[i], 1e-6 * (1 + r.scale[i % d]));
    }
    ts_rescaling_free(&r);
    ck_assert_ptr_null(r.shift);
}

START_TEST(minmax_maps_columns_to_the_unit_interval) {
    const double table[] = {1, 50, 7, 3, 10, 7, 2, 30, 7}, expected[] = {0, 1, 0, 1, 0, 0, .5, .5, 0};
    expect_points(TS_SCALING_MINMAX, 3, 3, table, expected);
}
END_TEST

START_TEST(standard_has_mean_0_and_population_deviation_1) {
    const double table[] = {1, .1, 3, .1, 5, .1, 7, .1}; /* deviation sqrt 5 */
    const double expected[] = {-3 / sqrt(5), 0, -1 / sqrt(5), 0, 1 / sqrt(5), 0, 3 / sqrt(5), 0};
    expect_points(TS_SCALING_STANDARD, 4, 2, table, expected);
}
END_TEST

START_TEST(none_leaves_ordinary_columns_alone) {
    const double table[] = {.1, -5, .2, 12, 10.3, 3};
    expect_points(TS_SCALING_NONE, 3, 2, table, table);
    ts_rescaling r = fit(TS_SCALING_NONE, 3, 2, table);
    ck_assert(keeps(&r, 0) && keeps(&r, 1));
    ts_rescaling_free(&r);
}
END_TEST

START_TEST(none_keeps_the_digits_of_a_column_far_away) {
    const double table[] = {1e9 + .25, 1e9, 1e9 + .5, 1e9, 1e9 + 1.25, 1e9}; /* and a constant one */
    ts_rescaling r = fit(TS_SCALING_NONE, 3, 2, table);
    ts_real points[6];
    double back[6];
    ck_assert_double_eq(r.shift[0], 1e9 + .25);
    ck_assert_double_eq(r.shift[1], 1e9); /* of which 32 bits hold not all, nor their squares */
    ts_rescaling_apply(&r, 3, table, points);
    invert(&r, 3, points, back);
    for (int i = 0; i < 6; i++) ck_assert_double_eq(back[i], table[i]);
    ts_rescaling_free(&r);
}
END_TEST

START_TEST(none_brings_extreme_magnitudes_into_range) {
    static const double magnitudes[] = {1e-300, 1e-30, 1e30, 1e99};
    for (int m = 0; m < 4; m++) {
        const double table[] = {0, 1 * magnitudes[m], 3 * magnitudes[m], -2 * magnitudes[m]};
        ts_rescaling r = fit(TS_SCALING_NONE, 2, 2, table);
        ts_real points[4];
        double back[4];
        ck_assert_double_eq(r.scale[0], r.scale[1]); /* one unit for all columns, or distances would change */
        ts_rescaling_apply(&r, 2, table, points);
        invert(&r, 2, points, back);
        for (int i = 0; i < 4; i++) {
            ck_assert(fabs((double)points[i]) <= 4);
            ck_assert_double_eq_tol(back[i], table[i], 1e-6 * magnitudes[m]);
        }
        ts_rescaling_free(&r);
    }
}
END_TEST

static bool differ(int64_t size, const ts_real *points, const double *exact) {
    bool some = false;
    for (int64_t i = 0; i < size; i++) some = some || fabs((double)points[i] - exact[i]) > 0;
    return some;
}

START_TEST(a_table_becomes_points) {
    const int64_t ns[] = {1, 2, 3, 5, 8, 9, 3000}, ds[] = {1, 2, 3, 20};
    for (int i = 0; i < 7 * 4; i++) {
        const int64_t n = ns[i % 7], d = ds[i / 7], size = n * d;
        double *table = malloc((size_t)size * sizeof *table);
        ts_real *points = malloc((size_t)size * sizeof *points);
        ck_assert(table != NULL && points != NULL);
        for (int64_t l = 0; l < size; l++) table[l] = fmod((double)l * 0.37, 1) * (double)(1 + l % d) - 3;
        ts_rescaling r = fit(TS_SCALING_STANDARD, n, d, table);
        ts_rescaling_apply(&r, n, table, points);
        double *expected = malloc((size_t)size * sizeof *expected), *exact = NULL;
        ts_real *converted = NULL;
        ck_assert_ptr_nonnull(expected);
        ts_rescaling_apply_exactly(&r, n, table, expected);
        ck_assert(ts_rescaling_convert(&r, n, table, &converted, &exact));
        ck_assert_mem_eq(converted, points, (size_t)size * sizeof *points);
        ck_assert((exact != NULL) == differ(size, points, expected));
        if (exact != NULL) ck_assert_mem_eq(exact, expected, (size_t)size * sizeof *exact);
        ts_rescaling_free(&r);
        free(converted);
        free(exact);
        free(expected);
        free(points);
    }
}
END_TEST

START_TEST(refuses_what_would_overflow) {
    const double table[] = {0, 1, 2, -1e200};
    for (int scaling = TS_SCALING_NONE; scaling <= TS_SCALING_STANDARD; scaling++) {
        ts_rescaling r;
        ts_error error = {0};
        ck_assert_int_eq(ts_rescaling_fit((ts_scaling)scaling, 2, 2, table, &r, &error), TS_ERROR_VALUE);
        ck_assert_ptr_nonnull(strstr(error.text, "feature 2"));
        ck_assert_ptr_null(r.shift);
        ts_rescaling_free(&r);
    }
}
END_TEST

START_TEST(objective_is_in_the_units_of_the_table) {
    const double table[] = {0, 100, 2, 300, 10, 200, 14, 200};
    const int64_t labels[] = {0, 0, 1, 1};
    const double centers[] = {1, 200, 12, 200};
    for (int scaling = TS_SCALING_NONE; scaling <= TS_SCALING_STANDARD; scaling++) {
        ts_rescaling r = fit((ts_scaling)scaling, 4, 2, table);
        ts_real points[8];
        double exact[8], scaled_centers[4];
        ts_rescaling_apply(&r, 4, table, points);
        ts_rescaling_apply_exactly(&r, 4, table, exact);
        ts_rescaling_apply_exactly(&r, 2, centers, scaled_centers);
        const ts_points rounded = {4, 2, points, NULL}, all = {4, 2, points, exact};
        ck_assert_double_eq_tol(ts_cost_of(TS_COST_SQUARED, &rounded, r.scale, scaled_centers, labels), 20010, 1e-2);
        ck_assert_double_eq_tol(ts_cost_of(TS_COST_SQUARED, &all, r.scale, scaled_centers, labels), 20010, 1e-9);
        ts_rescaling_free(&r);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, minmax_maps_columns_to_the_unit_interval);
    tcase_add_test(tests, standard_has_mean_0_and_population_deviation_1);
    tcase_add_test(tests, none_leaves_ordinary_columns_alone);
    tcase_add_test(tests, none_keeps_the_digits_of_a_column_far_away);
    tcase_add_test(tests, none_brings_extreme_magnitudes_into_range);
    tcase_add_test(tests, a_table_becomes_points);
    tcase_add_test(tests, refuses_what_would_overflow);
    tcase_add_test(tests, objective_is_in_the_units_of_the_table);
    return run_case("rescaling", tests);
}
