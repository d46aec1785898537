/* What `tessera cluster` computes of the file's own numbers: nothing is lost in 32 bits, and what is chosen is chosen
 * by what is minimised. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../autograd/rng.h"
#include "../io/table.h"
#include "program.h"

/* ---- digits that 32 bits do not hold ----------------------------------------------------------------------------- */

START_TEST(time_stamps_beside_a_far_value) {
    write_file("stamps.csv", "0\n1700000000\n1700000050\n1700000090\n1700000150\n1700000200\n");
    write_file("start.csv", "0\n1700000000\n1700000200\n");
    json_t *r = tessera_json("cluster stamps.csv -k 3 --init start.csv --construction %s --compare",
                             _i == 0 ? "onehot" : "binary");
    expect_labels(r, "011122");
    ck_assert_double_eq_tol(number(r, "objective"), 15950.0 / 3, 1e-9);
    ck_assert_double_eq_tol(number(r, "criterion"), 15950.0 / 3, 1e-9);
    ck_assert_double_eq(number(json_object_get(r, "compare"), "label_mismatches"), 0);
    ck_assert_double_eq(number(json_object_get(r, "compare"), "max_center_diff"), 0);
    ck_assert_str_eq(err, "");
    json_decref(r);
}
END_TEST

START_TEST(what_a_path_loses_is_said) {
    write_file("stamps.csv", "t,v\n0,7\n1700000000,1\n1700000050,2\n1700000090,8\n1700000150,4\n1700000200,5\n");
    json_decref(tessera_json("cluster stamps.csv -k 3 --init first --algorithm trimmed --trim .1"));
    ck_assert_ptr_nonnull(strstr(err, "in 32 bits, where t loses 2 of its 6 distinct values\n"));
    json_decref(tessera_json("cluster stamps.csv -k 3 --init first"));
    ck_assert_str_eq(err, "");
    json_decref(tessera_json("cluster stamps.csv -k 3 --columns v --init first --algorithm trimmed --trim .1"));
    ck_assert_str_eq(err, "");
}
END_TEST

/* A column that says nothing takes no digits from the others. */
START_TEST(a_constant_column_far_away) {
    static const char *const algorithms[] = {"lloyd", "lloyd --construction dot", "soft", "trimmed", "robust"};
    write_file("day.csv", "x,day\n1,20240101\n2,20240101\n9,20240101\n8,20240101\n");
    for (int i = 0; i < 5; i++) {
        json_t *r = tessera_json("cluster day.csv -k 2 --compare --algorithm %s", algorithms[i]);
        ck_assert_double_eq_tol(number(r, "objective"), 1, 1e-9);
        ck_assert_double_eq(center(r, 0, 1), 20240101);
        ck_assert_double_eq(number(json_object_get(r, "compare"), "label_mismatches"), 0);
        json_decref(r);
    }
}
END_TEST

START_TEST(distances_whose_squares_vanish) {
    write_file("tiny.csv", "0\n1e-300\n3e-300\n4e-300\n");
    json_t *r = tessera_json("cluster tiny.csv -k 2 --algorithm kmedoids --restarts 5");
    ck_assert_double_eq_tol(number(r, "objective"), 2e-300, 1e-312);
    json_decref(r);
}
END_TEST

/* Rows that differ in the eleventh digit are different rows: of seeding, too. */
START_TEST(rows_that_differ_in_late_digits) {
    write_file("late.csv", "1.00000000001,5\n1.00000000002,5\n1.00000000003,5\n7,5\n");
    json_t *r = tessera_json("cluster late.csv -k 4 --compare");
    ck_assert_double_eq(number(r, "objective"), 0);
    ck_assert_str_eq(err, "");
    json_decref(r);
    r = tessera_json("cluster late.csv -k 3 --init gonzalez --json");
    ck_assert_double_gt(number(r, "objective"), 0);
    json_decref(r);
}
END_TEST

/* Two groups of directions in 8 dimensions, 6e-5 apart. */
START_TEST(nearly_parallel_directions) {
    enum { N = 60, D = 8 };
    const ts_rng rng = {test_seed(), ts_rng_stream("parallel"), 0};
    const double angle = 3e-5;
    char group[N + 1] = "";
    FILE *file = fopen("parallel.csv", "w"), *start = fopen("start.csv", "w");
    ck_assert(file != NULL && start != NULL);
    for (int i = 0; i < N; i++) {
        const double length = 0.5 + ts_rng_uniform(rng, (uint64_t)i);
        group[i] = i % 2 == 0 ? '0' : '1';
        for (int a = 0; a < D; a++) {
            const double across = (a % 2 == 0 ? 1 : -1) * (group[i] == '0' ? angle : -angle);
            const double noise = 1e-7 * ts_rng_uniform(rng, (uint64_t)(1000 + i * D + a));
            fprintf(i < 2 ? start : file, "%.17g%c", length * (1 + across + noise), a + 1 < D ? ',' : '\n');
            if (i < 2) fprintf(file, "%.17g%c", length * (1 + across + noise), a + 1 < D ? ',' : '\n');
        }
    }
    fclose(file);
    fclose(start);
    json_t *r = tessera_json("cluster parallel.csv -k 2 --algorithm spherical --init start.csv --compare");
    expect_labels(r, group);
    ck_assert_double_eq(number(json_object_get(r, "compare"), "label_mismatches"), 0);
    ck_assert_double_le(number(json_object_get(r, "compare"), "max_center_diff"), 1e-15);
    ck_assert_double_lt(number(r, "objective"), N * 1e-13); /* the noise; between the groups lie 2e-9 */
    json_decref(r);
}
END_TEST

START_TEST(small_rows_keep_their_direction) {
    write_file("small.csv", "3e-45,1e-45\n6,2\n1e-45,3e-45\n2,6\n3e-120,1e-120\n");
    write_file("start.csv", "1,0\n0,1\n");
    json_t *r = tessera_json("cluster small.csv -k 2 --algorithm spherical --init start.csv --compare");
    expect_labels(r, "00110");
    ck_assert_double_le(number(r, "objective"), 1e-15);
    ck_assert_double_eq(number(json_object_get(r, "compare"), "label_mismatches"), 0);
    json_decref(r);
    write_file("zero.csv", "1,2\n0,0\n");
    ck_assert_int_eq(tessera("cluster zero.csv -k 1 --algorithm spherical"), 1);
    ck_assert_ptr_nonnull(strstr(err, "row 2 is zero: it has no direction"));
}
END_TEST

/* ---- what is chosen ---------------------------------------------------------------------------------------------- */

/* The file, standardised beforehand, as text that loses nothing. */
static void write_standardised(const char *name) {
    ts_table t;
    ts_io_error error;
    char path[512];
    snprintf(path, sizeof path, "%s/faithful.csv", getenv("TESSERA_DATA"));
    ck_assert(ts_table_read(path, NULL, &t, &error));
    FILE *file = fopen(name, "w");
    double mean[2] = {0}, deviation[2] = {0};
    ck_assert(file != NULL && t.cols == 2);
    for (int64_t i = 0; i < 2 * t.rows; i++) mean[i % 2] += t.values[i] / (double)t.rows;
    for (int64_t i = 0; i < 2 * t.rows; i++) deviation[i % 2] += pow(t.values[i] - mean[i % 2], 2) / (double)t.rows;
    for (int64_t i = 0; i < 2 * t.rows; i++)
        fprintf(file, "%.17g%c", (t.values[i] - mean[i % 2]) / sqrt(deviation[i % 2]), i % 2 == 0 ? ',' : '\n');
    fclose(file);
    ts_table_free(&t);
}

START_TEST(restarts_are_ranked_where_steps_are_made) {
    double last = INFINITY;
    write_standardised("standard.csv");
    for (int k = 5; k <= 8; k++) {
        json_t *scaled =
                   tessera_json("cluster \"$TESSERA_DATA/faithful.csv\" -k %d --scaling standard --restarts 20", k),
               *before = tessera_json("cluster standard.csv -k %d --restarts 20", k);
        ck_assert_double_eq_tol(number(scaled, "criterion"), number(before, "objective"), 1e-9);
        ck_assert_str_eq(json_string_value(json_object_get(scaled, "criterion_name")),
                         "sum of squared distances, as scaled");
        ck_assert_double_lt(number(scaled, "criterion"), last);
        last = number(scaled, "criterion");
        json_decref(scaled);
        json_decref(before);
    }
    ck_assert_int_eq(tessera("cluster \"$TESSERA_DATA/faithful.csv\" -k 6 --scaling standard --restarts 20"), 0);
    ck_assert_ptr_nonnull(strstr(out, "  criterion             27.4426"));
    ck_assert_ptr_nonnull(strstr(out, "(sum of squared distances, as scaled)"));
}
END_TEST

/* More restarts never raise what is minimised, whatever the algorithm and the scaling. */
START_TEST(more_restarts_never_rank_worse) {
    static const char *const algorithms[] = {"lloyd",
                                             "lloyd --gamma 3",
                                             "soft --gamma 2",
                                             "spherical",
                                             "trimmed --gamma .01",
                                             "trimmed --trim .1",
                                             "robust --gamma .01",
                                             "fuzzy",
                                             "kmedoids --gamma 2"};
    static const char *const scalings[] = {"none", "minmax", "standard"};
    for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++)
        for (int s = 0; s < 3; s++) {
            double last = INFINITY;
            for (int restarts = 1; restarts <= 16; restarts *= 4) {
                json_t *r = tessera_json(
                    "cluster \"$TESSERA_DATA/faithful.csv\" -k 5 --algorithm %s --scaling %s --restarts %d --steps 30",
                    algorithms[a], scalings[s], restarts);
                ck_assert_double_le(number(r, "criterion"), last);
                last = number(r, "criterion");
                json_decref(r);
            }
        }
}
END_TEST

START_TEST(soft_runs_are_ranked_by_their_free_energy) {
    write_file("pair.csv", "0\n1\n");
    write_file("start.csv", ".25\n.75\n");
    json_t *r = tessera_json("cluster pair.csv -k 2 --gamma 2 --init start.csv --steps 0");
    const double near = exp(-2 * .0625), far = exp(-2 * .5625);
    ck_assert_double_eq_tol(number(r, "criterion"), -log(near + far), 1e-12);
    ck_assert_str_eq(json_string_value(json_object_get(r, "criterion_name")), "free energy");
    json_decref(r);
    r = tessera_json("cluster pair.csv -k 2 --algorithm fuzzy --init start.csv --steps 0");
    ck_assert_double_eq_tol(number(r, "criterion"), 2 / (1 / .0625 + 1 / .5625), 1e-12);
    json_decref(r);
}
END_TEST

/* ---- empty clusters ---------------------------------------------------------------------------------------------- */

START_TEST(refills_that_gain_nothing_end) {
    static const char *const policies[] = {"random", "farthest"};
    write_file("equal.csv", "5\n5\n5\n5\n");
    write_file("tenths.csv", ".1\n.1\n.1\n.7\n.7\n.7\n.7\n.7\n.7\n");
    write_file("start.csv", "5\n9\n");
    for (int p = 0; p < 2; p++) {
        json_t *r = tessera_json("cluster equal.csv -k 2 --init start.csv --empty %s --compare", policies[p]);
        ck_assert_double_eq(number(r, "empty_repairs"), 0);
        ck_assert_double_eq(number(r, "steps"), 2);
        ck_assert(json_is_true(json_object_get(r, "converged")));
        json_decref(r);
        r = tessera_json("cluster tenths.csv -k 5 --empty %s --init random --compare", policies[p]);
        ck_assert(json_is_true(json_object_get(r, "converged")));
        ck_assert_double_eq(number(json_object_get(r, "compare"), "label_mismatches"), 0);
        ck_assert_double_eq(number(r, "objective"), 0);
        json_decref(r);
    }
}
END_TEST

/* ---- what is printed --------------------------------------------------------------------------------------------- */

START_TEST(printed_centres_are_those_of_the_objective) {
    write_file("far.csv", "1000000.25\n1000000.25\n1080000.75\n1080000.75\n");
    ck_assert_int_eq(tessera("cluster far.csv -k 2 --centers c.csv --algorithm %s", _i == 0 ? "lloyd" : "robust"), 0);
    ck_assert_ptr_nonnull(strstr(out, "  objective             0\n"));
    ck_assert_ptr_nonnull(strstr(out, "  1000000.25\n"));
    ck_assert_ptr_nonnull(strstr(out, "  1080000.75\n"));
    char *centers = read_file("c.csv", NULL);
    ck_assert(strcmp(centers, "1000000.25\n1080000.75\n") == 0 || strcmp(centers, "1080000.75\n1000000.25\n") == 0);
    free(centers);
}
END_TEST

START_TEST(the_nearest_centres_of_a_column_are_told_apart) {
    write_file("near.csv", "1234567.25\n1234567.75\n.5\n");
    ck_assert_int_eq(tessera("cluster near.csv -k 3"), 0);
    ck_assert_ptr_nonnull(strstr(out, "  1234567.25\n"));
    ck_assert_ptr_nonnull(strstr(out, "  1234567.75\n"));
    ck_assert_ptr_nonnull(strstr(out, "         0.5\n"));
    write_file("many.csv", "1234567.251\n1234567.252\n1234567.258\n1234568.751\n1234568.752\n1234568.758\n.5\n");
    write_file("start.csv", "1234567.25\n1234568.75\n.5\n");
    ck_assert_int_eq(tessera("cluster many.csv -k 3 --init start.csv"), 0);
    ck_assert_ptr_nonnull(strstr(out, "  1234567.3\n")); /* of ..67.2536667 and ..68.7536667: two digits of 1.5 */
    ck_assert_ptr_nonnull(strstr(out, "  1234568.8\n"));
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("exact");
    tcase_add_loop_test(tests, time_stamps_beside_a_far_value, 0, 2);
    tcase_add_test(tests, what_a_path_loses_is_said);
    tcase_add_test(tests, a_constant_column_far_away);
    tcase_add_test(tests, distances_whose_squares_vanish);
    tcase_add_test(tests, rows_that_differ_in_late_digits);
    tcase_add_test(tests, nearly_parallel_directions);
    tcase_add_test(tests, small_rows_keep_their_direction);
    tcase_add_test(tests, restarts_are_ranked_where_steps_are_made);
    tcase_add_test(tests, more_restarts_never_rank_worse);
    tcase_add_test(tests, soft_runs_are_ranked_by_their_free_energy);
    tcase_add_test(tests, refills_that_gain_nothing_end);
    tcase_add_loop_test(tests, printed_centres_are_those_of_the_objective, 0, 2);
    tcase_add_test(tests, the_nearest_centres_of_a_column_are_told_apart);
    return run_program_case("exact", tests);
}
