/* The algorithms of `tessera cluster`, `--arch`, `--print-arch`, `--weights`, and `tessera verify`, as their users meet
 * them. Each is held against its plain algorithm on real data. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../io/table.h"
#include "../models/definition/variants.h"
#include "../train/tasks.h"
#include "program.h"

/* A file of tasks of the training distribution: shapes of data sets in wide use. */
static void write_task(const char *name, int64_t n, int64_t d, int64_t k) {
    const ts_task_spec spec = {.n = n, .d = d, .k = k, .family = TS_FAMILY_LAPLACE, .scale = 0.1, .anisotropic = true};
    ts_error error = {.status = TS_OK};
    ts_real *points = malloc((size_t)(n * d) * sizeof *points);
    ck_assert_int_eq(ts_task_draw(&spec, 7, 0, 0, points, NULL, &error), TS_OK);
    FILE *file = fopen(name, "wb");
    for (int64_t i = 0; i < n; i++)
        for (int64_t a = 0; a < d; a++)
            fprintf(file, "%.5g%c", 0.5 + 16 * (double)points[i * d + a], a + 1 < d ? ',' : '\n');
    fclose(file);
    free(points);
}

/* One run of an algorithm in a construction: finite, and equal to its plain algorithm. */
static void compare_one(const char *file, int k, const char *algorithm, const char *construction) {
    json_t *r = tessera_json("cluster %s -k %d --algorithm %s --construction %s --compare --steps 30 --threads 2", file,
                             k, algorithm, construction);
    const json_t *compare = json_object_get(r, "compare");
    const double bound =
        strcmp(construction, "dot") == 0 ? 1e-4 : 1e-9; /* sums of dot products are rounded to 32 bits */
    ck_assert_str_eq(word(r, "algorithm"), algorithm);
    ck_assert_str_eq(word(r, "construction"), construction);
    ck_assert_msg(number(compare, "label_mismatches") == 0, "%s %s %s: %g labels differ", file, algorithm, construction,
                  number(compare, "label_mismatches"));
    ck_assert_msg(number(compare, "max_center_diff") <= bound, "%s %s %s: centres differ by %g", file, algorithm,
                  construction, number(compare, "max_center_diff"));
    ck_assert(isfinite(number(r, "objective")) && number(r, "objective") >= 0);
    for (size_t i = 0; i < json_array_size(json_object_get(r, "labels")); i++)
        ck_assert(label(r, i) >= -1 && label(r, i) < k);
    json_decref(r);
}

START_TEST(every_algorithm_is_its_plain_one_on_data_of_real_shape) {
    static const char *const constructions[] = {"onehot", "binary", "dot"};
    char iris[512];
    snprintf(iris, sizeof iris, "\"$TESSERA_DATA/iris.csv\" --labels-column species");
    write_task("wine.csv", 178, 13, 3);
    write_task("digits.csv", 1797, 64, 10);
    for (const ts_variant *v = ts_variants; v->name != NULL; v++)
        for (int s = 0; s < 3; s++) {
            if (strstr(v->constructions, constructions[s]) == NULL) continue;
            compare_one(iris, 3, v->name, constructions[s]);
            compare_one("wine.csv --scaling standard", 3, v->name, constructions[s]);
            compare_one("digits.csv", 10, v->name, constructions[s]);
        }
}
END_TEST

START_TEST(options_that_an_algorithm_does_not_have) {
    write_file("six.csv", "1,2\n1,4\n1,1\n4,2\n4,4\n4,1\n");
    expect_failure(2, "none of lloyd|soft", "cluster six.csv -k 2 --algorithm kmeans");
    expect_failure(2, "soft has no construction binary", "cluster six.csv -k 2 --algorithm soft --construction binary");
    expect_failure(2, "robust trims nothing", "cluster six.csv -k 2 --algorithm robust --trim .1");
    expect_failure(2, "--trim: 1 is not a share", "cluster six.csv -k 2 --algorithm trimmed --trim 1");
    expect_failure(2, "--trim: -0.1 is not a share", "cluster six.csv -k 2 --algorithm trimmed --trim=-0.1");
    expect_failure(2, "--trim: 'much' is not a number", "cluster six.csv -k 2 --algorithm trimmed --trim much");
    expect_failure(2, "--trim: nan is not a share", "cluster six.csv -k 2 --algorithm trimmed --trim nan");
    expect_failure(2, "--fuzziness: lloyd has none", "cluster six.csv -k 2 --fuzziness 2");
    expect_failure(2, "--fuzziness 1: it must be above 1", "cluster six.csv -k 2 --algorithm fuzzy --fuzziness 1");
    expect_failure(2, "--alpha 0.9: it must be above 1", "cluster six.csv -k 2 --algorithm normmax --alpha .9");
    expect_failure(2, "--alpha: trimmed has none", "cluster six.csv -k 2 --algorithm trimmed --alpha 2");
    expect_failure(2, "fuzzy has no gamma", "cluster six.csv -k 2 --algorithm fuzzy --gamma 2");
    expect_failure(2, "fuzzy has no gamma", "cluster six.csv -k 2 --algorithm fuzzy --gamma inf");
    expect_failure(2, "trimming a share needs none", "cluster six.csv -k 2 --algorithm trimmed --trim .1 --gamma 5");
    expect_failure(2, "finite, not inf", "cluster six.csv -k 2 --algorithm soft --gamma inf");
    expect_failure(2, "ties are shared only by exact lloyd", "cluster six.csv -k 2 --algorithm robust --ties share");
    expect_failure(2, "--weights: w.txt2", "cluster six.csv -k 2 --weights w.txt2");
    expect_failure(2, "both would write", "cluster six.csv -k 2 --weights w.npy --trajectory w.npy");
    expect_failure(1, "x: No such file", "cluster six.csv -k 2 --model x");
}
END_TEST

/* Directions, whatever lengths and offsets; the objective is the sum of 1 - cosine. */
START_TEST(spherical) {
    write_file("four.csv", "1,0\n10,0\n0,1\n0,10\n");
    json_t *r = tessera_json("cluster four.csv -k 2 --algorithm spherical --compare");
    ck_assert(label(r, 0) == label(r, 1) && label(r, 2) == label(r, 3) && label(r, 0) != label(r, 2));
    ck_assert_double_eq_tol(number(r, "objective"), 0, 1e-12);
    for (size_t j = 0; j < 2; j++) ck_assert_double_eq_tol(hypot(center(r, j, 0), center(r, j, 1)), 1, 1e-12);
    json_decref(r);
    write_file("far.csv", "1000001,1000000\n1000002,1000000\n1000000,1000003\n1000000,1000001\n");
    r = tessera_json("cluster far.csv -k 1 --algorithm spherical"); /* not shifted: one direction */
    ck_assert_double_eq_tol(center(r, 0, 0), sqrt(0.5), 1e-6);
    json_decref(r);
    write_file("zero.csv", "1,0\n2,1\n0,0\n");
    expect_failure(1, "zero.csv: row 3 is zero: it has no direction", "cluster zero.csv -k 2 --algorithm spherical");
}
END_TEST

START_TEST(trimmed_rows_are_labelled_and_counted) {
    write_file("line.csv", "0\n1\n2\n3\n100\n50\n51\n52\n53\n-40\n");
    write_file("start.csv", "1\n51\n");
    json_t *r =
        tessera_json("cluster line.csv -k 2 --algorithm trimmed --trim .2 --init start.csv --compare --weights w.npy "
                     "--labels l.csv");
    ck_assert_double_eq(number(r, "trimmed"), 2);
    ck_assert_int_eq(label(r, 4), -1);
    ck_assert_int_eq(label(r, 9), -1);
    ck_assert_double_eq_tol(center(r, 0, 0), 1.5, 1e-12);
    ck_assert_double_eq_tol(center(r, 1, 0), 51.5, 1e-12);
    ck_assert_double_eq_tol(number(r, "objective"), 10, 1e-12);
    json_decref(r);
    char *labels = read_file("l.csv", NULL);
    ck_assert_str_eq(labels, "label\n0\n0\n0\n0\n-1\n1\n1\n1\n1\n-1\n");
    free(labels);
    ts_table weights;
    ts_io_error error;
    ck_assert(ts_table_read("w.npy", &(ts_table_options){TS_HEADER_AUTO, NULL, NULL}, &weights, &error));
    ck_assert(weights.rows == 10 && weights.cols == 2);
    ck_assert(weights.values[8] == 0 && weights.values[9] == 0 && weights.values[0] == 1 && weights.values[1] == 0);
    ts_table_free(&weights);
    r = tessera_json("cluster line.csv -k 2 --algorithm trimmed --trim 0 --init start.csv");
    json_t *lloyd = tessera_json("cluster line.csv -k 2 --init start.csv");
    ck_assert(json_equal(json_object_get(r, "centers"), json_object_get(lloyd, "centers")));
    ck_assert(json_equal(json_object_get(r, "labels"), json_object_get(lloyd, "labels")));
    json_decref(r);
    json_decref(lloyd);
    ck_assert_int_eq(tessera("cluster line.csv -k 2 --algorithm trimmed --trim .2 --init start.csv"), 0);
    ck_assert_ptr_nonnull(strstr(out, "trimmed k-means, as a transformer (onehot, trim 0.2)"));
    ck_assert_ptr_nonnull(strstr(out, "rows trimmed          2\n"));
}
END_TEST

START_TEST(medoids_are_rows) {
    write_file("three.csv", "1\n1\n1\n");
    json_t *r = tessera_json("cluster three.csv -k 2 --algorithm kmedoids --init random --compare");
    ck_assert_double_eq(number(r, "objective"), 0);
    ck_assert_int_ne(label(r, 0) + label(r, 1) + label(r, 2), 0); /* each of the two medoids keeps its cluster */
    json_decref(r);
    write_file("line4.csv", "0\n1\n2\n100\n");
    for (int seed = 0; seed < 5; seed++) {
        r = tessera_json("cluster line4.csv -k 1 --algorithm kmedoids --gamma .001 --seed %d", seed);
        ck_assert_double_eq_tol(number(r, "objective"), 101, 1e-9);
        ck_assert_double_eq(center(r, 0, 0), 1); /* 2 costs as much: the lower row */
        json_decref(r);
    }
    write_file("five.csv", "0\n0\n0\n10\n20\n"); /* the three zeros count three times: not 10, which costs 40 */
    for (int seed = 0; seed < 5; seed++) {
        r = tessera_json("cluster five.csv -k 1 --algorithm kmedoids --gamma .01 --seed %d", seed);
        ck_assert(number(r, "objective") == 30 && center(r, 0, 0) == 0);
        json_decref(r);
    }
}
END_TEST

/* Soft rows sum to 1; the report tells the gamma that the data chose. */
START_TEST(weights_of_soft_algorithms) {
    static const char *const soft[] = {"soft", "fuzzy", "soft --construction dot",
                                       "lloyd --gamma 2 --construction binary"};
    for (int a = 0; a < 4; a++) {
        ts_table w;
        ts_io_error error;
        json_t *r =
            tessera_json("cluster \"$TESSERA_DATA/faithful.csv\" -k 3 --scaling standard --weights w.csv --algorithm "
                         "%s",
                         soft[a]);
        if (a == 0) ck_assert(number(r, "gamma") > 0);
        json_decref(r);
        ck_assert(ts_table_read("w.csv", &(ts_table_options){TS_HEADER_NO, NULL, NULL}, &w, &error));
        ck_assert(w.rows == 272 && w.cols == 3);
        double middle = 0;
        for (int64_t i = 0; i < w.rows; i++) {
            ck_assert_double_eq_tol(w.values[3 * i] + w.values[3 * i + 1] + w.values[3 * i + 2], 1, 1e-6);
            middle += w.values[3 * i] > 0.01 && w.values[3 * i] < 0.99;
        }
        ck_assert(middle > 0);
        ts_table_free(&w);
    }
}
END_TEST

/* What --print-arch writes is what ran: read back, it gives the same result. */
START_TEST(definitions_go_out_and_come_back) {
    for (const ts_variant *v = ts_variants; v->name != NULL; v++) {
        const char *data = "\"$TESSERA_DATA/iris.csv\" -k 3 --columns 1-4 --seed 3";
        ck_assert_int_eq(tessera("cluster %s --algorithm %s --print-arch", data, v->name), 0);
        write_file("arch.json", out);
        char *printed = strdup(out);
        json_t *a = tessera_json("cluster %s --steps 20 --algorithm %s", data, v->name);
        json_t *b = tessera_json("cluster %s --steps 20 --arch arch.json", data);
        ck_assert_msg(json_equal(json_object_get(a, "centers"), json_object_get(b, "centers")), "%s", v->name);
        ck_assert(json_equal(json_object_get(a, "labels"), json_object_get(b, "labels")));
        ck_assert_double_eq(number(a, "objective"), number(b, "objective"));
        json_decref(a);
        json_decref(b);
        ck_assert_int_eq(tessera("cluster --arch arch.json --print-arch"), 0);
        ck_assert_str_eq(out, printed);
        free(printed);
    }
    ck_assert_int_eq(tessera("cluster --print-arch --construction binary"), 0);
    ck_assert_ptr_nonnull(strstr(out, "\"tokens\": \"binary\""));
    expect_failure(2, "chooses gamma by the data", "cluster --print-arch --algorithm soft");
    ck_assert_int_eq(tessera("cluster --print-arch --algorithm soft --gamma 2.5"), 0);
    ck_assert_ptr_nonnull(strstr(out, "\"gamma\": 2.5"));
}
END_TEST

/* Options that would do nothing are refused, as --print-arch clusters nothing, and without a file reads nothing. */
START_TEST(print_arch_refuses_what_means_nothing) {
    static const char *const results[] = {
        "labels never.csv", "centers c.csv", "trajectory t.npy", "weights w.npy", "plot never.svg",
        "compare",          "json",          "steps 3",          "steps-exact",   "empty random"};
    static const char *const data[] = {"k 2",    "header no",  "columns 1", "labels-column 2", "scaling minmax",
                                       "seed 1", "restarts 3", "init first"};
    char message[80];
    write_file("six.csv", "1,2\n1,4\n1,1\n4,2\n4,4\n4,1\n");
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        snprintf(message, sizeof message, "--%.*s: --print-arch clusters nothing", (int)strcspn(results[i], " "),
                 results[i]);
        expect_failure(2, message, "cluster --print-arch --%s", results[i]);
        expect_failure(2, message, "cluster six.csv -k 2 --algorithm soft --print-arch --%s", results[i]);
    }
    for (size_t i = 0; i < sizeof data / sizeof *data; i++) {
        snprintf(message, sizeof message, "--%.*s: --print-arch without FILE reads no data", (int)strcspn(data[i], " "),
                 data[i]);
        expect_failure(2, message, "cluster --print-arch --%s", data[i]);
    }
    expect_failure(2, "how many clusters?", "cluster six.csv --print-arch");
    ck_assert(!file_exists("never.csv") && !file_exists("never.svg"));
    ck_assert_int_eq(tessera("cluster six.csv -k 2 --algorithm soft --print-arch --header no --columns 1-2 --seed 1 "
                             "--scaling minmax --init random --restarts 3 --quiet --threads 1"),
                     0);
}
END_TEST

/* Squares of such values vanish; results are still told in their unit, and nothing infinite is printed. */
START_TEST(very_small_data) {
    static const char *const algorithms[] = {"lloyd", "soft", "fuzzy", "trimmed", "kmedoids", "spherical"};
    write_file("small.csv", "0,1e-200\n1e-200,0\n5e-200,3e-200\n5e-200,4e-200\n");
    for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++) {
        json_t *r = tessera_json("cluster small.csv -k 2 --init gonzalez --algorithm %s", algorithms[a]);
        ck_assert_ptr_null(strstr(out, "inf"));
        ck_assert(label(r, 0) != label(r, 2) || label(r, 0) == -1 || a == 3);
        json_decref(r);
    }
    ck_assert_int_eq(tessera("cluster small.csv -k 2 --print-arch"), 0);
    ck_assert_ptr_nonnull(strstr(out, "\"simplex\": \"argmax\", \"gamma\": 1,"));
    expect_failure(1, "in the unit of the file, cross_points: gamma must be",
                   "cluster small.csv -k 2 --print-arch "
                   "--algorithm soft");
}
END_TEST

START_TEST(wrong_definitions) {
    write_file("six.csv", "1,2\n1,4\n1,1\n4,2\n4,4\n4,1\n");
    ck_assert_int_eq(tessera("cluster --print-arch"), 0);
    char *good = strdup(out), bad[2048];
    static const char *const change[][3] = {
        {"\"argmax\"", "\"argmin\"", "bad.json: cross_points.simplex: unknown 'argmin' (softmax, "},
        {"\"query\": \"data\"", "\"query\": \"data[0:9]\"", "bad.json: cross_points.query: data[0:9] is out of range"},
        {"\"score\": \"euclidean\"", "\"identity\": true", "bad.json: cross_points: unknown key 'simplex'"},
        {"\"tokens\": \"onehot\"", "\"tokens\": \"onehot\", \"tokens\": \"dot\"", "duplicate"},
        {"\"name\"", "\"nom\"", "bad.json: unknown key 'nom'"},
        {"\"value\": \"code\"", "\"value\": \"norm\"", "tokens of scheme onehot have no norm"},
        {"\"value\": \"code\"", "\"value\": \"learned\"", "learned projections need a trained model"},
        {"\"simplex\": \"argmax\"", "\"simplex\": \"linear\"", "linear needs scores of 0 or more"},
        {"{", "[", "bad.json: line "}};
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        const char *at = strstr(good, change[i][0]);
        ck_assert_ptr_nonnull(at);
        snprintf(bad, sizeof bad, "%.*s%s%s", (int)(at - good), good, change[i][1], at + strlen(change[i][0]));
        write_file("bad.json", bad);
        expect_failure(1, change[i][2], "cluster six.csv -k 2 --arch bad.json");
    }
    /* infinity times a coordinate of 0 is no number, and neither are the weights that it makes */
    const char *query = strstr(good, "\"query\": \"data\"");
    snprintf(bad, sizeof bad, "%.*s\"query\": [{\"from\": \"data\", \"scale\": 1e300}]%s", (int)(query - good), good,
             query + strlen("\"query\": \"data\""));
    write_file("bad.json", bad);
    write_file("zeros.csv", "0,1\n1,0\n2,2\n");
    expect_failure(1, "zeros.csv: the points' weights are not finite: their scores overflow",
                   "cluster zeros.csv -k 2 --arch bad.json");
    write_file("good.json", good);
    free(good);
    expect_failure(2, "--gamma: the file given by --arch says it all",
                   "cluster six.csv -k 2 --arch good.json --gamma 1");
    expect_failure(2, "--compare: no plain algorithm", "cluster six.csv -k 2 --arch good.json --compare");
    expect_failure(1, "none.json: No such file", "cluster six.csv -k 2 --arch none.json");
    expect_failure(2, "is read by this command", "cluster six.csv -k 2 --arch good.json --labels six.csv");
}
END_TEST

START_TEST(threads_change_nothing) {
    static const char *const algorithms[] = {"soft", "trimmed", "robust", "kmedoids", "fuzzy", "spherical"};
    write_task("many.csv", 6000, 3, 5);
    for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++) {
        char *first = NULL;
        for (int t = 0; t < 3; t++) {
            ck_assert_int_eq(tessera("cluster many.csv -k 5 --steps 6 --algorithm %s --threads %d --weights w.npy",
                                     algorithms[a], (int[]){1, 2, 8}[t]),
                             0);
            if (t > 0) ck_assert_str_eq(out, first);
            if (t == 0) first = strdup(out);
            ck_assert_int_eq(
                shell(t == 0 ? "cp w.npy first.npy >out.txt 2>err.txt" : "cmp w.npy first.npy >out.txt 2>err.txt"), 0);
        }
        free(first);
    }
}
END_TEST

START_TEST(verify) {
    ck_assert_int_eq(tessera("verify --quick --seed 5 --threads 1"), 0);
    ck_assert_ptr_nonnull(strstr(out, "lines pass"));
    ck_assert_ptr_null(strstr(out, "FAIL"));
    char *first = strdup(out);
    ck_assert_int_eq(tessera("verify --quick --seed 5 --threads 2"), 0);
    ck_assert_str_eq(out, first);
    free(first);
    json_t *r = tessera_json("verify --quick");
    const json_t *rows = json_object_get(r, "rows");
    ck_assert(json_is_true(json_object_get(r, "pass")) && json_array_size(rows) >= 70);
    for (size_t i = 0; i < json_array_size(rows); i++)
        ck_assert(number(json_array_get(rows, i), "steps") >= 100 &&
                  number(json_array_get(rows, i), "mismatches") == 0);
    const json_t *figure = json_array_get(json_object_get(r, "figure3"), 0);
    ck_assert(number(figure, "difference") <= 1e-3 && number(figure, "onehot") > 9700);
    /* In the units of the paper, whose sample ends at 4.59: it would be log 25 = 3.22 more in those of the points. */
    const json_t *lloyd = json_object_get(figure, "lloyd"), *runner = json_object_get(figure, "circuit");
    ck_assert_double_eq_tol(json_number_value(json_array_get(lloyd, 0)), 6.44, 1);
    ck_assert_double_eq_tol(json_number_value(json_array_get(lloyd, 10)), 4.59, 0.2);
    ck_assert_double_eq_tol(json_number_value(json_array_get(runner, 10)), 4.59, 0.2);
    json_decref(r);
    ck_assert_int_eq(tessera("verify --quick --seed 135 --quiet"), 0); /* mixed codes as near to each other as can be */
    expect_failure(2, "verify takes options only", "verify quick");
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("variants");
    tcase_add_test(tests, every_algorithm_is_its_plain_one_on_data_of_real_shape);
    tcase_add_test(tests, options_that_an_algorithm_does_not_have);
    tcase_add_test(tests, spherical);
    tcase_add_test(tests, trimmed_rows_are_labelled_and_counted);
    tcase_add_test(tests, medoids_are_rows);
    tcase_add_test(tests, weights_of_soft_algorithms);
    tcase_add_test(tests, definitions_go_out_and_come_back);
    tcase_add_test(tests, print_arch_refuses_what_means_nothing);
    tcase_add_test(tests, very_small_data);
    tcase_add_test(tests, wrong_definitions);
    tcase_add_test(tests, threads_change_nothing);
    tcase_add_test(tests, verify);
    return run_program_case("algorithms of the program", tests);
}
