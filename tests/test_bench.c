/* `tessera bench` on shapes too small to take time: its reports, its peers (here shell scripts that answer as those in
 * Python do, or do not), and what it counts as useful work. TESSERA is the path of the program. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../bench/bench_statistics.h"
#include "../bench/bench_work.h"
#include "program.h"

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    ck_assert_msg(text != NULL, "no text %s", key);
    return text;
}

static int whole(const json_t *object, const char *key) {
    return (int)number(object, key);
}

static int count_lines(const char *text) {
    int lines = 0;
    for (; *text != '\0'; text++) lines += *text == '\n';
    return lines;
}

/* Succeeds, and says nothing on standard error. */
static void bench(const char *words) {
    const int code = tessera("bench --quick %s", words);
    ck_assert_msg(code == 0, "%s: exit %d: %s", words, code, err);
    ck_assert_str_eq(err, "");
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum { ROWS = 19 };

START_TEST(the_table_as_json) {
    json_t *report = tessera_json("bench --quick --peers none");
    const json_t *works = json_object_get(report, "works"), *machine = json_object_get(report, "machine");
    ck_assert_uint_eq(json_array_size(works), ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        const json_t *row = json_array_get(works, i);
        const bool clusters = strncmp(text_of(row, "work"), "cluster", 7) == 0;
        ck_assert_double_gt(number(row, "median_ms"), 0);
        ck_assert_double_le(number(row, "least_ms"), number(row, "median_ms"));
        ck_assert_double_ge(number(row, "most_ms"), number(row, "median_ms"));
        ck_assert_double_gt(number(row, "peak_megabytes"), 0);
        ck_assert_int_eq(whole(row, "runs"), 1);
        ck_assert_str_eq(text_of(row, "state"), "measured");
        ck_assert_str_eq(text_of(row, "reason"), "");
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
    bench("--csv t.csv --markdown t.md");
    ck_assert_int_eq(count_lines(out), 2 + 1 + 1 + 1 + ROWS + (strstr(out, "\nwarning: ") != NULL));
    char *csv = read_file("t.csv", NULL), *markdown = read_file("t.md", NULL);
    ck_assert_int_eq(count_lines(csv), 1 + ROWS);
    ck_assert_ptr_eq(strstr(csv, "work,what,who,state,runs,median_ms,least_ms,most_ms,gflops,share_of_peak,"), csv);
    ck_assert_ptr_nonnull(strstr(csv, "\ntrain-1024x100,\"training step\",\"tessera\",measured,1,"));
    ck_assert_ptr_nonnull(strstr(csv, "\nattention-128,\"backward, dropout .01\",\"tessera\",measured,1,"));
    ck_assert_ptr_nonnull(strstr(csv, "\ncluster-100,\"plain Lloyd\",\"tessera\",measured,1,"));
    ck_assert_ptr_nonnull(strstr(csv, "\nlong,\"n = 256\",\"tessera\",measured,1,"));
    ck_assert_ptr_nonnull(strstr(markdown, "\n* peak of multiply-adds "));
    ck_assert_ptr_nonnull(strstr(markdown, "\n| train-512 | training step | 1 | **"));
    ck_assert_ptr_nonnull(strstr(out, "\ntrain-512       training step                      1 "));
    free(csv);
    free(markdown);
}
END_TEST

START_TEST(some_of_the_works) {
    json_t *report = tessera_json("bench --quick --only long,train-128 --runs 3 --threads 1");
    const json_t *works = json_object_get(report, "works");
    ck_assert_uint_eq(json_array_size(works), 4);
    ck_assert_str_eq(text_of(json_array_get(works, 0), "work"), "train-128");
    ck_assert_str_eq(text_of(json_array_get(works, 1), "what"), "n = 64");
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
    bench("--plot table.svg");
    bench("--only cluster-10 --plot narrow.svg");
    bench("--scaling --only train-n,cluster-plain --plot scaling.svg");
    char *table = read_file("table.svg", NULL), *scaling = read_file("scaling.svg", NULL);
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
    ck_assert_int_eq(count_lines(err), 1);
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
    ck_assert_int_eq(count_lines(csv), 1 + 9);
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
        shell("ulimit -S -t 1; \"$TESSERA\" bench --scaling --only train-n --runs 3 --threads 1 --csv k.csv >out.txt "
              "2>err.txt"),
        1);
    expect_message(": ended by signal 24 (CPU time limit exceeded)");
    char *csv = read_file("k.csv", NULL);
    ck_assert_int_eq(count_lines(csv), 1 + 10);
    ck_assert_ptr_nonnull(strstr(csv, "\ntrain-n,n,128,measured,3,"));
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
    ck_assert_int_eq(count_lines(csv), 1 + 1);
    free(csv);
}
END_TEST

/* ---- peers ------------------------------------------------------------------------------------------------------- */

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
        ck_assert_str_eq(text_of(json_array_get(peers, p), "state"), state);
        ck_assert_str_eq(text_of(json_array_get(peers, p), "reason"), reason);
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
        ck_assert_str_eq(text_of(peer, "reason"), "no answer in 1 s");
        json_decref(report);
    }
}
END_TEST

START_TEST(peers_that_break_late) {
    /* In the last round, when ours has been measured against it already. */
    write_python("echo ready; i=0; while read word rest; do i=$((i+1)); [ $i -lt 5 ] || exit 1; echo 1; done");
    json_t *report = with_python(HERE, "--only train-512 --runs 3");
    const json_t *row = json_array_get(json_object_get(report, "works"), 0);
    ck_assert_str_eq(text_of(json_array_get(json_object_get(row, "peers"), 3), "state"), "failed");
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
    ck_assert_msg(strstr(out, "cluster-10 (work 1 of 1): scikit-learn, preparing, 1 s so far") != NULL, "%s", out);
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
            ck_assert_str_eq(text_of(peer, "state"), "measured");
            ck_assert_str_eq(text_of(peer, "version"),
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
    ck_assert_int_eq(count_lines(asked), 2 * (1 + 1 + 5 + 1));
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
        if (strcmp(text_of(op, "op"), "attention") == 0) attention = fmin(forward, backward);
    }
    json_object_foreach(json_object_get(profile, "outside_ops_percent"), name, share) {
        ck_assert_msg(json_number_value(share) >= 0, "%s", name);
        sum += json_number_value(share);
    }
    ck_assert_double_gt(attention, 0);
    ck_assert_msg(fabs(sum - 100) < 1e-4, "%s: the shares add up to %g", text_of(profile, "work"), sum);
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
    ck_assert_int_eq(count_lines(csv), 1 + 6 * 4 + 2);
    ck_assert_ptr_nonnull(strstr(csv, "\ntrain-n,n,128,measured,1,"));
    ck_assert_ptr_nonnull(strstr(csv, "\ntrain-threads,threads,2,measured,1,"));
    ck_assert_ptr_nonnull(strstr(csv, "\ncluster-exact,n,800,measured,1,"));
    ck_assert_ptr_nonnull(strstr(markdown, "\n## cluster-plain\n\nd = 4, k = 3: time as n^"));
    free(csv);
    free(markdown);
    json_t *report = tessera_json("bench --quick --scaling --only cluster-exact,train-k --runs 2");
    const json_t *curves = json_object_get(report, "scaling"), *curve = json_array_get(curves, 0);
    ck_assert_uint_eq(json_array_size(curves), 2);
    ck_assert_str_eq(text_of(curve, "axis"), "train-k");
    ck_assert_uint_eq(json_array_size(json_object_get(curve, "points")), 4);
    ck_assert_uint_eq(json_array_size(json_object_get(curve, "skipped")), 0);
    ck_assert_int_eq(whole(json_array_get(json_object_get(curve, "points"), 3), "runs"), 2);
    ck_assert(isfinite(number(curve, "time_exponent")));
    json_decref(report);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("bench");
    TCase *tests = tcase_create("bench");
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, the_table_as_json);
    tcase_add_test(tests, the_table_as_files);
    tcase_add_test(tests, some_of_the_works);
    tcase_add_test(tests, wrong_command_lines);
    tcase_add_test(tests, pictures);
    tcase_add_test(tests, scaling_as_drawn);
    tcase_add_test(tests, the_table_as_drawn);
    tcase_add_test(tests, works_that_fail);
    tcase_add_test(tests, works_that_are_killed);
    tcase_add_test(tests, outputs_that_fail);
    tcase_add_test(tests, sizes_that_do_not_fit);
    tcase_add_test(tests, sizes_that_are_killed);
    tcase_add_test(tests, threads_that_there_are);
    tcase_add_test(tests, peers_that_are_missing);
    tcase_add_test(tests, interpreters_that_are_named);
    tcase_add_test(tests, peers_that_break);
    tcase_add_test(tests, peers_that_break_late);
    tcase_add_test(tests, peers_that_try_patience);
    tcase_add_test(tests, progress_from_the_start);
    tcase_add_test(tests, threads_of_peers);
    tcase_add_test(tests, peers_that_answer);
    tcase_add_test(tests, slow_peers_run_less);
    tcase_add_test(tests, a_process_that_is_asked);
    tcase_add_test(tests, bandwidth_of_memory);
    tcase_add_test(tests, useful_work);
    tcase_add_test(tests, statistics);
    tcase_add_test(tests, a_profile_is_whole);
    tcase_add_test(tests, scaling);
    suite_add_tcase(suite, tests);
    return run_program_suite(suite);
}
