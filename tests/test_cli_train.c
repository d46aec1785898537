/* `tessera train`, `--resume`, and `cluster --model`, as their users meet them: runs that are killed at random moments
 * end in the same bytes as one that was not. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../autograd/rng.h"
#include "../io/table.h"
#include "program.h"

/* A problem small enough to train in a second or two. */
#define SMALL "--n 40 --d 2 --k 3 --batch 6 --eval-every 10 --eval-batches 2 --checkpoint-every 10 --seed 3"

START_TEST(a_run_and_its_files) {
    ts_table metrics;
    ts_io_error error;
    json_t *report = tessera_json("train " SMALL " --steps 60 --out run");
    ck_assert_int_eq(json_integer_value(json_object_get(report, "steps")), 60);
    const double best = json_number_value(json_object_get(report, "best_relative"));
    ck_assert(best > 0 && best < 100);
    json_decref(report);
    ck_assert(ts_table_read("run/metrics.csv", &(ts_table_options){TS_HEADER_YES, NULL, NULL}, &metrics, &error));
    ck_assert(metrics.rows == 6 && metrics.cols == 6);
    double least = INFINITY;
    for (int64_t i = 0; i < 6; i++) {
        ck_assert(metrics.values[6 * i] == 10 * (double)(i + 1));
        least = fmin(least, metrics.values[6 * i + 3]);
    }
    ck_assert_double_eq(least, best);
    ts_table_free(&metrics);
    json_error_t json_error;
    json_t *run = json_load_file("run/run.json", JSON_REJECT_DUPLICATES, &json_error);
    ck_assert_msg(run != NULL, "%s", json_error.text);
    ck_assert_int_eq(json_integer_value(json_object_get(run, "n")), 40);
    ck_assert(json_is_string(json_object_get(run, "version")) && json_is_string(json_object_get(run, "host")));
    json_decref(run);
    ck_assert(file_exists("run/last.safetensors") && file_exists("run/best.safetensors"));
    expect_failure(1, "run: there is a run in it already", "train " SMALL " --steps 60 --out run");
    static const char *const left[] = {"last.safetensors", "best.safetensors", "metrics.csv", "run.json"};
    for (int i = 0; i < 4; i++) { /* each of the files alone says so */
        char command[100], message[100];
        snprintf(command, sizeof command, "mkdir part%d && cp run/%s part%d >out.txt 2>err.txt", i, left[i], i);
        ck_assert_int_eq(shell(command), 0);
        snprintf(message, sizeof message, "part%d: there is a run in it already (%s)", i, left[i]);
        expect_failure(1, message, "train " SMALL " --steps 60 --out part%d", i);
    }
    ck_assert_int_eq(tessera("train --resume run"), 0); /* it is at its end */
    ck_assert_ptr_nonnull(strstr(out, "run: 60 steps"));
}
END_TEST

/* The curve shows the run from its first row on, on a logarithmic scale, and the rates no more than six decades down.
 */
START_TEST(the_curve_as_drawn) {
    ts_table metrics;
    ts_io_error error;
    double range[2];
    char *script = script_of("train " SMALL " --steps 60 --out drawn");
    ck_assert(ts_table_read("drawn/metrics.csv", &(ts_table_options){TS_HEADER_YES, NULL, NULL}, &metrics, &error));
    expect_readable(script);
    expect_drawn(script, "set logscale y");
    read_range(script, "y", range);
    for (int64_t i = 0; i < metrics.rows; i++) {
        const double relative = metrics.values[metrics.cols * i + 3];
        ck_assert(relative > range[0] && relative < range[1]);
    }
    expect_drawn(script, "'objective relative to Lloyd' at screen 0.0");
    expect_drawn(script, "'learning rate' at screen 0.0");
    expect_drawn(script, "plot 1 with lines lw 1.4 lc rgb '#0072B2'");
    expect_drawn(script, "$m using 1:2 with lines lw 1.4 lc rgb '#D55E00'");
    ts_table_free(&metrics);
    free(script);
    /* Rates that are halved until nothing moves. */
    FILE *file = fopen("drawn/metrics.csv", "w");
    ck_assert_ptr_nonnull(file);
    fputs("step,train_loss,val_objective,val_relative,lr,seconds\n", file);
    for (int i = 1; i <= 6; i++) fprintf(file, "%d,1,1,%g,%g,1\n", 10 * i, 3.0 / i, pow(10, -3 * i));
    fclose(file);
    script = script_of("train --resume drawn");
    const char *rates = strstr(script, "'training step'");
    ck_assert_ptr_nonnull(rates);
    read_range(rates, "y", range);
    ck_assert(range[0] > 1e-10 && range[0] < 1e-9 && range[1] > 1e-3 && range[1] < 3e-3);
    free(script);
}
END_TEST

START_TEST(threads_change_nothing) {
    for (int t = 0; t < 3; t++)
        json_decref(tessera_json("train " SMALL
                                 " --steps 30 --unroll 3 --unroll-ramp .5 --log-loss --clip 1 --threads %d --out t%d",
                                 (int[]){1, 2, 8}[t], t));
    expect_same_files("t0/last.safetensors", "t1/last.safetensors");
    expect_same_files("t0/last.safetensors", "t2/last.safetensors");
    expect_same_files("t0/best.safetensors", "t2/best.safetensors");
}
END_TEST

START_TEST(longer_by_resuming) {
    json_decref(tessera_json("train " SMALL " --steps 50 --schedule constant --out whole"));
    json_decref(tessera_json("train " SMALL " --steps 20 --schedule constant --out parts"));
    json_decref(tessera_json("train --resume parts --steps 50"));
    expect_same_files("whole/last.safetensors", "parts/last.safetensors");
    expect_same_files("whole/best.safetensors", "parts/best.safetensors");
    expect_failure(1, "parts: the run is at step 50 already", "train --resume parts --steps 40");
    json_error_t error;
    json_t *run = json_load_file("parts/run.json", JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(run != NULL, "%s", error.text);
    ck_assert_int_eq(json_integer_value(json_object_get(run, "steps")), 50);
    json_decref(run);
}
END_TEST

START_TEST(a_cosine_schedule_ends) {
    json_decref(tessera_json("train " SMALL " --steps 20 --schedule cosine --out cosine"));
    expect_failure(1, "cosine: --steps 40: the cosine schedule of this run ends at step 20",
                   "train --resume cosine --steps 40");
    json_decref(tessera_json("train --resume cosine --steps 20"));
}
END_TEST

/* Where parameters are no numbers the last good checkpoint stays. */
START_TEST(training_that_diverges) {
    expect_failure(1,
                   "far: training diverged in step 1: the parameters are no numbers any more; last.safetensors is of "
                   "step 0",
                   "train " SMALL " --steps 20 --lr 1e300 --out far");
    ck_assert_int_eq(tessera("inspect far/last.safetensors"), 0);
    ck_assert_ptr_nonnull(strstr(out, "step 0 of 20"));
    expect_failure(1,
                   "large: training diverged in step 1: a parameter grew to 1e+30, too large to be squared; "
                   "last.safetensors is of step 0",
                   "train " SMALL " --steps 20 --lr 1e30 --out large");
    expect_failure(1,
                   "stuck: training diverged: 19 of 20 steps changed nothing, their gradients not being finite or too",
                   "train " SMALL " --steps 100 --lr 1e15 --out stuck");
    ck_assert(file_exists("stuck/metrics.csv") && !file_exists("large/best.safetensors"));
    ck_assert_int_eq(tessera("inspect stuck/last.safetensors"), 0);
    ck_assert_int_eq(tessera("train " SMALL " --steps 20 --lr 100 --out huge"), 0);
    for (const char *c = out; *c != '\0'; c++) ck_assert_msg(strspn(c, "0123456789") < 9, "%s", out);
}
END_TEST

/* What it says goes to a file, or nowhere. */
static pid_t start(const char *const *words, const char *says) {
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        const int nothing = open("/dev/null", O_WRONLY);
        dup2(nothing, STDOUT_FILENO);
        dup2(says == NULL ? nothing : open(says, O_WRONLY | O_CREAT | O_TRUNC, 0666), STDERR_FILENO);
        execv(getenv("TESSERA"), (char *const *)words);
        _exit(127);
    }
    return child;
}

static void wait_milliseconds(int64_t milliseconds) {
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000}, NULL);
}

/* Twenty kills, each at a random moment after the start or the last resume. A run that gets to its end first is held
 * against the unbroken one, and begun anew. */
START_TEST(kills_lose_nothing) {
    const char *const begin[] = {"tessera",
                                 "train",
                                 "--n",
                                 "40",
                                 "--d",
                                 "2",
                                 "--k",
                                 "3",
                                 "--batch",
                                 "6",
                                 "--eval-every",
                                 "10",
                                 "--eval-batches",
                                 "2",
                                 "--checkpoint-every",
                                 "10",
                                 "--seed",
                                 "3",
                                 "--steps",
                                 "150",
                                 "--out",
                                 "killed",
                                 NULL};
    const char *const again[] = {"tessera", "train", "--resume", "killed", NULL};
    const ts_rng rng = {test_seed(), ts_rng_stream("kills"), 0};
    int kills = 0, ends = 0;
    json_decref(tessera_json("train " SMALL " --steps 150 --out unbroken"));
    for (uint64_t i = 0; kills < 20; i++) {
        const pid_t child = start(file_exists("killed/last.safetensors") ? again : begin, NULL);
        wait_milliseconds(5 + ts_rng_below(rng, i, 300));
        kill(child, SIGKILL);
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        kills += WIFSIGNALED(status);
        if (WIFSIGNALED(status)) continue;
        ck_assert_int_eq(WEXITSTATUS(status), 0);
        ends++;
        expect_same_files("unbroken/last.safetensors", "killed/last.safetensors");
        expect_same_files("unbroken/best.safetensors", "killed/best.safetensors");
        ck_assert_int_eq(shell("rm -r killed >out.txt 2>err.txt"), 0);
    }
    printf("%d kills, %d runs that ended between them, seed %" PRIu64 "\n", kills, ends, test_seed());
    json_decref(file_exists("killed/last.safetensors") ? tessera_json("train --resume killed")
                                                       : tessera_json("train " SMALL " --steps 150 --out killed"));
    expect_same_files("unbroken/last.safetensors", "killed/last.safetensors");
    expect_same_files("unbroken/best.safetensors", "killed/best.safetensors");
}
END_TEST

static void wait_for(const char *file) {
    for (int i = 0; i < 2000 && !file_exists(file); i++) wait_milliseconds(10);
    ck_assert(file_exists(file));
}

/* run.json is there before the first step, and so is a checkpoint, which a kill leaves behind. */
START_TEST(a_kill_before_the_first_checkpoint) {
    const char *const words[] = {"tessera", "train", "--n", "64",  "--steps", "100000", "--out",
                                 "early",   "--d",   "2",   "--k", "3",       NULL};
    int status = 0;
    const pid_t child = start(words, NULL);
    wait_for("early/run.json");
    expect_failure(1, "early: another training is at work in it", "train --resume early");
    expect_failure(1, "early: another training is at work in it", "train " SMALL " --out early");
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    json_decref(tessera_json("train --resume early --steps 5"));
}
END_TEST

/* The rows of metrics.csv but for the seconds. */
static char *rows_without_time(const char *name) {
    char *text = read_file(name, NULL), *to = text;
    ck_assert_ptr_nonnull(text);
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        char *comma = end;
        while (*comma != ',') comma--;
        memmove(to, line, (size_t)(comma - line));
        to += comma - line;
        *to++ = '\n';
    }
    *to = '\0';
    return text;
}

/* Asked politely, it says so and writes a checkpoint first; what follows is as if nothing had happened. */
START_TEST(a_request_to_end) {
    const char *const words[] = {"tessera", "train", "--n",          "64", "--steps", "100000", "--out", "asked",
                                 "--d",     "2",     "--eval-every", "40", "--k",     "3",      NULL};
    int status = 0, signals[] = {SIGTERM, SIGINT};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(shell("rm -rf asked whole >out.txt 2>err.txt"), 0);
        const pid_t child = start(words, "said.txt");
        wait_for("asked/metrics.csv");
        wait_milliseconds(100);
        kill(child, signals[i]);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        char *said = read_file("said.txt", NULL);
        ck_assert_msg(strstr(said, "tessera: the step is finished and a checkpoint written; a second") == said, "%s",
                      said);
        const char *after = strstr(said, "interrupted after step ");
        ck_assert_msg(after != NULL, "%s", said);
        const long end = 40 * (strtol(after + 23, NULL, 10) / 40 + 1);
        free(said);
        json_decref(tessera_json("train --resume asked --steps %ld", end));
        json_decref(tessera_json("train --n 64 --d 2 --k 3 --eval-every 40 --steps %ld --out whole", end));
        char *one = rows_without_time("asked/metrics.csv"), *other = rows_without_time("whole/metrics.csv");
        ck_assert_str_eq(one, other);
        free(one);
        free(other);
        expect_same_files("asked/last.safetensors", "whole/last.safetensors");
    }
}
END_TEST

/* Two signals, of one kind or two, while a step is at work that would last for minutes. */
START_TEST(a_second_request) {
    const char *const words[] = {"tessera", "train", "--n", "20000", "--steps", "2", "--out", "twice", NULL};
    for (int i = 0; i < 2; i++) {
        int status = 0;
        ck_assert_int_eq(shell("rm -rf twice said.txt >out.txt 2>err.txt"), 0);
        const pid_t child = start(words, "said.txt");
        wait_for("twice/run.json");
        wait_milliseconds(200);
        kill(child, SIGTERM);
        for (int tries = 0; tries < 1000; tries++) {
            char *said = read_file("said.txt", NULL);
            const bool answered = said[0] != '\0';
            free(said);
            if (answered) break;
            wait_milliseconds(10);
        }
        kill(child, i == 0 ? SIGTERM : SIGINT);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == (i == 0 ? SIGTERM : SIGINT));
        ck_assert(file_exists("twice/last.safetensors"));
    }
}
END_TEST

START_TEST(names_and_values_out_of_the_ordinary) {
    json_t *report = tessera_json("train " SMALL " --steps 10 --out 'a \"b\"\\c'");
    ck_assert_str_eq(json_string_value(json_object_get(report, "out")), "a \"b\"\\c");
    json_decref(report);
    /* a run that diverged says so in its metrics, and can be read back */
    json_decref(tessera_json("train " SMALL " --steps 20 --out wild"));
    write_file("wild/metrics.csv", "step,train_loss,val_objective,val_relative,lr,seconds\n10,inf,nan,inf,0.01,1.0\n");
    json_decref(tessera_json("train --resume wild --steps 40"));
    char *metrics = read_file("wild/metrics.csv", NULL);
    ck_assert_ptr_nonnull(strstr(metrics, "\n10,inf,nan,inf,0.01,1.0\n30,"));
    ck_assert_ptr_nonnull(strstr(metrics, "\n40,"));
    free(metrics);
    write_file("wild/metrics.csv", "step,train_loss,val_objective,val_relative,lr,seconds\nten,1,1,1,1,1\n");
    expect_failure(1, "wild/metrics.csv: line 2 is not one of a training run", "train --resume wild --steps 60");
}
END_TEST

START_TEST(wrong_command_lines) {
    expect_failure(2, "where to? --out DIR", "train");
    expect_failure(2, "--family: 'gauss' is none of", "train --out x --family normal,gauss");
    expect_failure(2, "k", "train --out x --n 5 --k 6");
    expect_failure(2, "dropout", "train --out x --dropout 1.5");
    expect_failure(2, "unroll_ramp must be in [0,1]", "train --out x --unroll 2 --unroll-ramp 2");
    expect_failure(2, "--unroll-ramp: there is nothing to grow to without --unroll", "train --out x --unroll-ramp .5");
    expect_failure(2, "--patience: is for --schedule plateau, not cosine",
                   "train --out x --schedule cosine --patience 5");
    expect_failure(2, "--plateau-factor: is for --schedule plateau, not constant",
                   "train --out x --schedule constant --plateau-factor .5");
    expect_failure(2, "--lr: inf is not a finite number", "train --out x --lr inf");
    expect_failure(2, "--tau: inf is not a finite number", "train --out x --tau inf");
    expect_failure(2, "--lr: -1 is not a number above 0", "train --out x --lr -1");
    expect_failure(2, "--n: 1 points are fewer than the 2 clusters of --k", "train --out x --n 1 --k 2");
    expect_failure(2, "--loss: 'hinge' is none of softmin, sparsemin", "train --out x --loss hinge");
    expect_failure(2, "--scratch: 'dot' is none of", "train --out x --scratch dot");
    expect_failure(2, "--clip: 'none' is not a finite number", "train --out x --clip none");
    /* a run's own options, or the defaults, are refused as well */
    expect_failure(2, "--n: a run that goes on keeps its options", "train --resume x --n 512");
    expect_failure(2, "--schedule: a run that goes on keeps its options", "train --resume x --schedule=plateau");
    expect_failure(2, "--log-loss: a run that goes on keeps its options", "train --resume x --steps 5 --log-loss");
    expect_failure(2, "--resume says already", "train --resume x --out y");
    expect_failure(2, "--warmup: 20 steps leave none", "train --out x --schedule cosine --warmup 20 --steps 10");
    expect_failure(1, "No such file", "train --resume nowhere");
    expect_failure(1, "not/there: No such file", "train --out not/there");
    expect_failure(1, "x: needs about 7773.1 GB for 1 thread, this machine has",
                   "train --out x --n 10000000000 --d 2 --k 2 --threads 1");
    expect_failure(1, " GB for 2 threads, this machine has", "train --out x --n 1000000000 --d 8 --threads 2");
    write_file("plain", "");
    expect_failure(1, "plain: is not a folder", "train --out plain");
    expect_failure(1, "plain: is not a folder", "train --resume plain");
    expect_failure(1, "/dev/null: is not a folder", "train --out /dev/null");
    ck_assert(!file_exists("x"));
}
END_TEST

START_TEST(damaged_runs) {
    json_decref(tessera_json("train " SMALL " --steps 10 --out damaged"));
    size_t length;
    char *bytes = read_file("damaged/last.safetensors", &length);
    FILE *file = fopen("damaged/last.safetensors", "wb");
    fwrite(bytes, 1, length - 1, file);
    fclose(file);
    free(bytes);
    expect_failure(1, "damaged/last.safetensors: ", "train --resume damaged --steps 20");
}
END_TEST

START_TEST(a_model_clusters_a_file) {
    json_error_t error;
    json_decref(tessera_json("train --n 40 --d 2 --k 2 --batch 8 --steps 40 --eval-every 20 --out pair"));
    ck_assert_int_eq(
        tessera("cluster \"$TESSERA_DATA/faithful.csv\" --model pair/last.safetensors --scaling minmax --json"), 0);
    json_t *report = json_loads(out, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(report != NULL, "%s", error.text);
    ck_assert_int_eq(json_integer_value(json_object_get(report, "k")), 2);
    const double objective = json_number_value(json_object_get(report, "objective"));
    ck_assert(isfinite(objective) && objective > 0);
    json_decref(report);
    ck_assert_int_eq(
        tessera("cluster \"$TESSERA_DATA/faithful.csv\" --model pair/last.safetensors --steps 3 --trajectory "
                "t.npy --labels l.csv --centers c.csv"),
        0);
    ck_assert_ptr_nonnull(strstr(out, "learned clustering, as a transformer (onehot, trained for 40 steps)"));
    expect_failure(1, "4 features, but pair/last.safetensors was trained on 2",
                   "cluster \"$TESSERA_DATA/iris.csv\" --labels-column species --model pair/last.safetensors");
    expect_failure(1, "k = 3, but pair/last.safetensors was trained on 2",
                   "cluster \"$TESSERA_DATA/faithful.csv\" -k 3 --model pair/last.safetensors");
    expect_failure(2, "--gamma: the file given by --model says it all",
                   "cluster \"$TESSERA_DATA/faithful.csv\" --model pair/last.safetensors --gamma 2");
    expect_failure(2, "a model wants points in [0,1]",
                   "cluster \"$TESSERA_DATA/faithful.csv\" --model pair/last.safetensors --scaling standard");
    expect_failure(2, "--ties: the file given by --model says it all",
                   "cluster \"$TESSERA_DATA/faithful.csv\" --model pair/last.safetensors --ties lowest");
    expect_failure(2, "--empty: a learned model",
                   "cluster \"$TESSERA_DATA/faithful.csv\" --model pair/last.safetensors --empty keep");
    expect_failure(1, "faithful.csv: not a safetensors file",
                   "cluster \"$TESSERA_DATA/faithful.csv\" --model \"$TESSERA_DATA/faithful.csv\"");
}
END_TEST

static json_t *clustered(const char *model, const char *words) {
    return tessera_json("cluster \"$TESSERA_DATA/faithful.csv\" --model %s/last.safetensors %s", model, words);
}

/* The centres are those of one step, the best, and the report says of which. */
START_TEST(a_model_tells_its_best_step) {
    char words[64], line[64];
    json_decref(tessera_json("train --n 40 --d 2 --k 2 --batch 4 --steps 2 --lr .2 --eval-every 2 --out steps"));
    json_t *many = clustered("steps", "--scaling minmax --steps 9 --steps-exact");
    ck_assert_int_eq(json_integer_value(json_object_get(many, "steps")), 9);
    const int64_t best = json_integer_value(json_object_get(many, "best_step"));
    ck_assert(json_is_integer(json_object_get(many, "best_step")) && best >= 0 && best < 9);
    snprintf(words, sizeof words, "--scaling minmax --steps %lld --steps-exact", (long long)best);
    json_t *few = clustered("steps", words);
    ck_assert(json_equal(json_object_get(few, "centers"), json_object_get(many, "centers")));
    ck_assert_int_eq(json_integer_value(json_object_get(few, "best_step")), best);
    ck_assert_int_eq(tessera("cluster \"$TESSERA_DATA/faithful.csv\" --model steps/last.safetensors --scaling minmax "
                             "--steps 9 --steps-exact"),
                     0);
    snprintf(line, sizeof line, "converged; best after step %lld\n", (long long)best); /* said as it is not the last */
    ck_assert_msg(strstr(out, line) != NULL, "%s", out);
    json_decref(few);
    json_decref(many);
    json_t *plain = tessera_json("cluster \"$TESSERA_DATA/faithful.csv\" -k 2");
    ck_assert_ptr_null(json_object_get(plain, "best_step"));
    json_decref(plain);
}
END_TEST

/* Minutes of eruption beside minutes of waiting: under one scale the first are next to nothing. */
START_TEST(columns_of_other_ranges_than_in_training) {
    static const char note[] = "  note: the ranges of the columns differ widely";
    json_decref(tessera_json("train --n 40 --d 2 --k 2 --batch 4 --steps 2 --eval-every 2 --out ranges"));
    for (int i = 0; i < 2; i++) {
        const char *words = i == 0 ? "--scaling none" : "--scaling minmax";
        json_t *report = clustered("ranges", words);
        ck_assert(i == 0 ? json_is_true(json_object_get(report, "narrow_column"))
                         : json_is_false(json_object_get(report, "narrow_column")));
        json_decref(report);
        ck_assert_int_eq(tessera("cluster \"$TESSERA_DATA/faithful.csv\" --model ranges/last.safetensors %s", words),
                         0);
        ck_assert_msg((strstr(out, note) != NULL) == (i == 0), "%s", out);
    }
    write_file("even.csv", "a,b,c\n0,0,7\n1,.2,7\n.5,.1,7\n");
    ck_assert_int_eq(tessera("cluster even.csv --columns 1-2 --model ranges/last.safetensors"), 0);
    ck_assert_ptr_null(strstr(out, note));
    ck_assert_int_eq(tessera("cluster even.csv --columns 1,3 --model ranges/last.safetensors"), 0); /* a constant */
    ck_assert_ptr_null(strstr(out, note));
}
END_TEST

#if defined(_OPENMP) && defined(__linux__)
/* Whether a program started with these variables has `wanted` in its environment, as OpenMP finds it, once it trains.
 */
static bool program_gets(const char *variables, const char *wanted) {
    char command[1024];
    snprintf(command, sizeof command,
             "%s $TESSERA train --out waiting --quiet >out.txt 2>err.txt & pid=$!; i=0;"
             "until test -e waiting || test $i = 3000; do i=$((i+1)); sleep .01; done;"
             "tr '\\0' '\\n' </proc/$pid/environ >environ; kill $pid; wait $pid; rm -rf waiting;"
             "test -s environ || exit 2; grep -qx %s environ",
             variables, wanted);
    const int code = shell(command);
    ck_assert_int_le(code, 1);
    return code == 0;
}

START_TEST(threads_wait_briefly_unless_told) {
    ck_assert(program_gets("env -u OMP_WAIT_POLICY", "GOMP_SPINCOUNT=10000"));
    ck_assert(program_gets("GOMP_SPINCOUNT=77 env -u OMP_WAIT_POLICY", "GOMP_SPINCOUNT=77"));
    ck_assert(!program_gets("OMP_WAIT_POLICY=active", "GOMP_SPINCOUNT=10000"));
}
END_TEST
#endif

int main(void) {
    TCase *tests = tcase_create("train");
    tcase_add_test(tests, a_run_and_its_files);
    tcase_add_test(tests, the_curve_as_drawn);
    tcase_add_test(tests, threads_change_nothing);
    tcase_add_test(tests, longer_by_resuming);
    tcase_add_test(tests, a_cosine_schedule_ends);
    tcase_add_test(tests, training_that_diverges);
    tcase_add_test(tests, kills_lose_nothing);
    tcase_add_test(tests, a_kill_before_the_first_checkpoint);
    tcase_add_test(tests, a_request_to_end);
    tcase_add_test(tests, a_second_request);
    tcase_add_test(tests, names_and_values_out_of_the_ordinary);
    tcase_add_test(tests, wrong_command_lines);
    tcase_add_test(tests, damaged_runs);
    tcase_add_test(tests, a_model_clusters_a_file);
    tcase_add_test(tests, a_model_tells_its_best_step);
    tcase_add_test(tests, columns_of_other_ranges_than_in_training);
#if defined(_OPENMP) && defined(__linux__)
    tcase_add_test(tests, threads_wait_briefly_unless_told);
#else
    say_skipped("threads_wait_briefly_unless_told", "no OpenMP, or not Linux");
#endif
    return run_program_case("training by the program", tests);
}
