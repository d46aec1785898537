/* The peers of `tessera bench`: here shell scripts that answer as those in Python do, or do not. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "program.h"

static int whole(const json_t *object, const char *key) {
    return (int)number(object, key);
}

/* A python3 in the folder `path` that can be started, and then does these lines as a peer. */
static void write_python(const char *lines) {
    char script[1024];
    snprintf(script, sizeof script, "#!/bin/sh\ncase $2 in print*) echo ready; exit;; esac\n%s\n", lines);
    mkdir("path", 0755);
    write_file("path/python3", script);
    ck_assert_int_eq(chmod("path/python3", 0755), 0);
}

/* The report with that python3 first in the path, or as TESSERA_PYTHON, after which nothing else is tried. */
static json_t *with_python(const char *setting, const char *words) {
    char command[1024];
    json_error_t error;
    snprintf(command, sizeof command, "%s \"$TESSERA\" bench --quick --peers auto --json %s >out.txt 2>err.txt",
             setting, words);
    const int code = shell(command);
    ck_assert_msg(code == 0, "%s: exit %d: %s", command, code, err);
    ck_assert_str_eq(err, "");
    json_t *report = json_loads(out, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(report != NULL, "%s in %s", error.text, out);
    return report;
}

/* All peers of one work in this state. */
static void expect_state(const char *setting, const char *work, const char *state, const char *reason) {
    char only[64];
    snprintf(only, sizeof only, "--only %s", work);
    json_t *report = with_python(setting, only);
    const json_t *row = json_array_get(json_object_get(report, "works"), 0), *peers = json_object_get(row, "peers");
    ck_assert_double_gt(number(row, "median_ms"), 0);
    ck_assert_uint_ge(json_array_size(peers), 2);
    for (size_t p = 0; p < json_array_size(peers); p++) {
        ck_assert_str_eq(word(json_array_get(peers, p), "state"), state);
        ck_assert_str_eq(word(json_array_get(peers, p), "reason"), reason);
    }
    json_decref(report);
}

#define HERE "TESSERA_PYTHON=path/python3"

START_TEST(peers_that_are_missing) {
    write_python("echo Traceback >&2; echo \"ModuleNotFoundError: No module named 'torch'\" >&2; exit 1");
    expect_state(HERE, "train-512", "not installed", "");
    ck_assert_int_eq(shell(HERE " \"$TESSERA\" bench --quick --peers auto --only cluster-10 >out.txt 2>err.txt"), 0);
    ck_assert_ptr_nonnull(strstr(out, "scikit-learn                    not installed\n"));
}
END_TEST

/* An interpreter that was named is there, or nothing is measured. */
START_TEST(interpreters_that_are_named) {
    static const char *const list[][2] = {
        {"nowhere/python3", "TESSERA_PYTHON: nowhere/python3: could not be started: No such file"},
        {"/dev/null", "TESSERA_PYTHON: /dev/null: could not be started: Permission denied"},
        {"/bin/false", "TESSERA_PYTHON: /bin/false: ended with exit code 1"},
        {"/bin/echo", "TESSERA_PYTHON: /bin/echo: begins with '-c print('ready') '"},
        {"./endless", "TESSERA_PYTHON: ./endless: answers with a line that does not end"},
        {"./complaining", "TESSERA_PYTHON: ./complaining: the last line"},
    };
    write_file("endless", "#!/bin/sh\nexec cat /dev/zero\n");
    write_file("complaining", "#!/bin/sh\necho the first line >&2; echo the last line >&2; echo >&2; exit 3\n");
    ck_assert(chmod("endless", 0755) == 0 && chmod("complaining", 0755) == 0);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        char command[256];
        snprintf(command, sizeof command,
                 "TESSERA_PYTHON=%s \"$TESSERA\" bench --quick --peers auto >out.txt 2>err.txt", list[i][0]);
        ck_assert_int_eq(shell(command), 2);
        ck_assert_str_eq(out, "");
        expect_failure_line(list[i][1]);
    }
    /* Where there are no peers it does not matter; and an empty one is none. */
    ck_assert_int_eq(shell("TESSERA_PYTHON=/bin/false \"$TESSERA\" bench --quick --peers auto --only long >out.txt"),
                     0);
    write_python("echo ready; while read line; do echo 5; done");
    expect_state("TESSERA_PYTHON= PATH=\"$PWD/path:$PATH\"", "cluster-10", "measured", "");
}
END_TEST

START_TEST(peers_that_break) {
    static const char *const lines[][2] = {
        {"echo ready it ends; read line", "ended with exit code 0"},
        {"echo ready it ends at once; exit 7", "ended with exit code 7"},
        {"echo ready no numbers; while read line; do echo much; done", "answers 'much', which is no number above 0"},
        {"echo ready; while read line; do echo nan; done", "answers 'nan', which is no number above 0"},
        {"echo ready; while read line; do echo -5; done", "answers '-5', which is no number above 0"},
        {"echo ready; while read line; do echo 0; done", "answers '0', which is no number above 0"},
        {"echo ready; while read line; do echo inf; done", "answers 'inf', which is no number above 0"},
        {"echo ready it refuses; while read line; do echo error out of memory; done", "out of memory"},
        {"echo ready; while read word rest; do [ $word = memory ] || exit 1; echo 1; done", "ended with exit code 1"},
        {"echo ImportError: no libmkl.so >&2; exit 1", "ImportError: no libmkl.so"},
        {"echo ready; read line; echo why >&2; kill -9 $$", "ended by signal 9 (Killed): why"},
        {"echo ready; exec cat /dev/zero", "answers with a line that does not end"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        write_python(lines[i][0]);
        expect_state(HERE, "train-512", "failed", lines[i][1]);
    }
    /* The reason is one cell of the files, whatever is in it. */
    write_python("echo 'a|b, \"c\"' >&2; exit 1");
    ck_assert_int_eq(
        shell(HERE " \"$TESSERA\" bench --quick --peers auto --only cluster-10 --csv r.csv --markdown r.md >out.txt"),
        0);
    char *csv = read_file("r.csv", NULL), *markdown = read_file("r.md", NULL);
    ck_assert_ptr_nonnull(strstr(csv, ",failed,0,,,,,,,,,\"a|b, \"\"c\"\"\"\n"));
    ck_assert_ptr_nonnull(strstr(markdown, " failed: a\\|b, \"c\" |"));
    free(csv);
    free(markdown);
}
END_TEST

/* However it fills its time: with nothing, byte by byte, or with complaints without end. */
START_TEST(peers_that_try_patience) {
    static const char *const lines[] = {"exec sleep 60", "while :; do printf x; sleep 0.1; done",
                                        "exec cat /dev/zero >&2"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        write_python(lines[i]);
        json_t *report = with_python(HERE, "--only cluster-10 --patience 1");
        const json_t *row = json_array_get(json_object_get(report, "works"), 0);
        const json_t *peer = json_array_get(json_object_get(row, "peers"), 0);
        ck_assert_str_eq(word(peer, "reason"), "no answer in 1 s");
        json_decref(report);
    }
}
END_TEST

START_TEST(peers_that_break_late) {
    /* In the last round, when ours has been measured against it already. */
    write_python("echo ready; i=0; while read word rest; do i=$((i+1)); [ $i -lt 5 ] || exit 1; echo 1; done");
    json_t *report = with_python(HERE, "--only train-512 --runs 3");
    const json_t *row = json_array_get(json_object_get(report, "works"), 0);
    ck_assert_str_eq(word(json_array_get(json_object_get(row, "peers"), 3), "state"), "failed");
    ck_assert_int_eq(whole(row, "runs"), 4 * 3);
    json_decref(report);
}
END_TEST

/* A terminal sees what is waited for. */
START_TEST(progress_from_the_start) {
    if (!have_program("script")) {
        skip_test("no script");
        return;
    }
    write_python("exec sleep 60");
    ck_assert_int_eq(shell(HERE " script -qec '\"$TESSERA\" bench --only cluster-10 --quick --peers auto --patience 2' "
                                "/dev/null >out.txt 2>err.txt </dev/null"),
                     0);
    const char *line = strstr(out, "cluster-10 (work 1 of 1): scikit-learn, preparing, ");
    ck_assert_msg(line != NULL && strstr(line, " s so far") != NULL, "%s", out); /* whichever second it is told in */
    ck_assert_int_eq(shell(HERE " script -qec '\"$TESSERA\" bench --only cluster-10 --quick --peers auto --patience 1 "
                                "--quiet' /dev/null >out.txt 2>err.txt </dev/null"),
                     0);
    ck_assert_ptr_null(strstr(out, "so far"));
}
END_TEST

/* The threads of a peer in Python, where the environment has no number. */
START_TEST(threads_of_peers) {
    static const char *const list[][2] = {
        {"OMP_NUM_THREADS=3", "3\n"}, {"OMP_NUM_THREADS=3,2", "3\n"}, {"OMP_NUM_THREADS=8 OMP_THREAD_LIMIT=2", "2\n"}};
    static const char *const none[] = {"OMP_NUM_THREADS=",   "OMP_NUM_THREADS=abc", "OMP_NUM_THREADS=auto",
                                       "OMP_NUM_THREADS=-1", "OMP_NUM_THREADS=0",   "OMP_THREAD_LIMIT=x"};
    char command[256], all[16];
    if (!have_program("python3")) {
        skip_test("no python3");
        return;
    }
    write_python("printf %s \"$2\" >script.py; exit 1");
    ck_assert_int_eq(shell(HERE " \"$TESSERA\" bench --quick --peers auto --only cluster-10 >out.txt"), 0);
    write_file("cores.py", "text = open('script.py').read()\n"
                           "exec(text[:text.index('def kernels_of_this_processor')] + 'print(cores())')\n");
    ck_assert_int_eq(shell("env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT python3 cores.py >out.txt"), 0);
    snprintf(all, sizeof all, "%s", out);
    for (size_t i = 0; i < sizeof list / sizeof list[0] + sizeof none / sizeof none[0]; i++) {
        const bool number = i < sizeof list / sizeof list[0];
        const char *setting = number ? list[i][0] : none[i - sizeof list / sizeof list[0]];
        snprintf(command, sizeof command,
                 "env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT %s python3 cores.py >out.txt 2>err.txt", setting);
        ck_assert_msg(shell(command) == 0, "%s: %s", setting, err);
        ck_assert_str_eq(out, number ? list[i][1] : all);
    }
}
END_TEST

/* It says what it is asked in `asked`, and takes $1 milliseconds. */
static void write_answering_python(const char *milliseconds) {
    char lines[512];
    snprintf(
        lines, sizeof lines,
        "echo \"ready fake 1.0 of $3 on $OMP_NUM_THREADS\"; while read word rest; do echo \"$word $rest\" >>asked\n"
        "if [ $word = memory ]; then echo 100; else echo %s; fi; done",
        milliseconds);
    write_python(lines);
    remove("asked");
}

/* Dots: our times, and what the peers' are to them. */
START_TEST(the_table_as_drawn) {
    write_answering_python("12.5");
    ck_assert_int_eq(setenv("TESSERA_PYTHON", "path/python3", 1), 0);
    char *script = script_of("bench --quick --peers auto --only cluster-10 --plot table.svg");
    ck_assert_int_eq(unsetenv("TESSERA_PYTHON"), 0);
    expect_readable(script);
    expect_drawn(script, "'time over tessera''s' at screen");
    expect_drawn(script, "'milliseconds' at screen");
    expect_drawn(script, "'plain Lloyd' at screen");
    expect_drawn(script, "'scikit-learn' at screen");
    expect_drawn(script, "$rows using 5:1 with points pt 7");
    expect_drawn(script, "$rows using 6:1 with points pt 5");
    expect_not_drawn(script, "boxerrorbars");
    free(script);
    script = script_of("bench --quick --peers none --only cluster-10 --plot table.svg"); /* our times alone */
    expect_readable(script);
    expect_drawn(script, "'milliseconds' at screen");
    expect_not_drawn(script, "time over");
    free(script);
}
END_TEST

START_TEST(peers_that_answer) {
    write_answering_python("12.5");
    json_t *report = with_python("PATH=\"$PWD/path:$PATH\"", "--only cluster-10 --runs 5 --threads 3");
    const json_t *works = json_object_get(report, "works");
    for (size_t i = 0; i < 2; i++) {
        const json_t *row = json_array_get(works, i), *peers = json_object_get(row, "peers");
        ck_assert_uint_eq(json_array_size(peers), 2);
        ck_assert_int_eq(whole(row, "runs"), 2 * 5);
        for (size_t p = 0; p < 2; p++) {
            const json_t *peer = json_array_get(peers, p);
            ck_assert_str_eq(word(peer, "state"), "measured");
            ck_assert_str_eq(word(peer, "version"),
                             p == 0 ? "fake 1.0 of scikit-learn on 3" : "fake 1.0 of faiss on 3");
            ck_assert_double_eq(number(peer, "median_ms"), 12.5);
            ck_assert_double_eq(number(peer, "peak_megabytes"), 100);
            ck_assert_double_eq(number(peer, "multiple_of_data"), 0);
            /* The ratio of every round lies between those to our slowest and our fastest run. */
            ck_assert_double_ge(number(peer, "ratio") * 1.000001, 12.5 / number(row, "most_ms"));
            ck_assert_double_le(number(peer, "ratio"), 12.5 / number(row, "least_ms") * 1.000001);
        }
    }
    json_decref(report);
    /* Each: memory, a run to warm up, five, memory. */
    char *asked = read_file("asked", NULL);
    ck_assert_int_eq(count_of(asked, "\n"), 2 * (1 + 1 + 5 + 1));
    ck_assert_ptr_eq(strstr(asked, "memory \nrun lloyd 3000 8 5 0\nrun lloyd "), asked);
    free(asked);
}
END_TEST

START_TEST(slow_peers_run_less) {
    write_answering_python("5000");
    json_t *report = with_python(HERE, "--only train-128 --runs 9");
    const json_t *row = json_array_get(json_object_get(report, "works"), 0);
    const json_t *peer = json_array_get(json_object_get(row, "peers"), 0);
    ck_assert_int_eq(whole(peer, "runs"), 3);
    ck_assert_int_eq(whole(row, "runs"), 4 * 9);
    ck_assert_double_gt(number(peer, "ratio"), 1);
    json_decref(report);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, the_table_as_drawn);
    tcase_add_test(tests, peers_that_are_missing);
    tcase_add_test(tests, interpreters_that_are_named);
    tcase_add_test(tests, peers_that_break);
    tcase_add_test(tests, peers_that_break_late);
    tcase_add_test(tests, peers_that_try_patience);
    tcase_add_test(tests, progress_from_the_start);
    tcase_add_test(tests, threads_of_peers);
    tcase_add_test(tests, peers_that_answer);
    tcase_add_test(tests, slow_peers_run_less);
    return run_program_case("peers of bench", tests);
}
