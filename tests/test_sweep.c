/* `tessera sweep` as its users meet it, and one of its cells computed here once more, by the plain algorithms.
 * TESSERA is the path of the program. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../models/data/scores.h"
#include "../models/reference/plain.h"
#include "../train/tasks.h"
#include "program.h"

static int run(const char *format, va_list arguments) {
    char words[1024];
    vsnprintf(words, sizeof words, format, arguments);
    return tessera("sweep %s", words);
}

/* Runs a sweep that succeeds. */
static void sweep(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int code = run(format, arguments);
    va_end(arguments);
    ck_assert_msg(code == 0, "%s: exit %d: %s", format, code, err);
    ck_assert_str_eq(err, "");
}

/* The rows of a sweep's CSV. */
enum { MOST_ROWS = 4096, COLUMNS = 6 };
typedef struct table {
    int rows;
    double cell[MOST_ROWS][COLUMNS];
} table;

static const table *read_csv(const char *name) {
    static table t;
    static const char header[] = "clusters,dimensions,points,scale,gamma,difference\n";
    char *text = read_file(name, NULL);
    ck_assert_ptr_nonnull(text);
    ck_assert_msg(strncmp(text, header, strlen(header)) == 0, "%s", text);
    t.rows = 0;
    for (char *at = text + strlen(header); *at != '\0'; t.rows++) {
        ck_assert_int_lt(t.rows, MOST_ROWS);
        for (int c = 0; c < COLUMNS; c++, at++) {
            char *end;
            t.cell[t.rows][c] = strtod(at, &end);
            ck_assert_msg(end > at && *end == (c + 1 < COLUMNS ? ',' : '\n'), "row %d: %.40s", t.rows, at);
            ck_assert_msg(isfinite(t.cell[t.rows][c]), "row %d", t.rows);
            at = end;
        }
    }
    free(text);
    return &t;
}

static void expect_cell(const table *t, int row, const double value[COLUMNS - 1]) {
    for (int c = 0; c < COLUMNS - 1; c++)
        ck_assert_msg(fabs(t->cell[row][c] - value[c]) < 1e-12 * value[c], "row %d column %d: %.17g, not %g", row, c,
                      t->cell[row][c], value[c]);
}

#define GRID "--clusters 2,5 --dimensions 1,3 --points 4,100 --scales 1-9:4 --gammas 1,100 "

/* K 2 and 5, D 1 and 3, N 4 and 100, scale 1, 5 and 9, gamma 1 and 100: 48 cells, 12 of which have N < K. */
START_TEST(a_small_grid) {
    static const double size[5][3] = {{2, 5}, {1, 3}, {4, 100}, {1, 5, 9}, {1, 100}};
    sweep(GRID "--out grid.csv");
    ck_assert_msg(strstr(out, "36 cells (and 12 with fewer points than clusters left out), 10 steps") == out, "%s",
                  out);
    ck_assert(!file_exists("grid.csv.partial"));
    const table *t = read_csv("grid.csv");
    ck_assert_int_eq(t->rows, 36);
    int row = 0;
    for (int c = 0; c < 48; c++) {
        const double value[COLUMNS - 1] = {size[0][c / 24], size[1][c / 12 % 2], size[2][c / 6 % 2], size[3][c / 2 % 3],
                                           size[4][c % 2]};
        if (value[2] >= value[0]) expect_cell(t, row++, value);
    }
    ck_assert_int_eq(row, 36);
}
END_TEST

/* The objective of the centres after some steps, each point given to its nearest one. */
static double objective_after(const ts_plain_algorithm *algorithm, double gamma, int steps, ts_problem problem) {
    ts_error error = {0};
    const ts_settings settings = {.construction = "onehot", .gamma = gamma, .trim = -1}, exact = {.gamma = INFINITY};
    ts_plain *run_of = ts_plain_create(algorithm, &settings, &problem, &error);
    ck_assert_msg(run_of != NULL, "%s", error.text);
    for (int t = 0; t < steps; t++) ck_assert_int_eq(ts_plain_step(run_of, &error), TS_OK);
    problem.centers = ts_plain_state(run_of)->centers;
    ts_plain *nearest = ts_plain_create(&ts_plain_lloyd, &exact, &problem, &error);
    ck_assert_msg(nearest != NULL, "%s", error.text);
    ts_plain_assign(nearest);
    const double objective =
        ts_objective(problem.n, problem.d, problem.points, problem.centers, ts_plain_state(nearest)->labels);
    ts_plain_free(nearest);
    ts_plain_free(run_of);
    return objective;
}

/* Two tasks by soft k-means in double, as the layer that is streamed computes too. */
START_TEST(a_cell_is_what_the_plain_algorithms_say) {
    enum { N = 300, D = 3, K = 7, STEPS = 4, TASKS = 2 };
    static ts_real points[N * D];
    const ts_task_spec spec = {.n = N, .d = D, .k = K, .scale = 0.1};
    const ts_problem problem = {.n = N, .d = D, .k = K, .points = points, .centers = points};
    double expected = 0;
    ts_error error = {0};
    for (uint64_t task = 0; task < TASKS; task++) {
        ck_assert_int_eq(ts_task_draw(&spec, 5, ts_rng_stream("sweep 7 3 300"), task, points, NULL, &error), TS_OK);
        for (int i = 0; i < N * D; i++) points[i] *= 3;
        expected += log(objective_after(&ts_plain_soft, 10, STEPS, problem) /
                        objective_after(&ts_plain_lloyd, INFINITY, STEPS, problem)) /
                    TASKS;
    }
    sweep("--clusters 7 --dimensions 3 --points 300 --scales 3 --gammas 10 --steps 4 --tasks 2 --seed 5 --out one.csv");
    const table *t = read_csv("one.csv");
    ck_assert_int_eq(t->rows, 1);
    ck_assert_double_eq_tol(t->cell[0][5], expected, 1e-12);
}
END_TEST

START_TEST(threads_change_nothing) {
    sweep(GRID "--tasks 2 --threads 1 --out t1.csv");
    sweep(GRID "--tasks 2 --threads 2 --out t2.csv");
    sweep(GRID "--tasks 2 --threads 8 --out t8.csv");
    expect_same_files("t1.csv", "t2.csv");
    expect_same_files("t1.csv", "t8.csv");
    sweep(GRID "--tasks 2 --seed 1 --out other.csv");
    char *other = read_file("other.csv", NULL), *same = read_file("t1.csv", NULL);
    ck_assert_str_ne(other, same);
    free(other);
    free(same);
}
END_TEST

static double mean_of(const table *t, int column, double value) {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < t->rows; i++)
        if (fabs(t->cell[i][column] - value) < 1e-9) {
            sum += fabs(t->cell[i][5]);
            count++;
        }
    ck_assert_int_gt(count, 0);
    return sum / count;
}

/* What the paper reports of the whole grid holds on this one. */
START_TEST(differences_shrink_with_gamma_and_scale) {
    sweep("--clusters 5,20 --dimensions 1,5 --points 100,1000 --scales 1,3,10 --gammas 1,10,100 --out shrink.csv");
    const table *t = read_csv("shrink.csv");
    ck_assert_double_gt(mean_of(t, 4, 1), 2 * mean_of(t, 4, 10));
    ck_assert_double_gt(mean_of(t, 4, 10), 2 * mean_of(t, 4, 100));
    ck_assert_double_gt(mean_of(t, 3, 1), 2 * mean_of(t, 3, 3));
    ck_assert_double_gt(mean_of(t, 3, 3), 2 * mean_of(t, 3, 10));
}
END_TEST

/* Each point a cluster: Lloyd's objective is 0, and that of soft centres is not, but for a large gamma. One point: both
 * are 0. */
START_TEST(objectives_of_zero) {
    sweep("--clusters 5 --dimensions 2 --points 5 --scales 1 --gammas 1,1000000000000 --out zero.csv");
    const table *t = read_csv("zero.csv");
    ck_assert_double_gt(t->cell[0][5], 10);
    ck_assert_double_eq(t->cell[1][5], 0);
    sweep("--clusters 1 --dimensions 2 --points 1 --scales 0.000001,1000000 --gammas 1 --out zero.csv");
    ck_assert_double_eq(read_csv("zero.csv")->cell[0][5], 0);
    ck_assert_double_eq(read_csv("zero.csv")->cell[1][5], 0);
    sweep(GRID "--steps 0 --out zero.csv");
    t = read_csv("zero.csv");
    for (int i = 0; i < t->rows; i++) ck_assert_double_eq(t->cell[i][5], 0);
}
END_TEST

/* ---- resuming ----------------------------------------------------------------------------------------------- */

#define SIGNATURE "# tessera sweep " TS_VERSION " seed=0 steps=10 tasks=1\n"

START_TEST(goes_on_from_a_partial_file) {
    char text[1024];
    sweep(GRID "--out whole.csv");
    char *whole = read_file("whole.csv", NULL);
    const char *first = strchr(whole, '\n') + 1, *second = strchr(first, '\n') + 1;
    /* The second row, one of another grid, and half a row. */
    snprintf(text, sizeof text, SIGNATURE "%.*s3,3,3,3,3,3\n2,1,4,1,1", (int)(strchr(second, '\n') + 1 - second),
             second);
    write_file("rest.csv.partial", text);
    sweep(GRID "--out rest.csv");
    expect_same_files("rest.csv", "whole.csv");
    ck_assert(!file_exists("rest.csv.partial"));
    free(whole);
    /* What stands there is taken, not computed again: the row holds what no cell would. */
    write_file("rest.csv.partial", SIGNATURE "2,1,4,1,100,42\n");
    sweep(GRID "--out rest.csv");
    ck_assert_double_eq(read_csv("rest.csv")->cell[1][5], 42);
    write_file("rest.csv.partial", "# tessera sw");
    sweep(GRID "--out rest.csv");
    expect_same_files("rest.csv", "whole.csv");
}
END_TEST

START_TEST(partial_files_of_something_else) {
    static const char *const text[] = {"# tessera sweep " TS_VERSION " seed=1 steps=10 tasks=1\n", "my notes\n",
                                       "my notes"};
    for (int i = 0; i < 3; i++) {
        write_file("no.csv.partial", text[i]);
        expect_failure(
            1, "no.csv.partial: is of another sweep, not of 'tessera sweep " TS_VERSION " seed=0 steps=10 tasks=1'",
            "sweep " GRID "--out no.csv");
        char *after = read_file("no.csv.partial", NULL);
        ck_assert_str_eq(after, text[i]);
        free(after);
    }
    static const char *const row[] = {"2,1,4,1,100\n", "2,1,4,1,100,nan\n", "2,1,4,1,100,1,1\n", "\n", "a,b\n"};
    for (int i = 0; i < 5; i++) {
        char line[100];
        snprintf(line, sizeof line, SIGNATURE "2,1,4,1,1,1\n%s", row[i]);
        write_file("no.csv.partial", line);
        expect_failure(1, "no.csv.partial: row 3: not a row of a sweep", "sweep " GRID "--out no.csv");
    }
    ck_assert(!file_exists("no.csv"));
}
END_TEST

static int lines_of(const char *name) {
    char *text = read_file(name, NULL);
    int lines = 0;
    for (const char *c = text; c != NULL && *c != '\0'; c++) lines += *c == '\n';
    free(text);
    return lines;
}

#define LONG_GRID "--clusters 5-50:5 --dimensions 1-3 --points 500 --scales 1-3 --gammas 1,10,100 --threads 2 "

static pid_t start(const char *words) {
    char command[1024];
    snprintf(command, sizeof command, "exec \"$TESSERA\" sweep %s >/dev/null 2>&1", words);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child != 0) return child;
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

static void wait_for_lines(const char *name, int lines) {
    const struct timespec pause = {0, 2000000};
    for (int i = 0; i < 30000 && lines_of(name) < lines; i++) nanosleep(&pause, NULL);
    ck_assert_int_ge(lines_of(name), lines);
}

/* Killed twice, at different places, and only one process at a time. */
START_TEST(a_kill_loses_nothing_that_was_done) {
    sweep(LONG_GRID "--out unbroken.csv");
    ck_assert_int_eq(read_csv("unbroken.csv")->rows, 270);
    int done = 0;
    for (int i = 1; i <= 2; i++) {
        int status;
        const pid_t child = start(LONG_GRID "--out killed.csv");
        wait_for_lines("killed.csv.partial", 1 + 40 * i);
        if (i == 1)
            expect_failure(1, "killed.csv.partial: another sweep is writing it", "sweep " LONG_GRID "--out killed.csv");
        kill(child, SIGKILL);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(WIFSIGNALED(status), "it ended before the kill");
        ck_assert_int_ge(lines_of("killed.csv.partial"), done);
        done = lines_of("killed.csv.partial");
        ck_assert(!file_exists("killed.csv"));
    }
    sweep(LONG_GRID "--out killed.csv");
    expect_same_files("killed.csv", "unbroken.csv");
}
END_TEST

START_TEST(a_file_that_may_not_grow) {
    const int code =
        shell("sh -c 'ulimit -f 1; \"$TESSERA\" sweep " GRID "--threads 1 --out small.csv' >out.txt 2>err.txt");
    ck_assert_int_eq(code, 1);
    expect_failure_line("small.csv.partial: File too large");
    ck_assert(!file_exists("small.csv"));
    sweep(GRID "--out small.csv");
    sweep(GRID "--out whole.csv");
    expect_same_files("small.csv", "whole.csv");
}
END_TEST

/* ---- the command line ------------------------------------------------------------------------------------------ */

START_TEST(wrong_command_lines) {
    static const char *const list[][2] = {
        {"--clusters 5-", "--clusters: '5-' is not a list of numbers"},
        {"--clusters 5,", "--clusters: '5,' is not a list"},
        {"--clusters=-5", "--clusters: '-5' is not a list"},
        {"--clusters 5-50:", "'5-50:' is not a list"},
        {"--clusters 5-50:0", "the step of a range is above 0"},
        {"--clusters 50-5", "the range ends before it begins"},
        {"--clusters 5x", "'5x' is not a list"},
        {"--clusters 0x5", "'0x5' is not a list"},
        {"--clusters ' 5'", "is not a list"},
        {"--clusters 2.5", "--clusters: 2.5 is not a whole number"},
        {"--clusters 0", "--clusters: 0 is not between 1 and 100000"},
        {"--points 1-100000", "--points: more than 256 numbers"},
        {"--points 1,2,3", "--points: no cell has as many points as clusters"},
        {"--gammas 0", "--gammas: 0 is not between"},
        {"--gammas inf", "--gammas: 'inf' is not a list"},
        {"--gammas 1e999", "--gammas: '1e999' is not a list"},
        {"--scales nan", "--scales: 'nan' is not a list"},
        {"--tasks 0", "--tasks: 0 is not between"},
        {"--points 100-355 --clusters 1-100 --dimensions 1-256", "the grid has 196608000 cells, more than 10000000"},
        {"iris.csv", "sweep takes options only, not 'iris.csv'"},
        {"--plot p.gif", "--plot: p.gif: the name must end in"},
        {"--out x.npy", "--out: x.npy: the name must end in .csv"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        expect_failure(2, list[i][1], "sweep --out wrong.csv %s", list[i][0]);
    expect_failure(2, "where to? --out FILE.csv", "sweep --clusters 5");
    ck_assert_int_eq(symlink("wrong.csv", "wrong.svg"), 0);
    expect_failure(2, "both would write wrong.svg", "sweep --out wrong.csv --plot wrong.svg");
    expect_failure(1, "nowhere/x.csv: No such file", "sweep --out nowhere/x.csv");
    expect_failure(1, "nowhere/x.svg: No such file", "sweep --out wrong.csv --plot nowhere/x.svg");
    ck_assert(!file_exists("wrong.csv") && !file_exists("wrong.csv.partial"));
}
END_TEST

/* Lists and ranges, mixed, unsorted and repeated, come out rising, each value once. */
START_TEST(lists) {
    static const double scale[] = {0.1, 0.2, 0.3, 2, 4, 5};
    sweep("--clusters 1 --dimensions 1 --points 1e2 --scales 4,.1-0.3:.1,2-5:2,5,4 --gammas 1 --out list.csv");
    const table *t = read_csv("list.csv");
    ck_assert_int_eq(t->rows, 6);
    for (int i = 0; i < t->rows; i++) expect_cell(t, i, (double[]){1, 1, 100, scale[i], 1});
    sweep("--clusters 5-50:5 --dimensions 2-3 --points 50 --scales 1 --gammas 1 --steps 0 --out list.csv");
    t = read_csv("list.csv");
    ck_assert_int_eq(t->rows, 20);
    for (int i = 0; i < t->rows; i++) expect_cell(t, i, (double[]){5 + i / 2 * 5, 2 + i % 2, 50, 1, 1});
}
END_TEST

/* ---- the report ------------------------------------------------------------------------------------------------- */

START_TEST(report_and_json) {
    char number[64];
    sweep(GRID "--json --out json.csv");
    const table *t = read_csv("json.csv");
    ck_assert_msg(strstr(out, "{\"cells\": 36, \"skipped\": 12, \"steps\": 10, \"tasks\": 1, \"seed\": 0, ") == out,
                  "%s", out);
    ck_assert(strchr(out, '\n') == out + strlen(out) - 1);
    const double mean = strtod(strstr(out, "{\"gamma\": 100, \"mean_abs_difference\": ") + 39, NULL);
    ck_assert_double_eq_tol(mean, mean_of(t, 4, 100), 1e-12);
    snprintf(number, sizeof number, "%10.4g", mean);
    sweep(GRID "--out json.csv");
    ck_assert_msg(strstr(strstr(out, "       all  "), number) != NULL, "%s is not in %s", number, out);
}
END_TEST

START_TEST(pictures) {
    if (!have_program("gnuplot")) {
        skip_test("no gnuplot");
        return;
    }
    sweep(GRID "--out picture.csv --plot a.svg");
    sweep(GRID "--out picture.csv --plot b.svg --threads 1");
    expect_same_files("a.svg", "b.svg");
    char *svg = read_file("a.svg", NULL);
    ck_assert_ptr_nonnull(strstr(svg, "</svg>"));
    ck_assert_ptr_nonnull(strstr(svg, "gamma = 100"));
    free(svg);
    sweep("--clusters 1 --dimensions 1 --points 1 --scales 1 --gammas 1-7 --out picture.csv --plot c.png");
    sweep(GRID "--steps 0 --out picture.csv --plot c.pdf");
    ck_assert(file_exists("c.png") && file_exists("c.pdf"));
}
END_TEST

START_TEST(what_is_drawn) {
    char *script = script_of("sweep " GRID "--out drawn.csv --plot a.svg");
    expect_readable(script);
    expect_drawn(script, "'gamma = 100'");
    expect_drawn(script, "'data scale' at screen 0.0");
    expect_drawn(script, "'dimensions' at screen");
    expect_drawn(script, "set cbtics ('");
    expect_drawn(script, "'mean |difference of log objectives|'");
    free(script);
    /* Of two hundred numbers along an axis some are named. */
    script =
        script_of("sweep --clusters 2 --dimensions 2 --points 100-299 --scales 1 --gammas 1 --steps 1 --out many.csv "
                  "--plot a.svg");
    expect_readable(script);
    expect_drawn(script, "'100' 0, ");
    expect_not_drawn(script, "'101' 1");
    free(script);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("sweep");
    tcase_add_test(tests, a_small_grid);
    tcase_add_test(tests, a_cell_is_what_the_plain_algorithms_say);
    tcase_add_test(tests, threads_change_nothing);
    tcase_add_test(tests, differences_shrink_with_gamma_and_scale);
    tcase_add_test(tests, objectives_of_zero);
    tcase_add_test(tests, goes_on_from_a_partial_file);
    tcase_add_test(tests, partial_files_of_something_else);
    tcase_add_test(tests, a_kill_loses_nothing_that_was_done);
    tcase_add_test(tests, a_file_that_may_not_grow);
    tcase_add_test(tests, wrong_command_lines);
    tcase_add_test(tests, lists);
    tcase_add_test(tests, report_and_json);
    tcase_add_test(tests, pictures);
    tcase_add_test(tests, what_is_drawn);
    return run_program_case("sweep", tests);
}
