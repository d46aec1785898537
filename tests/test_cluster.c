/* What `tessera cluster` finds: labels, centres, objectives and reports. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../io/array_writer.h"
#include "program.h"

static double squared_distance(const json_t *report, size_t cluster_number, size_t d, const double *x) {
    double sum = 0;
    for (size_t j = 0; j < d; j++) sum += pow(x[j] - center(report, cluster_number, j), 2);
    return sum;
}

/* Labels are those of nearest centres, and the objective is theirs: whatever path led there. */
static void expect_consistent(const json_t *report, size_t n, size_t d, const double *points) {
    double objective = 0;
    const size_t k = json_array_size(json_object_get(report, "centers"));
    for (size_t i = 0; i < n; i++) {
        ck_assert(label(report, i) >= 0 && (size_t)label(report, i) < k);
        const double cost = squared_distance(report, (size_t)label(report, i), d, points + i * d);
        objective += cost;
        for (size_t c = 0; c < k; c++) ck_assert(cost <= squared_distance(report, c, d, points + i * d) + 1e-12);
    }
    ck_assert_double_eq_tol(number(report, "objective"), objective, 1e-12 * (1 + objective));
}

START_TEST(empty_clusters_by_each_policy) {
    const double points[] = {1, 2, 3}, kept[] = {3, 0, 1.5};
    write_file("x.csv", "1\n2\n3\n");
    write_file("init.csv", "4\n0\n1\n");
    json_t *report = tessera_json("cluster x.csv -k 3 --init init.csv");
    expect_labels(report, "220");
    expect_centers(report, 3, 1, kept);
    ck_assert_double_eq(number(report, "objective"), 0.5);
    ck_assert_double_eq(number(report, "empty_repairs"), 0);
    json_decref(report);
    report = tessera_json("cluster x.csv -k 3 --init init.csv --empty farthest --compare");
    ck_assert_double_eq(number(report, "objective"), 0);
    ck_assert(number(report, "empty_repairs") >= 1);
    ck_assert_double_eq(number(json_object_get(report, "compare"), "label_mismatches"), 0);
    expect_consistent(report, 3, 1, points);
    json_decref(report);
    for (int seed = 0; seed < 5; seed++) {
        report = tessera_json("cluster x.csv -k 3 --init init.csv --empty random --compare --seed %d", seed);
        expect_consistent(report, 3, 1, points);
        ck_assert_double_eq(number(json_object_get(report, "compare"), "max_center_diff"), 0);
        json_decref(report);
    }
    expect_failure(1, "x.csv: ", "cluster x.csv -k 3 --init init.csv --empty error");
}
END_TEST

START_TEST(objective_belongs_to_the_centers_returned) {
    const double centers[] = {0, 9}, initial[] = {0, 4};
    write_file("x.csv", "0\n3\n4\n20\n");
    write_file("init.csv", "0\n4\n");
    json_t *report = tessera_json("cluster x.csv -k 2 --init init.csv --steps 1");
    expect_centers(report, 2, 1, centers);
    expect_labels(report, "0001");
    ck_assert_double_eq(number(report, "objective"), 146);
    ck_assert_double_eq(number(report, "steps"), 1);
    ck_assert(json_is_false(json_object_get(report, "converged")));
    json_decref(report);
    report = tessera_json("cluster x.csv -k 2 --init init.csv --steps 0");
    expect_centers(report, 2, 1, initial);
    expect_labels(report, "0111");
    ck_assert_double_eq(number(report, "objective"), 1 + 256);
    json_decref(report);
}
END_TEST

START_TEST(far_from_the_origin) {
    const double centers[] = {100000.25, 100001.75};
    write_file("x.csv", "100000\n100000.5\n100001.5\n100002\n");
    write_file("init.csv", "100000\n100002\n");
    json_t *report = tessera_json("cluster x.csv -k 2 --init init.csv");
    expect_labels(report, "0011");
    expect_centers(report, 2, 1, centers);
    ck_assert_double_eq(number(report, "objective"), 0.25);
    ck_assert(json_is_true(json_object_get(report, "converged")));
    json_decref(report);
}
END_TEST

START_TEST(close_centers_are_told_apart) {
    write_file("close.csv", "1000000.001,5\n1000000.0012,5\n1000000.004,5\n1000000.0041,5\n");
    ck_assert_int_eq(tessera("cluster close.csv -k 2 --init first"), 0);
    ck_assert_msg(strstr(out, "  1000000.0011             5\n") != NULL, "%s", out);
    ck_assert_msg(strstr(out, " 1000000.00405             5\n") != NULL, "%s", out);
    write_file("close.csv",
               "1700000000000,-2\n1700000000500,-2\n1700000090000,-2\n1700000090500,-2\n1700000200000,-2\n");
    ck_assert_int_eq(tessera("cluster close.csv -k 3 --init gonzalez"), 0);
    ck_assert_msg(strstr(out, "  1700000090250            -2\n") != NULL, "%s", out);
}
END_TEST

START_TEST(extreme_units) {
    static const double units[] = {1e-40, 1e-25, 1e25, 1e60};
    for (int u = 0; u < 4; u++) {
        char text[200];
        snprintf(text, sizeof text, "0\n%g\n%g\n%g\n", units[u], 10 * units[u], 11 * units[u]);
        write_file("x.csv", text);
        json_t *report = tessera_json("cluster x.csv -k 2 --init first --compare");
        expect_labels(report, "0011");
        ck_assert_double_eq_tol(number(report, "objective") / units[u] / units[u], 1, 1e-12);
        json_decref(report);
    }
}
END_TEST

START_TEST(fewer_distinct_rows_than_clusters) {
    write_file("x.csv", "0,0\n0,0\n0,0\n1,0\n1,0\n");
    for (int seed = 0; seed < 10; seed++) {
        json_t *report = tessera_json("cluster x.csv -k 2 --seed %d", seed);
        ck_assert_double_eq(number(report, "objective"), 0);
        ck_assert_int_ne(label(report, 0), label(report, 4));
        ck_assert_str_eq(err, "");
        json_decref(report);
        report = tessera_json("cluster x.csv -k 3 --seed %d", seed);
        ck_assert_double_eq(number(report, "objective"), 0);
        ck_assert_ptr_nonnull(strstr(err, "only 2 distinct rows for k = 3"));
        for (size_t c = 0; c < 3; c++) ck_assert(isfinite(center(report, c, 0)) && isfinite(center(report, c, 1)));
        for (size_t i = 0; i < 5; i++) ck_assert(label(report, i) >= 0 && label(report, i) < 3);
        json_decref(report);
    }
    const double seven[] = {7, 7, 7, 7};
    write_file("seven.csv", "7,7\n7,7\n7,7\n7,7\n");
    json_t *report = tessera_json("cluster seven.csv -k 2");
    ck_assert_double_eq(number(report, "objective"), 0);
    expect_centers(report, 2, 2, seven);
    json_decref(report);
}
END_TEST

START_TEST(stops_when_the_assignments_repeat) {
    write_file("x.csv", ".1\n.2\n.3\n10.1\n10.2\n10.3\n");
    write_file("init.csv", ".1\n10.3\n");
    json_t *report = tessera_json("cluster x.csv -k 2 --init init.csv");
    ck_assert_double_eq(number(report, "steps"), 2);
    ck_assert_double_eq_tol(number(report, "objective"), 0.04, 1e-12);
    ck_assert_ptr_nonnull(strstr(out, "\"centers\": [[0.2], [10.2]]")); /* the shortest decimals */
    json_decref(report);
    report = tessera_json("cluster x.csv -k 2 --init init.csv --steps 7 --steps-exact --compare");
    ck_assert_double_eq(number(report, "steps"), 7);
    ck_assert_double_eq(number(json_object_get(report, "compare"), "label_mismatches"), 0);
    json_decref(report);
}
END_TEST

START_TEST(seeding_of_small_shapes) {
    write_file("wide.csv", "1,2,3,4,5\n5,4,3,2,1\n");
    json_t *report = tessera_json("cluster wide.csv -k 2");
    ck_assert_double_eq(number(report, "objective"), 0);
    ck_assert_double_eq(fabs(center(report, 0, 0) - center(report, 1, 0)), 4);
    json_decref(report);
    const double line[] = {0, 1, 10, 11};
    ts_io_error error;
    ck_assert(ts_array_write("line.npy", &(ts_array_view){TS_ARRAY_FLOAT64, 1, {4}, line, NULL}, &error));
    report = tessera_json("cluster line.npy -k 2");
    ck_assert_double_eq(number(report, "n"), 4);
    ck_assert_double_eq(number(report, "d"), 1);
    ck_assert_double_eq(number(report, "objective"), 1);
    ck_assert_double_eq(center(report, 0, 0) + center(report, 1, 0), 11);
    json_decref(report);
}
END_TEST

START_TEST(iris_against_the_plain_algorithm) {
    json_t *report =
        tessera_json("cluster \"$TESSERA_DATA/iris.csv\" -k 3 --labels-column species --restarts 20 --compare");
    const json_t *compare = json_object_get(report, "compare");
    ck_assert_double_eq_tol(number(report, "objective"), 78.8514, 1e-3);
    ck_assert_double_eq_tol(number(report, "adjusted_rand_index"), 0.7302, 1e-3);
    ck_assert_double_eq(number(compare, "label_mismatches"), 0);
    ck_assert(number(compare, "max_center_diff") <= 1e-5);
    static const char *const keys[] = {"file",      "algorithm", "construction",   "n",
                                       "d",         "k",         "steps",          "converged",
                                       "objective", "criterion", "criterion_name", "empty_repairs",
                                       "trimmed",   "labels",    "centers",        "adjusted_rand_index",
                                       "compare",   "seconds"};
    size_t at = 0;
    const char *key;
    json_t *value;
    json_object_foreach(report, key, value) ck_assert_str_eq(key, keys[at++]);
    ck_assert_uint_eq(at, sizeof keys / sizeof keys[0]);
    json_decref(report);
}
END_TEST

START_TEST(softmax_attention) {
    json_t *report = tessera_json("cluster \"$TESSERA_DATA/iris.csv\" --columns 1-4 -k 3 --gamma 50 --restarts 5");
    ck_assert(number(report, "objective") < 80);
    json_decref(report);
    const int code = tessera("cluster \"$TESSERA_DATA/iris.csv\" --columns 1-4 -k 3 --gamma 1e300");
    ck_assert(code == 0 || code == 1);
    ck_assert_ptr_null(strstr(out, "nan"));
}
END_TEST

START_TEST(scaling) {
    static const struct {
        const char *scaling, *labels;
        double objective;
    } expected[] = {{"none", "011011", 101.5}, {"minmax", "000111", 400}, {"standard", "001111", 325.75}};
    const double points[] = {0, 0, 0, 10, 0, 20, 1, 0, 1, 10, 1, 20};
    write_file("x.csv", "0,0\n0,10\n0,20\n1,0\n1,10\n1,20\n");
    write_file("init.csv", "0,0\n1,10\n");
    for (int i = 0; i < 3; i++) {
        json_t *report = tessera_json("cluster x.csv -k 2 --init init.csv --compare --scaling %s", expected[i].scaling);
        double objective = 0;
        expect_labels(report, expected[i].labels);
        ck_assert_double_eq_tol(number(report, "objective"), expected[i].objective, 1e-9);
        for (size_t p = 0; p < 6; p++)
            objective += squared_distance(report, (size_t)label(report, p), 2, points + 2 * p);
        ck_assert_double_eq_tol(objective, expected[i].objective, 1e-9);
        ck_assert_double_eq(number(json_object_get(report, "compare"), "label_mismatches"), 0);
        json_decref(report);
    }
}
END_TEST

START_TEST(headers_and_columns) {
    static const struct {
        const char *options;
        double n, d;
    } expected[] = {{"x.csv", 3, 3},
                    {"x.csv --header no", 3, 3},
                    {"x.csv --header yes", 2, 3},
                    {"named.csv", 2, 3},
                    {"x.csv --columns 2-3", 3, 2},
                    {"x.csv --columns 1,3", 3, 2},
                    {"named.csv --columns b", 2, 1},
                    {"named.csv --labels-column c", 2, 2},
                    {"named.csv --labels-column 1", 2, 2}};
    write_file("x.csv", "1,2,3\n4,5,6\n7,8,9\n");
    write_file("named.csv", "a,b,c\n1,2,3\n4,5,6\n");
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        json_t *report = tessera_json("cluster %s -k 1", expected[i].options);
        ck_assert_double_eq(number(report, "n"), expected[i].n);
        ck_assert_double_eq(number(report, "d"), expected[i].d);
        json_decref(report);
    }
}
END_TEST

START_TEST(the_locale_changes_nothing) {
    write_file("x.csv", "1.5,2.5\n3.5,4.5\n");
    const double centers[] = {1.5, 2.5, 3.5, 4.5};
    static const char *const locales[] = {"C", "de_DE.UTF-8", "nowhere"};
    for (int i = 0; i < 3; i++) {
        setenv("LC_ALL", locales[i], 1);
        json_t *report = tessera_json("cluster x.csv -k 2 --init first");
        expect_centers(report, 2, 2, centers);
        json_decref(report);
    }
    unsetenv("LC_ALL");
}
END_TEST

START_TEST(six_points_on_any_number_of_threads) {
    write_file("six.csv", "1,2\n1,4\n1,0\n4,2\n4,4\n4,0\n");
    write_file("init.csv", "1,2\n4,2\n");
    static const int threads[] = {1, 2, 8, 64};
    for (int t = 0; t < 4; t++) {
        json_t *report = tessera_json("cluster six.csv -k 2 --init init.csv --threads %d", threads[t]);
        expect_labels(report, "000111");
        ck_assert_double_eq(number(report, "objective"), 16);
        json_decref(report);
    }
    setenv("OMP_NUM_THREADS", "0", 1);
    json_t *report = tessera_json("cluster six.csv -k 2 --init init.csv");
    unsetenv("OMP_NUM_THREADS");
    ck_assert_double_eq(number(report, "objective"), 16);
    json_decref(report);
}
END_TEST

START_TEST(restarts_and_the_report) {
    json_t *one = tessera_json("cluster \"$TESSERA_DATA/faithful.csv\" -k 8 --init random --seed 3");
    json_t *many = tessera_json("cluster \"$TESSERA_DATA/faithful.csv\" -k 8 --init random --seed 3 --restarts 30");
    ck_assert(number(many, "objective") <= number(one, "objective"));
    json_decref(one);
    json_decref(many);
    ck_assert_int_eq(
        tessera("cluster \"$TESSERA_DATA/iris.csv\" --labels-column species -k 3 --init first --restarts 5"), 0);
    ck_assert_ptr_nonnull(strstr(err, "--restarts"));
    ck_assert_ptr_nonnull(strstr(out, "150 rows, 4 features, 3 clusters"));
    ck_assert_ptr_nonnull(strstr(out, "objective"));
    ck_assert_ptr_nonnull(strstr(out, "adjusted Rand index"));
    ck_assert_ptr_nonnull(strstr(out, "sepal_length"));
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, empty_clusters_by_each_policy);
    tcase_add_test(tests, objective_belongs_to_the_centers_returned);
    tcase_add_test(tests, far_from_the_origin);
    tcase_add_test(tests, close_centers_are_told_apart);
    tcase_add_test(tests, extreme_units);
    tcase_add_test(tests, fewer_distinct_rows_than_clusters);
    tcase_add_test(tests, stops_when_the_assignments_repeat);
    tcase_add_test(tests, seeding_of_small_shapes);
    tcase_add_test(tests, iris_against_the_plain_algorithm);
    tcase_add_test(tests, softmax_attention);
    tcase_add_test(tests, scaling);
    tcase_add_test(tests, headers_and_columns);
    tcase_add_test(tests, the_locale_changes_nothing);
    tcase_add_test(tests, six_points_on_any_number_of_threads);
    tcase_add_test(tests, restarts_and_the_report);
    return run_program_case("results of cluster", tests);
}
