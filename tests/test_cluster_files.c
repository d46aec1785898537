/* What `tessera cluster` writes: files, pictures and reports, on disks that are full and where memory is short. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../io/array_writer.h"
#include "../io/table.h"
#include "program.h"

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

/* Every step of a trajectory is where that many steps lead to. */
START_TEST(trajectories_are_steps) {
    enum { K = 7, D = 2 };
    ts_table centers = {0};
    ts_io_error error;
    FILE *data = fopen("steps.csv", "w");
    for (int i = 0; i < 3000; i++) fprintf(data, "%d,%.3f\n", i * 7919 % 1009, sin(i) * 500);
    fclose(data);
    json_t *report = tessera_json("cluster steps.csv -k 7 --init first --steps 40 --steps-exact --trajectory t.npy");
    ck_assert_double_eq(number(report, "steps"), 40);
    json_decref(report);
    size_t size = 0;
    char *trajectory = read_file("t.npy", &size);
    static const int steps[] = {0, 1, 2, 5, 15, 16, 17, 39, 40};
    for (int s = 0; s < 9; s++) {
        const char *at = trajectory + size - (size_t)(41 - steps[s]) * K * D * sizeof(double);
        ck_assert_int_eq(
            tessera("cluster steps.csv -k 7 --init first --steps %d --steps-exact --centers c.npy", steps[s]), 0);
        ck_assert_msg(ts_table_read("c.npy", NULL, &centers, &error), "%s", error.text);
        ck_assert_msg(memcmp(at, centers.values, K * D * sizeof(double)) == 0, "step %d", steps[s]);
        ts_table_free(&centers);
    }
    free(trajectory);
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
#if defined(_OPENMP) && defined(__GNUC__) && !defined(__clang__) /* whose words these are */
        ck_assert_msg(count_of(err, said[i]) == 1, "%s", err);
#else
        ck_assert_msg(count_of(err, said[i]) <= 1, "%s", err);
#endif
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
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, files_written);
    tcase_add_test(tests, trajectories_are_steps);
    tcase_add_test(tests, threads_change_nothing);
    tcase_add_test(tests, openmp_speaks_once);
    tcase_add_test(tests, pictures);
    tcase_add_test(tests, failures_leave_files_alone);
    tcase_add_test(tests, files_that_may_not_grow);
    tcase_add_test(tests, names_print_without_control_codes);
    tcase_add_test(tests, a_failure_is_one_line_whatever_was_warned_of);
    tcase_add_test(tests, tiny_columns_can_be_standardised);
    tcase_add_test(tests, full_disks);
    tcase_add_test(tests, memory_is_less_than_three_times_the_data);
    return run_program_case("files of cluster", tests);
}
