/* `tessera cluster` as its users meet it. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../io/array_writer.h"
#include "../io/table.h"
#include "program.h"

static void expect_file(const char *name, const char *text) {
    char *content = read_file(name, NULL);
    ck_assert_msg(content != NULL, "%s is missing", name);
    ck_assert_str_eq(content, text);
    free(content);
}

/* labels as digits, "0011". */
static void expect_labels(const json_t *report, const char *labels) {
    ck_assert_uint_eq(json_array_size(json_object_get(report, "labels")), strlen(labels));
    for (size_t i = 0; labels[i] != '\0'; i++)
        ck_assert_msg(label(report, i) == labels[i] - '0', "label %zu of %s", i, out);
}

static void expect_centers(const json_t *report, size_t k, size_t d, const double *centers) {
    ck_assert_uint_eq(json_array_size(json_object_get(report, "centers")), k);
    for (size_t i = 0; i < k * d; i++) ck_assert_double_eq_tol(center(report, i / d, i % d), centers[i], 1e-6);
}

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
        for (size_t c = 0; c < k; c++) ck_assert(cost <= squared_distance(report, c, d, points + i * d) + 1e-6);
    }
    ck_assert_double_eq_tol(number(report, "objective"), objective, 1e-6 * (1 + objective));
}

/* ---- the command line ---- */

START_TEST(help_and_version) {
    ck_assert_int_eq(tessera("--help"), 0);
    ck_assert_ptr_nonnull(strstr(out, "cluster"));
    ck_assert_int_eq(tessera("--version"), 0);
    ck_assert_int_eq(strncmp(out, "tessera ", 8), 0);
    ck_assert_int_eq(tessera("cluster --help"), 0);
    static const char *const options[] = {"--k K",           "--init",    "--steps T", "--restarts", "--gamma",
                                          "--empty",         "--seed",    "--threads", "--header",   "--columns",
                                          "--labels-column", "--scaling", "--labels",  "--centers",  "--trajectory",
                                          "--plot",          "--compare", "--json"};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) ck_assert_ptr_nonnull(strstr(out, options[i]));
    ck_assert_str_eq(err, "");
}
END_TEST

START_TEST(wrong_command_lines) {
    write_file("six.csv", "1,2\n1,4\n1,0\n4,2\n4,4\n4,0\n");
    expect_failure(2, "which command", " ");
    expect_failure(2, "unknown command 'clutser'", "clutser");
    expect_failure(2, "unknown option '--verison'", "--verison");
    expect_failure(2, "which FILE", "cluster -k 3");
    expect_failure(2, "-k K", "cluster six.csv");
    expect_failure(2, "unknown option '--stepz'", "cluster six.csv -k 3 --stepz 4");
    expect_failure(2, "unknown option '--step'", "cluster six.csv -k 3 --step 4");
    expect_failure(2, "unknown option '-z'", "cluster six.csv -k 3 -z");
    expect_failure(2, "--steps: needs a value", "cluster six.csv -k 3 --steps");
    expect_failure(2, "--json: takes no value", "cluster six.csv -k 3 --json=yes");
    expect_failure(2, "--k: 'abc' is not a whole number", "cluster six.csv -k abc");
    expect_failure(2, "--k: '3x' is not a whole number", "cluster six.csv --k=3x");
    expect_failure(2, "--k: 0 is less than 1", "cluster six.csv -k 0");
    expect_failure(2, "--k: -2 is less than 1", "cluster six.csv -k -2");
    expect_failure(2, "--k: 99999999999999999999 is not between", "cluster six.csv -k 99999999999999999999");
    expect_failure(2, "--threads: 0 is not between 1 and 1024", "cluster six.csv -k 2 --threads 0");
    expect_failure(2, "--threads: -1 is not between 1 and 1024", "cluster six.csv -k 2 --threads -1");
    expect_failure(2, "--seed: '-1'", "cluster six.csv -k 2 --seed -1");
    expect_failure(2, "--gamma: nan", "cluster six.csv -k 2 --gamma nan");
    expect_failure(2, "--gamma: 0", "cluster six.csv -k 2 --gamma 0");
    expect_failure(2, "--empty: 'drop' is none of keep|random|farthest|error", "cluster six.csv -k 2 --empty drop");
    expect_failure(2, "--init: 'best' is none of", "cluster six.csv -k 2 --init best");
    expect_failure(2, "one FILE at a time", "cluster six.csv six.csv -k 2");
    static const char *const columns[] = {"2-1", "0", "1,1", "1-2,2", "1,,2", "1,"};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        expect_failure(2, "six.csv: --columns: ", "cluster six.csv -k 2 --columns %s", columns[i]);
    expect_failure(2, "six.csv: --labels-column: columns count from 1", "cluster six.csv -k 2 --labels-column 0");
    expect_failure(2, "none of lloyd|soft|spherical", "cluster six.csv -k 2 --algorithm kmeans");
    expect_failure(2, "spherical has no construction dot",
                   "cluster six.csv -k 2 --algorithm spherical --construction dot");
}
END_TEST

START_TEST(a_wrong_instruction_set) {
    setenv("TESSERA_ISA", "AVX2", 1);
    expect_failure(2, "TESSERA_ISA is 'AVX2': base, avx2 and avx512 are possible", "verify --help");
    setenv("TESSERA_ISA", "base", 1);
    ck_assert_int_eq(tessera("verify --help"), 0);
    unsetenv("TESSERA_ISA");
}
END_TEST

/* A copy of the one file, in an empty folder, with nothing of the build beside it. */
START_TEST(starts_wherever_it_is_copied) {
    write_file("six.csv", "1,2\n1,4\n1,0\n4,2\n4,4\n4,0\n");
    ck_assert_int_eq(shell("mkdir alone && cp \"$TESSERA\" alone/tessera >out.txt 2>err.txt"), 0);
    ck_assert_int_eq(shell("LD_TRACE_LOADED_OBJECTS=1 alone/tessera >out.txt 2>err.txt; true"), 0);
    ck_assert_msg(strstr(out, "libtessera") == NULL, "%s", out);
    ck_assert_int_eq(shell("(cd alone && ./tessera cluster ../six.csv -k 2 --init first) >out.txt 2>err.txt"), 0);
    ck_assert_ptr_nonnull(strstr(out, "6 rows, 2 features, 2 clusters"));
    ck_assert_int_eq(shell("(cd alone && ./tessera verify --quick --quiet) >out.txt 2>err.txt"), 0);
    ck_assert_msg(strstr(out, "lines pass") != NULL && strstr(out, " double ") != NULL, "%s", out);
}
END_TEST

START_TEST(outputs_are_refused_before_work) {
    write_file("six.csv", "1,2\n1,4\n1,0\n4,2\n4,4\n4,0\n");
    expect_failure(2, "--labels: ", "cluster six.csv -k 2 --labels out.xyz");
    expect_failure(2, "--centers: ", "cluster six.csv -k 2 --centers centers");
    expect_failure(2, "--trajectory: ", "cluster six.csv -k 2 --trajectory t.csv");
    expect_failure(2, ".svg, .png or .pdf", "cluster six.csv -k 2 --plot p.gif");
    expect_failure(2, "both would write", "cluster six.csv -k 2 --labels a.npy --centers a.npy");
    expect_failure(2, "both would write", "cluster six.csv -k 2 --labels fresh.npy --centers ./fresh.npy");
    expect_failure(2, "is read by this command", "cluster six.csv -k 2 --centers ./six.csv");
    expect_failure(1, "nowhere/l.csv", "cluster six.csv -k 2 --labels nowhere/l.csv");
    ck_assert_int_ne(access("a.npy", F_OK), 0);
    if (geteuid() == 0) {
        skip_part("root, to whom every folder is open");
        return;
    }
    mkdir("closed", 0500);
    expect_failure(1, "closed/l.csv", "cluster six.csv -k 2 --labels closed/l.csv");
}
END_TEST

START_TEST(spellings_of_an_option) {
    write_file("line.csv", "0\n1\n10\n11\n");
    static const char *const spellings[] = {"-k 2 line.csv",   "-k2 line.csv",        "--k 2 line.csv",
                                            "line.csv --k=2",  "-k 9 --k=2 line.csv", "-k 2 -- line.csv",
                                            "-k 2 - <line.csv"};
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        json_t *report = tessera_json("cluster %s", spellings[i]);
        ck_assert_double_eq(number(report, "objective"), 1);
        json_decref(report);
    }
}
END_TEST

/* ---- data that cannot be clustered ---- */

START_TEST(bad_data) {
    write_file("six.csv", "1,2\n1,4\n1,0\n4,2\n4,4\n4,0\n");
    write_file("nan.csv", "1,2\nnan,3\n4,5\n");
    write_file("ragged.csv", "1,2\n3\n4,5\n");
    write_file("empty.csv", "");
    write_file("huge.csv", "0,1\n1,1e200\n");
    expect_failure(1, "six.csv: k = 9 but only 6 rows", "cluster six.csv -k 9");
    expect_failure(1, "nan.csv: row 2, column 1", "cluster nan.csv -k 2");
    expect_failure(1, "ragged.csv: row 2", "cluster ragged.csv -k 2");
    expect_failure(1, "empty.csv", "cluster empty.csv -k 1");
    expect_failure(1, "missing.csv", "cluster missing.csv -k 1");
    expect_failure(1, "huge.csv: feature 2", "cluster huge.csv -k 1");
    expect_failure(1, "6", "cluster six.csv -k 2 --columns 6");
    expect_failure(1, "species", "cluster six.csv -k 2 --labels-column species");
}
END_TEST

START_TEST(standard_input_has_a_name) {
    write_file("two.csv", "1\n2\n");
    expect_failure(1, "standard input: k = 3 but only 2 rows", "cluster - -k 3 <two.csv");
    write_file("equal.csv", "1\n1\n2\n");
    ck_assert_int_eq(tessera("cluster - -k 3 <equal.csv"), 0);
    ck_assert_ptr_nonnull(strstr(err, "standard input: only 2 distinct rows for k = 3\n"));
}
END_TEST

START_TEST(initial_centers_of_a_wrong_shape) {
    write_file("six.csv", "1,2\n1,4\n1,0\n4,2\n4,4\n4,0\n");
    write_file("init.csv", "1,2,3\n4,5,6\n");
    expect_failure(1, "[2,3]", "cluster six.csv -k 2 --init init.csv");
    expect_failure(1, "[3,2]", "cluster six.csv -k 3 --init init.csv");
}
END_TEST

/* ---- results ---- */

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
        ck_assert_double_eq_tol(number(report, "objective") / units[u] / units[u], 1, 1e-5);
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
    ck_assert_double_eq_tol(number(report, "objective"), 0.04, 1e-6);
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
        ck_assert_double_eq_tol(number(report, "objective"), expected[i].objective, 1e-4);
        for (size_t p = 0; p < 6; p++)
            objective += squared_distance(report, (size_t)label(report, p), 2, points + 2 * p);
        ck_assert_double_eq_tol(objective, expected[i].objective, 1e-4);
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

/* ---- files ---- */

START_TEST(files_written) {
    write_file("six.csv", "x,y\n1,2\n1,4\n1,0\n4,2\n4,4\n4,0\n");
    write_file("init.csv", "1,2\n4,2\n");
    ck_assert_int_eq(tessera("cluster six.csv -k 2 --init init.csv --labels l.csv --centers c.csv --trajectory t.npy"),
                     0);
    expect_file("l.csv", "label\n0\n0\n0\n1\n1\n1\n");
    expect_file("c.csv", "x,y\n1,2\n4,2\n");
    json_t *report = tessera_json("cluster six.csv -k 2 --init init.csv");
    const double steps = number(report, "steps");
    ck_assert_double_eq(number(report, "objective"), 16);
    json_decref(report);
    size_t size = 0;
    double initial[4], last[4];
    const double expected[] = {1, 2, 4, 2};
    char *trajectory = read_file("t.npy", &size);
    ck_assert_ptr_nonnull(trajectory);
    const size_t header = 10 + (size_t)(unsigned char)trajectory[8] + 256 * (size_t)(unsigned char)trajectory[9];
    ck_assert_uint_eq(size - header, (size_t)(steps + 1) * sizeof expected);
    memcpy(initial, trajectory + header, sizeof initial);
    memcpy(last, trajectory + size - sizeof last, sizeof last);
    for (int i = 0; i < 4; i++) ck_assert(!(fabs(initial[i] - expected[i]) > 0) && !(fabs(last[i] - expected[i]) > 0));
    free(trajectory);
    ts_table labels;
    ts_io_error error;
    ck_assert_int_eq(tessera("cluster six.csv -k 2 --init c.csv --labels l.npy"), 0); /* written centres are read */
    ck_assert(ts_table_read("l.npy", &(ts_table_options){TS_HEADER_AUTO, NULL, NULL}, &labels, &error));
    ck_assert_int_eq(labels.rows, 6);
    ck_assert_double_eq(labels.values[0] + labels.values[5], 1);
    ts_table_free(&labels);
}
END_TEST

/* The same bytes, in every file and report, for any number of threads. "seconds" alone may differ. */
START_TEST(threads_change_nothing) {
    static const char *const files[] = {"labels.npy", "centers.csv", "trajectory.npy", "plot.svg", "out.txt"};
    char *first[5] = {NULL};
    size_t first_size[5] = {0};
    const int n_files = 5;
    FILE *data = fopen("many.csv", "w");
    for (int i = 0; i < 3000; i++) fprintf(data, "%d,%d,%.3f\n", i * 7919 % 1009, i * 104729 % 2003, sin(i) * 500);
    fclose(data);
    const char *plot = have_program("gnuplot") ? "--plot plot.svg" : "";
    if (*plot == '\0') skip_part("no gnuplot");
    for (int t = 0; t < 3; t++) {
        static const int threads[] = {1, 2, 8};
        ck_assert_int_eq(tessera("cluster many.csv -k 7 --restarts 3 --steps 20 --empty farthest --labels labels.npy "
                                 "--centers centers.csv --trajectory trajectory.npy --json %s --threads %d",
                                 plot, threads[t]),
                         0);
        char *seconds = strstr(out, "\"seconds\"");
        ck_assert_ptr_nonnull(seconds);
        *seconds = '\0';
        write_file("out.txt", out);
        for (int f = 0; f < n_files; f++) {
            size_t size = 0;
            char *content = read_file(files[f], &size);
            if (t == 0) {
                first[f] = content;
                first_size[f] = size;
                continue;
            }
            ck_assert_uint_eq(size, first_size[f]);
            ck_assert(content == NULL || memcmp(content, first[f], size) == 0);
            free(content);
        }
    }
    for (int f = 0; f < n_files; f++) free(first[f]);
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

static int count_of(const char *text, const char *part) {
    int count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) count++;
    return count;
}

/* OpenMP reads the environment as the program is loaded; that happens twice, and is not heard twice. */
START_TEST(openmp_speaks_once) {
    write_file("six.csv", "1,2\n1,4\n1,0\n4,2\n4,4\n4,0\n");
    static const char *const settings[] = {"OMP_NUM_THREADS=abc", "OMP_DISPLAY_ENV=true", "OMP_NUM_THREADS=0"};
    static const char *const said[] = {"OMP_NUM_THREADS", "DISPLAY ENVIRONMENT BEGIN", "OMP_NUM_THREADS"};
    for (int i = 0; i < 3; i++) {
        char command[200];
        snprintf(command, sizeof command,
                 "env -u OMP_WAIT_POLICY %s \"$TESSERA\" cluster six.csv -k 2 >out.txt 2>err.txt", settings[i]);
        ck_assert_int_eq(shell(command), 0);
        ck_assert_msg(count_of(err, said[i]) <= 1, "%s", err);
    }
    ck_assert_int_eq(shell("env -u OMP_WAIT_POLICY \"$TESSERA\" cluster none.csv -k 2 >out.txt 2>err.txt"), 1);
    ck_assert_str_eq(err, "tessera: none.csv: No such file or directory\n");
    ck_assert_int_eq(shell("env -u OMP_WAIT_POLICY \"$TESSERA\" --version >out.txt 2>&- && echo >err.txt"), 0);
}
END_TEST

START_TEST(pictures) {
    static const char *const endings[] = {"svg", "png", "pdf"};
    static const char *const magic[] = {"<?xml", "\x89PNG", "%PDF"};
    write_file("it's \"odd\" & <new>.csv", "a'b,c\\d\n1,2\n1,4\n1,0\n4,2\n4,4\n4,0\n");
    ck_assert_int_eq(setenv("ODD", "it's \"odd\" & <new>.csv", 1), 0);
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    expect_failure(1, "gnuplot is not installed", "cluster \"$ODD\" -k 2 --plot p.svg");
    setenv("PATH", path, 1);
    free(path);
    if (!have_program("gnuplot")) {
        skip_part("no gnuplot");
        return;
    }
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "a 'quoted' picture.%s", endings[i]);
        ck_assert_int_eq(tessera("cluster \"$ODD\" -k 2 --plot \"%s\"", name), 0);
        ck_assert_str_eq(err, "");
        char *content = read_file(name, NULL);
        ck_assert_ptr_nonnull(content);
        ck_assert_int_eq(strncmp(content, magic[i], strlen(magic[i])), 0);
        if (i == 0) ck_assert_ptr_nonnull(strstr(content, "it's \"odd\" &amp; &lt;new"));
        free(content);
    }
    static const char *const shapes[] = {"--columns 1 -k 2", "--columns 1-3 -k 3", "--columns 1-4 -k 50",
                                         "--columns 1 -k 1"};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(tessera("cluster \"$TESSERA_DATA/iris.csv\" %s --plot shape.svg", shapes[i]), 0);
    write_file("same.csv", "1,1,1\n1,1,1\n1,1,1\n");
    ck_assert_int_eq(tessera("cluster same.csv -k 2 --plot same.svg"), 0); /* nothing spreads */
}
END_TEST

START_TEST(failures_leave_files_alone) {
    write_file("x.csv", "1\n2\n3\n");
    write_file("init.csv", "4\n0\n1\n");
    write_file("labels.csv", "before\n");
    expect_failure(1, "x.csv", "cluster x.csv -k 3 --init init.csv --empty error --labels labels.csv");
    expect_file("labels.csv", "before\n");
    expect_failure(1, "k = 9", "cluster x.csv -k 9 --labels labels.csv");
    expect_file("labels.csv", "before\n");
    ck_assert_int_eq(tessera("cluster x.csv -k 3 --labels labels.csv"), 0);
    char *labels = read_file("labels.csv", NULL);
    ck_assert_ptr_nonnull(labels);
    ck_assert_int_eq(strncmp(labels, "label\n", 6), 0);
    free(labels);
}
END_TEST

/* A limit on the size of files is met like a full disk: one line, exit 1, nothing left behind. */
START_TEST(files_that_may_not_grow) {
    FILE *file = fopen("many.csv", "wb");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < 3000; i++) fprintf(file, "%d\n", i % 7);
    fclose(file);
    write_file("out.txt", "");
    ck_assert_int_eq(
        shell("(ulimit -f 1; \"$TESSERA\" cluster many.csv -k 2 --labels many_labels.csv >/dev/null 2>err.txt)"), 1);
    ck_assert_ptr_nonnull(strstr(err, "tessera: many_labels.csv: "));
    ck_assert_int_ne(access("many_labels.csv", F_OK), 0);
    ck_assert_int_ne(shell("ls -a | grep tessera- >out.txt 2>err.txt"), 0);
}
END_TEST

START_TEST(names_print_without_control_codes) {
    write_file("codes.csv", "\"a\033[31m\",\"b\nc\"\n1,2\n3,4\n");
    ck_assert_int_eq(tessera("cluster codes.csv -k 2"), 0);
    ck_assert_ptr_null(strchr(out, '\033'));
    ck_assert_ptr_nonnull(strstr(out, "a?[31m"));
    ck_assert_ptr_nonnull(strstr(out, "b?c"));
}
END_TEST

START_TEST(a_failure_is_one_line_whatever_was_warned_of) {
    write_file("equal.csv", "1\n1\n1\n");
    ck_assert_int_eq(tessera("cluster equal.csv -k 2"), 0);
    ck_assert_ptr_nonnull(strstr(err, "warning: "));
    expect_failure(1, "is empty at step", "cluster equal.csv -k 2 --empty error");
}
END_TEST

START_TEST(tiny_columns_can_be_standardised) {
    write_file("tiny.csv", "1e-300,0\n2e-300,0\n5e-300,0\n");
    ck_assert_int_eq(tessera("cluster tiny.csv -k 2 --scaling standard --init first --labels tiny_l.csv"), 0);
    expect_file("tiny_l.csv", "label\n0\n0\n1\n");
    write_file("denormal.csv", "1e-42\n2e-42\n8e-42\n");
    expect_failure(1, "--gamma 1e-300", "cluster denormal.csv -k 2 --gamma 1e-300");
}
END_TEST

START_TEST(full_disks) {
    if (access("/dev/full", W_OK) != 0) {
        skip_test("no /dev/full");
        return;
    }
    write_file("x.csv", "1\n2\n3\n");
    ck_assert_int_eq(symlink("/dev/full", "full.csv"), 0);
    ck_assert_int_eq(symlink("/dev/full", "full.npy"), 0);
    expect_failure(1, "full.csv: No space", "cluster x.csv -k 2 --labels full.csv");
    expect_failure(1, "full.csv: No space", "cluster x.csv -k 2 --centers full.csv");
    expect_failure(1, "full.npy: No space", "cluster x.csv -k 2 --trajectory full.npy");
    static const char *const commands[] = {"cluster x.csv -k 2", "cluster x.csv -k 2 --json", "--help", "--version",
                                           "cluster --help"};
    for (int i = 0; i < 5; i++) {
        char command[200];
        write_file("out.txt", "");
        snprintf(command, sizeof command, "\"$TESSERA\" %s >/dev/full 2>err.txt", commands[i]);
        ck_assert_int_eq(shell(command), 1);
        ck_assert_str_eq(err, "tessera: standard output: No space left on device\n");
        snprintf(command, sizeof command, "\"$TESSERA\" %s >&- 2>err.txt", commands[i]);
        ck_assert_int_eq(shell(command), 1);
        ck_assert_int_eq(strncmp(err, "tessera: standard output: ", 26), 0);
    }
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

/* Tokens of 216 numbers would take thirteen times the data. */
START_TEST(memory_is_less_than_three_times_the_data) {
#ifndef __SANITIZE_ADDRESS__ /* which takes more than it is given */
    enum { ROWS = 1000000, COLUMNS = 16, PROGRAM = 40 << 10 /* KB */ };
    const size_t size = (size_t)ROWS * COLUMNS;
    float *x = malloc(size * sizeof *x);
    ts_io_error error;
    char command[200];
    ck_assert_ptr_nonnull(x);
    for (size_t i = 0; i < size; i++) x[i] = (float)(i * 2654435761u % 1000003) / 1000003;
    ck_assert(ts_array_write("large.npy", &(ts_array_view){TS_ARRAY_FLOAT32, 2, {ROWS, COLUMNS}, x, NULL}, &error));
    free(x);
    snprintf(
        command, sizeof command,
        "ulimit -v %zu && \"$TESSERA\" cluster large.npy -k 200 --init random --steps 2 --threads 1 >out.txt 2>err.txt",
        3 * size * sizeof *x / 1024 + PROGRAM);
    ck_assert_msg(shell(command) == 0, "%s", err);
    remove("large.npy");
#else
    skip_test("no limit of address space under a sanitizer");
#endif
}
END_TEST

int main(void) {
    Suite *suite = suite_create("the program");
    TCase *tests = tcase_create("cluster");
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, help_and_version);
    tcase_add_test(tests, wrong_command_lines);
    tcase_add_test(tests, a_wrong_instruction_set);
    tcase_add_test(tests, starts_wherever_it_is_copied);
    tcase_add_test(tests, outputs_are_refused_before_work);
    tcase_add_test(tests, spellings_of_an_option);
    tcase_add_test(tests, bad_data);
    tcase_add_test(tests, standard_input_has_a_name);
    tcase_add_test(tests, initial_centers_of_a_wrong_shape);
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
    tcase_add_test(tests, files_written);
    tcase_add_test(tests, threads_change_nothing);
    tcase_add_test(tests, six_points_on_any_number_of_threads);
    tcase_add_test(tests, openmp_speaks_once);
    tcase_add_test(tests, pictures);
    tcase_add_test(tests, failures_leave_files_alone);
    tcase_add_test(tests, files_that_may_not_grow);
    tcase_add_test(tests, names_print_without_control_codes);
    tcase_add_test(tests, a_failure_is_one_line_whatever_was_warned_of);
    tcase_add_test(tests, tiny_columns_can_be_standardised);
    tcase_add_test(tests, full_disks);
    tcase_add_test(tests, restarts_and_the_report);
    tcase_add_test(tests, memory_is_less_than_three_times_the_data);
    suite_add_tcase(suite, tests);
    return run_program_suite(suite);
}
