/* `tessera bench` on shapes too small to take time: its reports, and what it counts as useful work. Its peers are in
 * test_bench_peers.c. TESSERA is the path of the program. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../bench/bench_statistics.h"
#include "../bench/bench_work.h"
#include "program.h"

static int whole(const json_t *object, const char *key) {
    return (int)number(object, key);
}

/* Succeeds, and says nothing on standard error. */
static void bench(const char *words) {
    const int code = tessera("bench --quick %s", words);
    ck_assert_msg(code == 0, "%s: exit %d: %s", words, code, err);
    ck_assert_str_eq(err, "");
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum { ROWS = 19 };

/* The whole table, measured once for all tests of it: its report, and the files t.csv, t.md and, with gnuplot, t.svg.
 */
static json_t *whole_table(void) {
    if (!file_exists("t.json")) {
        json_decref(tessera_json("bench --quick --peers none --csv t.csv --markdown t.md %s",
                                 have_program("gnuplot") ? "--plot t.svg" : ""));
        write_file("t.json", out);
    }
    return json_load_file("t.json", 0, NULL);
}

START_TEST(the_table_as_json) {
    json_t *report = whole_table();
    const json_t *works = json_object_get(report, "works"), *machine = json_object_get(report, "machine");
    ck_assert_uint_eq(json_array_size(works), ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        const json_t *row = json_array_get(works, i);
        const bool clusters = strncmp(word(row, "work"), "cluster", 7) == 0;
        ck_assert_double_gt(number(row, "median_ms"), 0);
        ck_assert_double_le(number(row, "least_ms"), number(row, "median_ms"));
        ck_assert_double_ge(number(row, "most_ms"), number(row, "median_ms"));
        ck_assert_double_gt(number(row, "peak_megabytes"), 0);
        ck_assert_int_eq(whole(row, "runs"), 1);
        ck_assert_str_eq(word(row, "state"), "measured");
        ck_assert_str_eq(word(row, "reason"), "");
        ck_assert_uint_eq(json_array_size(json_object_get(row, "peers")), 0);
        ck_assert(json_is_null(json_object_get(row, "gflops")) == clusters);
        ck_assert(json_is_null(json_object_get(row, "share_of_peak")) == clusters);
        ck_assert(json_is_null(json_object_get(row, "multiple_of_data")) != clusters);
    }
    ck_assert_double_gt(number(machine, "peak_gflops_one_thread"), 0);
    ck_assert_double_gt(number(machine, "bandwidth_gb"), 0);
    ck_assert(json_is_boolean(json_object_get(machine, "cores_are_shared")));
    json_decref(report);
}
END_TEST

START_TEST(the_table_as_files) {
    json_decref(whole_table());
    char *csv = read_file("t.csv", NULL), *markdown = read_file("t.md", NULL);
    ck_assert_int_eq(count_of(csv, "\n"), 1 + ROWS);
    ck_assert_ptr_eq(strstr(csv, "work,what,who,state,runs,median_ms,least_ms,most_ms,gflops,share_of_peak,"), csv);
    ck_assert_ptr_nonnull(strstr(csv, "\ntrain-1024x100,\"training step\",\"tessera\",measured,1,"));
    ck_assert_ptr_nonnull(strstr(csv, "\nattention-128,\"backward, dropout .01\",\"tessera\",measured,1,"));
    ck_assert_ptr_nonnull(strstr(csv, "\ncluster-100,\"plain Lloyd\",\"tessera\",measured,1,"));
    ck_assert_ptr_nonnull(strstr(csv, "\nlong,\"n = 256\",\"tessera\",measured,1,"));
    ck_assert_ptr_nonnull(strstr(markdown, "\n* peak of multiply-adds "));
    ck_assert_ptr_nonnull(strstr(markdown, "\n| train-512 | training step | 1 | **"));
    free(csv);
    free(markdown);
}
END_TEST

START_TEST(the_table_as_text) {
    bench("--only train-512,long");
    ck_assert_int_eq(count_of(out, "\n"), 2 + 1 + 1 + 1 + (1 + 3) + (strstr(out, "\nwarning: ") != NULL));
    ck_assert_ptr_nonnull(strstr(out, "\ntrain-512       training step                      1 "));
    ck_assert_ptr_nonnull(strstr(out, "\nlong            n = 256                            1 "));
}
END_TEST

START_TEST(some_of_the_works) {
    json_t *report = tessera_json("bench --quick --only long,train-128 --runs 3 --threads 1");
    const json_t *works = json_object_get(report, "works");
    ck_assert_uint_eq(json_array_size(works), 4);
    ck_assert_str_eq(word(json_array_get(works, 0), "work"), "train-128");
    ck_assert_str_eq(word(json_array_get(works, 1), "what"), "n = 64");
    ck_assert_int_eq(whole(json_array_get(works, 3), "runs"), 3);
    ck_assert_int_eq(whole(json_object_get(report, "machine"), "threads"), 1);
    json_decref(report);
}
END_TEST

START_TEST(wrong_command_lines) {
    static const char *const list[][2] = {
        {"--only train-1", "--only: 'train-1' is none of train-512, train-128,"},
        {"--only train-512,", "--only: '' is none of"},
        {"--profile --only long", "--only: 'long' is none of train-512, train-128, train-512x4, train-1024x100"},
        {"--scaling --only long", "--only: 'long' is none of train-n, train-d,"},
        {"--profile --scaling", "--profile and --scaling: one of them"},
        {"--profile --plot p.svg", "--plot: a profile has no picture"},
        {"--profile --peers auto", "--peers: only the table has peers"},
        {"--scaling --peers auto", "--peers: only the table has peers"},
        {"--scaling --patience 5", "--patience: only the table has peers"},
        {"--only 'train-512, train-128'", "--only: 'train-512, train-128': commas without blanks"},
        {"--peers some", "--peers: 'some' is none of auto|none"},
        {"--runs 0", "--runs: 0 is not between 1 and 101"},
        {"--plot p.gif", "--plot: p.gif: the name must end in"},
        {"--csv same --markdown same", "--csv and --markdown: both would write same"},
        {"serve", "bench takes options only, not 'serve'"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        expect_failure(2, list[i][1], "bench --quick %s", list[i][0]);
    expect_failure(1, "nowhere/t.csv: No such file", "bench --quick --csv nowhere/t.csv");
    ck_assert_int_eq(tessera("bench --help"), 0);
    ck_assert_ptr_nonnull(strstr(out, "TESSERA_PYTHON"));
}
END_TEST

START_TEST(pictures) {
    if (!have_program("gnuplot")) {
        skip_test("no gnuplot");
        return;
    }
    json_decref(whole_table());
    bench("--only cluster-10 --plot narrow.svg");
    bench("--scaling --only train-n,cluster-plain --plot scaling.svg");
    char *table = read_file("t.svg", NULL), *scaling = read_file("scaling.svg", NULL);
    ck_assert_ptr_nonnull(strstr(table, "</svg>"));
    ck_assert_ptr_nonnull(strstr(table, "attention-512"));
    ck_assert_ptr_nonnull(strstr(table, "backward, dropout .01"));
    ck_assert_ptr_nonnull(strstr(scaling, "</svg>"));
    ck_assert_ptr_nonnull(strstr(scaling, "cluster-plain: d = 4, k = 3"));
    free(table);
    free(scaling);
    /* A chart of two lines has room for its title all the same. */
    char *narrow = read_file("narrow.svg", NULL);
    const char *width = strstr(narrow, "width=\"");
    ck_assert_ptr_nonnull(width);
    ck_assert_int_eq(strtol(width + 7, NULL, 10), 480);
    ck_assert_ptr_nonnull(strstr(narrow, "Time of a repetition"));
    free(narrow);
}
END_TEST

/* Both axes of every panel have a name, and a unit. */
START_TEST(scaling_as_drawn) {
    char *script = script_of("bench --quick --scaling --only train-n,cluster-plain --plot scaling.svg");
    expect_readable(script);
    expect_drawn(script, "'ms a step' at screen 0.0");
    expect_drawn(script, "'MB added' at screen 0.5");
    expect_drawn(script, "'n' at screen");
    expect_drawn(script, "'train-n: ");
    expect_drawn(script, "'time as n^");
    free(script);
}
END_TEST

/* ---- what does not fit, or breaks -------------------------------------------------------------------------------- */

/* One line on standard error, beside a report. */
static void expect_message(const char *message) {
    ck_assert_msg(strncmp(err, "tessera: ", 9) == 0 && strstr(err, message) != NULL, "%s", err);
    ck_assert_int_eq(count_of(err, "\n"), 1);
}

/* Does the program run with so little address space? Not when its memory is watched by a sanitiser. */
static bool runs_in(int kilobytes) {
    char command[128];
    snprintf(command, sizeof command, "ulimit -v %d; \"$TESSERA\" --version >/dev/null 2>&1", kilobytes);
    return system(command) == 0;
}

/* With less address space than a work needs: that work's row says so, the others are measured, all is written. */
START_TEST(works_that_fail) {
    if (!runs_in(120000)) {
        skip_test("no limit of address space under a sanitizer");
        return;
    }
    ck_assert_int_eq(shell("ulimit -v 120000; \"$TESSERA\" bench --only train-128,cluster-10 --runs 1 --peers none "
                           "--threads 1 --csv f.csv --markdown f.md >out.txt 2>err.txt"),
                     1);
    char *csv = read_file("f.csv", NULL), *markdown = read_file("f.md", NULL);
    ck_assert_ptr_nonnull(strstr(csv, "\ntrain-128,\"training step\",\"tessera\",measured,1,"));
    ck_assert_ptr_nonnull(strstr(csv, "\ncluster-10,\"plain Lloyd\",\"tessera\",failed,0,,,,,,,,,\"out of memory"));
    ck_assert_ptr_nonnull(strstr(markdown, "\n| cluster-10 | plain Lloyd | | failed: out of memory"));
    ck_assert_ptr_nonnull(strstr(markdown, "; memory not measured\n"));
    ck_assert_ptr_nonnull(strstr(out, "cluster-10      plain Lloyd                     failed: out of memory"));
    ck_assert_ptr_nonnull(strstr(out, "; memory not measured\n"));
    expect_message("cluster-10, transformer: out of memory");
    ck_assert_ptr_nonnull(strstr(err, "(and 1 more failed)"));
    free(csv);
    free(markdown);
}
END_TEST

/* A process that a signal ends says which. */
START_TEST(works_that_are_killed) {
    ck_assert_int_eq(shell("ulimit -S -t 1; \"$TESSERA\" bench --only train-1024x100 --runs 101 --peers none >out.txt "
                           "2>err.txt"),
                     1);
    expect_message("train-1024x100, training step: ended by signal 24 (CPU time limit exceeded)");
    ck_assert_ptr_nonnull(strstr(out, "failed: ended by signal 24"));
}
END_TEST

/* An output that cannot be written does not take the others with it. */
START_TEST(outputs_that_fail) {
    ck_assert_int_eq(tessera("bench --quick --only train-128 --csv /dev/full --markdown m.md"), 1);
    ck_assert_ptr_nonnull(strstr(err, "/dev/full"));
    ck_assert_ptr_nonnull(strstr(out, "\ntrain-128 "));
    ck_assert(file_exists("m.md"));
}
END_TEST

/* The sizes before the first that does not fit stay, and the others are named. */
START_TEST(sizes_that_do_not_fit) {
    if (!runs_in(220000)) {
        skip_test("no limit of address space under a sanitizer");
        return;
    }
    ck_assert_int_eq(shell("ulimit -v 220000; \"$TESSERA\" bench --scaling --only cluster-exact --runs 1 --threads 1 "
                           "--csv l.csv >out.txt 2>err.txt"),
                     0);
    ck_assert_str_eq(err, "");
    char *csv = read_file("l.csv", NULL);
    ck_assert_int_eq(count_of(csv, "\n"), 1 + 9);
    ck_assert_ptr_nonnull(strstr(csv, "\ncluster-exact,n,100000,measured,1,"));
    ck_assert_ptr_nonnull(strstr(csv, "\ncluster-exact,n,10000000,skipped,0,,,,,,"));
    ck_assert_ptr_nonnull(strstr(out, "\n  skipped: "));
    ck_assert_ptr_nonnull(strstr(out, ", 10000000\n"));
    free(csv);
}
END_TEST

/* A size that a signal ends is a failure, and the smaller ones stay all the same. */
START_TEST(sizes_that_are_killed) {
    ck_assert_int_eq(
        shell("ulimit -S -t 1; \"$TESSERA\" bench --scaling --only train-n --runs 1 --threads 1 --csv k.csv >out.txt "
              "2>err.txt"),
        1);
    expect_message(": ended by signal 24 (CPU time limit exceeded)");
    char *csv = read_file("k.csv", NULL);
    ck_assert_int_eq(count_of(csv, "\n"), 1 + 10);
    ck_assert_ptr_nonnull(strstr(csv, "\ntrain-n,n,128,measured,1,"));
    ck_assert_ptr_nonnull(strstr(csv, ",failed,0,,,,,,\"ended by signal 24"));
    ck_assert_ptr_nonnull(strstr(out, "\n  failed: "));
    free(csv);
}
END_TEST

/* The threads that there are, not those that were asked for. */
START_TEST(threads_that_there_are) {
    ck_assert_int_eq(shell("OMP_THREAD_LIMIT=1 \"$TESSERA\" bench --quick --only train-128 --threads 8 >out.txt "
                           "2>err.txt"),
                     0);
    ck_assert_msg(strstr(out, " on 1 thread (8 were asked for), ") != NULL || strstr(out, " on 1 thread, ") != NULL,
                  "%s", out);
    ck_assert_ptr_null(strstr(out, "warning"));
    ck_assert_int_eq(shell("OMP_THREAD_LIMIT=1 \"$TESSERA\" bench --quick --scaling --only train-threads --threads 8 "
                           "--csv one.csv >out.txt 2>err.txt"),
                     0);
    char *csv = read_file("one.csv", NULL);
    ck_assert_int_eq(count_of(csv, "\n"), 1 + 1);
    free(csv);
}
END_TEST

/* ---- ours, as it is asked ---------------------------------------------------------------------------------------- */

START_TEST(a_process_that_is_asked) {
    ck_assert_int_eq(
        shell("printf 'memory\\nrun train 12 4 3 2\\nrun nothing 1 2 3 4\\nrun train 2 4 3 2\\nwhat\\npeak 1\\n' "
              "| \"$TESSERA\" bench serve 1 >out.txt 2>err.txt"),
        0);
    char *line = strtok(out, "\n");
    const char *const expected[] = {
        "ready", NULL, NULL, "error there is no 'nothing'", "error ", "error what is asked?", NULL};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++, line = strtok(NULL, "\n")) {
        ck_assert_msg(line != NULL, "line %zu is missing", i);
        if (expected[i] != NULL)
            ck_assert_msg(strncmp(line, expected[i], strlen(expected[i])) == 0, "line %zu: %s", i, line);
        else
            ck_assert_msg(strtod(line, NULL) > 0, "line %zu: %s", i, line);
    }
    ck_assert_ptr_null(line);
    ck_assert_str_eq(err, "");
}
END_TEST

/* The arrays of the triad are memory, and not a page of zeros read again and again. */
START_TEST(bandwidth_of_memory) {
    ck_assert_int_eq(
        shell("printf 'bandwidth 2 60\\nbandwidth 2 60\\nmemory\\n' | \"$TESSERA\" bench serve 2 >out.txt"), 0);
    const char *last = out;
    for (int line = 0; line < 3; line++) last = strchr(last, '\n') + 1;
    ck_assert_msg(strtod(last, NULL) > 3 * 60e6 / 0x1p20, "%s", out);
}
END_TEST

/* What the text of the reports promises, counted term by term. */
static double counted(double n, double d, double k, double b) {
    const double e = d + k;
    const double attention = 14 * e * (n * n + 2 * n * k + k * k); /* 4 forward, 10 backward */
    const double points = 4 * 2 * (2 * n * e * e) + 2 * 3 * (2 * n * e * e), centers = 6 * 2 * (2 * k * e * e);
    return b * (attention + points + centers + 3 * (2 * n * k * d));
}

START_TEST(useful_work) {
    static const double giga[4] = {5.98, 0.58, 1.25, 92.7};
    for (int i = 0; i < 4; i++) {
        const cli_bench_item *item = &cli_bench_items[i];
        const int64_t *s = item->shape;
        const double flops = cli_bench_flops(item->kind, s);
        ck_assert_str_eq(item->work, cli_bench_works[i]);
        ck_assert_msg(fabs(flops * 1e-9 - giga[i]) < 0.02 * giga[i], "%s: %g", item->work, flops);
        ck_assert_double_eq_tol(flops, counted((double)s[0], (double)s[1], (double)s[2], (double)s[3]), 1e-9 * flops);
    }
    json_t *report = tessera_json("bench --quick --only train-512");
    const json_t *row = json_array_get(json_object_get(report, "works"), 0);
    const double flops = number(row, "gflops") * number(row, "median_ms") * 1e6;
    ck_assert_double_eq_tol(flops, counted(24, 4, 3, 4), 1e-6 * flops);
    json_decref(report);
}
END_TEST

START_TEST(statistics) {
    const double values[] = {5, NAN, 1, 9, NAN, 4};
    cli_bench_summary s = cli_bench_summarise(values, 6);
    ck_assert(s.count == 4 && s.median == 4.5 && s.least == 1 && s.most == 9);
    s = cli_bench_summarise(values, 4);
    ck_assert(s.count == 3 && s.median == 5);
    ck_assert(isnan(cli_bench_summarise(values + 1, 1).median));
    /* x^3 in the upper half, from 8 on, and something else below. */
    const double x[] = {1, 2, 4, 8, 16, 32, 64};
    double y[] = {7, 7, 7, 512, 4096, 32768, 262144};
    ck_assert_double_eq_tol(cli_bench_exponent(x, y, 7), 3, 1e-12);
    y[4] = 0; /* nothing that has a logarithm */
    ck_assert_double_eq_tol(cli_bench_exponent(x, y, 7), 3, 1e-12);
    ck_assert_double_eq_tol(cli_bench_exponent(x + 3, (double[]){1, 0.5}, 2), -1, 1e-12);
    ck_assert(isnan(cli_bench_exponent(x, y, 1)));
}
END_TEST

/* ---- the profile ------------------------------------------------------------------------------------------------- */

static void expect_whole(const json_t *profile) {
    double sum = 0, attention = 0;
    size_t i;
    json_t *op, *share;
    const char *name;
    json_array_foreach(json_object_get(profile, "ops"), i, op) {
        const double forward = number(op, "forward_percent"), backward = number(op, "backward_percent");
        ck_assert(forward >= 0 && backward >= 0);
        sum += forward + backward;
        if (strcmp(word(op, "op"), "attention") == 0) attention = fmin(forward, backward);
    }
    json_object_foreach(json_object_get(profile, "outside_ops_percent"), name, share) {
        ck_assert_msg(json_number_value(share) >= 0, "%s", name);
        sum += json_number_value(share);
    }
    ck_assert_double_gt(attention, 0);
    ck_assert_msg(fabs(sum - 100) < 1e-4, "%s: the shares add up to %g", word(profile, "work"), sum);
}

START_TEST(a_profile_is_whole) {
    static const char *const words[] = {"", " --threads 1 --runs 3", " --threads 2 --runs 2", " --threads 7"};
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
        json_t *report = tessera_json("bench --quick --profile%s", words[w]);
        const json_t *profiles = json_object_get(report, "profiles");
        ck_assert_uint_eq(json_array_size(profiles), 4);
        for (size_t i = 0; i < 4; i++) expect_whole(json_array_get(profiles, i));
        json_decref(report);
    }
    bench("--profile --only train-128 --csv p.csv --markdown p.md");
    char *csv = read_file("p.csv", NULL), *markdown = read_file("p.md", NULL);
    double sum = 0;
    for (char *at = strchr(csv, '\n') + 1; *at != '\0'; at = strchr(at, '\n') + 1) {
        const char *end = strchr(at, '\n');
        while (*end != ',') end--;
        sum += strtod(end + 1, NULL);
    }
    ck_assert_msg(fabs(sum - 100) < 1e-4, "%s", csv);
    ck_assert_ptr_nonnull(strstr(csv, ",attention,backward,"));
    ck_assert_ptr_nonnull(strstr(markdown, "\n| optimiser | | | "));
    free(csv);
    free(markdown);
}
END_TEST

/* ---- scaling ----------------------------------------------------------------------------------------------------- */

START_TEST(scaling) {
    bench("--scaling --threads 2 --csv s.csv --markdown s.md");
    char *csv = read_file("s.csv", NULL), *markdown = read_file("s.md", NULL);
    ck_assert_int_eq(count_of(csv, "\n"), 1 + 6 * 4 + 2);
    ck_assert_ptr_nonnull(strstr(csv, "\ntrain-n,n,128,measured,1,"));
    ck_assert_ptr_nonnull(strstr(csv, "\ntrain-threads,threads,2,measured,1,"));
    ck_assert_ptr_nonnull(strstr(csv, "\ncluster-exact,n,800,measured,1,"));
    ck_assert_ptr_nonnull(strstr(markdown, "\n## cluster-plain\n\nd = 4, k = 3: time as n^"));
    free(csv);
    free(markdown);
    json_t *report = tessera_json("bench --quick --scaling --only cluster-exact,train-k --runs 2");
    const json_t *curves = json_object_get(report, "scaling"), *curve = json_array_get(curves, 0);
    ck_assert_uint_eq(json_array_size(curves), 2);
    ck_assert_str_eq(word(curve, "axis"), "train-k");
    ck_assert_uint_eq(json_array_size(json_object_get(curve, "points")), 4);
    ck_assert_uint_eq(json_array_size(json_object_get(curve, "skipped")), 0);
    ck_assert_int_eq(whole(json_array_get(json_object_get(curve, "points"), 3), "runs"), 2);
    ck_assert(isfinite(number(curve, "time_exponent")));
    json_decref(report);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, the_table_as_json);
    tcase_add_test(tests, the_table_as_files);
    tcase_add_test(tests, the_table_as_text);
    tcase_add_test(tests, some_of_the_works);
    tcase_add_test(tests, wrong_command_lines);
    tcase_add_test(tests, pictures);
    tcase_add_test(tests, scaling_as_drawn);
    tcase_add_test(tests, works_that_fail);
    tcase_add_test(tests, works_that_are_killed);
    tcase_add_test(tests, outputs_that_fail);
    tcase_add_test(tests, sizes_that_do_not_fit);
    tcase_add_test(tests, sizes_that_are_killed);
    tcase_add_test(tests, threads_that_there_are);
    tcase_add_test(tests, a_process_that_is_asked);
    tcase_add_test(tests, bandwidth_of_memory);
    tcase_add_test(tests, useful_work);
    tcase_add_test(tests, statistics);
    tcase_add_test(tests, a_profile_is_whole);
    tcase_add_test(tests, scaling);
    return run_program_case("bench", tests);
}
