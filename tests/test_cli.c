/* The command line of `tessera`, and what `tessera cluster` refuses before it works. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"

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

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, help_and_version);
    tcase_add_test(tests, wrong_command_lines);
    tcase_add_test(tests, a_wrong_instruction_set);
    tcase_add_test(tests, starts_wherever_it_is_copied);
    tcase_add_test(tests, outputs_are_refused_before_work);
    tcase_add_test(tests, spellings_of_an_option);
    tcase_add_test(tests, bad_data);
    tcase_add_test(tests, standard_input_has_a_name);
    tcase_add_test(tests, initial_centers_of_a_wrong_shape);
    return run_program_case("the command line", tests);
}
