/* train_command.c: `tessera train`. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../train/checkpoint.h"
#include "../common/commands.h"
#include "../common/json_writer.h"
#include "../common/message.h"
#include "../common/number_text.h"
#include "../common/options.h"
#include "../common/outputs.h"
#include "../common/progress.h"
#include "../common/threads.h"
#include "train_data.h"
#include "train_list.h"
#include "train_options.h"
#include "train_run.h"

/* ---- signals ----------------------------------------------------------------------------------------------------- */

/* On the first signal the step is finished and a checkpoint written; a second signal ends the process at once. */
static volatile sig_atomic_t asked_to_stop;
static bool on_terminal; /* there may be a progress line to write over */

static void on_signal(int number) {
    static const char answer[] =
        "\r\033[Ktessera: the step is finished and a checkpoint written; a second signal ends at once\n";
    enum { ERASING = 4 }; /* characters that only a terminal takes */
    const size_t from = on_terminal ? 0 : ERASING;
    const int reason = errno;
    if (asked_to_stop) {
        signal(number, SIG_DFL);
        raise(number); /* arrives when this function returns */
        return;
    }
    asked_to_stop = 1;
    const ssize_t told = write(STDERR_FILENO, answer + from, sizeof answer - 1 - from);
    (void)told; /* standard error may be closed */
    errno = reason;
}

static void catch_signals(bool progress_line) {
    struct sigaction action = {.sa_handler = on_signal};
    action.sa_flags = SA_RESTART; /* files are written to their end */
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    on_terminal = progress_line;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

static const char last[] = "last.safetensors";

typedef struct session {
    const cli_train_options *options;
    ts_trainer *trainer;
    cli_training run;
    cli_progress progress;
    int64_t first_step;
    int64_t saved_step;   /* of last.safetensors */
    double began, before; /* seconds of this session, and of those before it */
} session;

static double seconds_of(const session *s) {
    return s->before + cli_seconds() - s->began;
}

static int fail(const ts_error *error) {
    return cli_fail(CLI_FAILED, "%s", error->text);
}

static int save(const session *s, const char *file) {
    char path[CLI_TRAINING_PATH];
    ts_error error = {.status = TS_OK};
    if (ts_checkpoint_write(s->trainer, cli_training_path(&s->run, file, path), &error) == TS_OK) return CLI_DONE;
    return fail(&error);
}

static int save_last(session *s) {
    const int status = save(s, last);
    if (status == CLI_DONE) s->saved_step = s->trainer->step;
    return status;
}

static int fail_training(session *s, const ts_error *error) {
    cli_progress_end(&s->progress);
    return cli_fail(CLI_FAILED, "%s: %s; %s is of step %lld", s->run.folder, error->text, last,
                    (long long)s->saved_step);
}

static int evaluate(session *s) {
    ts_train_test result;
    ts_error error = {.status = TS_OK};
    ts_trainer *t = s->trainer;
    if (ts_trainer_test(t, &result, &error) != TS_OK) return fail(&error);
    const cli_metrics row = {.step = t->step,
                             .train_loss = t->loss_sum / (double)t->loss_count,
                             .val_objective = result.objective,
                             .val_relative = result.relative,
                             .rate = ts_schedule_rate(&t->schedule, t->step - 1),
                             .seconds = seconds_of(s)};
    const ts_status sound = ts_trainer_check(t, &result, &error);
    const bool best = ts_trainer_observe(t, &result);
    const int status = cli_training_add(&s->run, &row);
    if (status == CLI_DONE && sound != TS_OK) return fail_training(s, &error);
    return status == CLI_DONE && best ? save(s, "best.safetensors") : status;
}

static int step(session *s) {
    ts_train_step report;
    ts_error error = {.status = TS_OK};
    const ts_train_options *o = &s->trainer->options;
    char now[CLI_NUMBER_TEXT], best[CLI_NUMBER_TEXT];
    if (ts_trainer_step(s->trainer, &report, &error) != TS_OK) return fail_training(s, &error);
    const double share = (double)(s->trainer->step - s->first_step) / (double)(o->steps - s->first_step);
    const double relative = s->run.count > 0 ? s->run.rows[s->run.count - 1].val_relative : NAN;
    cli_progress_line(&s->progress, share, "step %lld of %lld, loss %.5g, relative to Lloyd %s (best %s), lr %.3g",
                      (long long)s->trainer->step, (long long)o->steps, report.loss, cli_ratio_text(relative, now),
                      cli_ratio_text(s->trainer->best, best), report.rate);
    return CLI_DONE;
}

/* Regular checkpoints are written at evaluations; a run that is asked to end in between writes one where it is. */
static bool checkpoint_due(const session *s) {
    const int64_t every =
        s->options->checkpoint_every > 0 ? s->options->checkpoint_every : 10 * s->trainer->options.eval_every;
    const int64_t step = s->trainer->step;
    return step / every != (step - s->trainer->options.eval_every) / every;
}

static int train(session *s) {
    const ts_train_options *o = &s->trainer->options;
    int status = CLI_DONE;
    while (status == CLI_DONE && s->trainer->step < o->steps && !asked_to_stop) {
        status = step(s);
        const bool evaluates = s->trainer->step % o->eval_every == 0 || s->trainer->step == o->steps;
        if (status == CLI_DONE && evaluates) status = evaluate(s);
        if (status != CLI_DONE || !evaluates || !checkpoint_due(s)) continue;
        status = save_last(s);
        if (status == CLI_DONE) status = cli_training_draw(&s->run, s->trainer);
    }
    cli_progress_end(&s->progress);
    if (status == CLI_DONE) status = save_last(s);
    if (status == CLI_DONE) status = cli_training_draw(&s->run, s->trainer);
    if (status != CLI_DONE || !asked_to_stop || s->trainer->step >= o->steps) return status;
    return cli_fail(CLI_FAILED, "%s: interrupted after step %lld; tessera train --resume %s goes on", s->run.folder,
                    (long long)s->trainer->step, s->run.folder);
}

/* ---- the report -------------------------------------------------------------------------------------------------- */

static double peak_megabytes(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss / 1024 : NAN;
}

static bool report_json(const void *result) {
    const session *s = result;
    const ts_trainer *t = s->trainer;
    cli_json json = {.digits = 17};
    cli_json_put(&json, "{ out:s steps:i skipped:i seconds:f peak_megabytes:f", s->run.folder, t->step, t->skipped,
                 seconds_of(s), peak_megabytes());
    if (isfinite(t->best)) cli_json_put(&json, "best_relative:f best_step:i", t->best, t->best_step);
    cli_json_put(&json, "}");
    return cli_json_end(&json);
}

static bool report(const void *result) {
    const session *s = result;
    enum { WIDTH = 38 };
    const ts_trainer *t = s->trainer;
    const ts_train_options *o = &t->options;
    char ratio[CLI_NUMBER_TEXT];
    printf("%s: %lld steps of %lld tasks, N %lld, D %lld, K %lld, %s\n", s->run.folder, (long long)t->step,
           (long long)o->batch, (long long)o->n, (long long)o->d, (long long)o->k,
           o->architecture != NULL ? o->architecture->name : ts_construction_names[o->construction]);
    if (o->architecture != NULL) printf("  %-*s%lld\n", WIDTH, "parameters", (long long)ts_model_trained(&t->model));
    if (isfinite(t->best))
        printf("  %-*s%s after step %lld\n", WIDTH, "best objective relative to Lloyd", cli_ratio_text(t->best, ratio),
               (long long)t->best_step);
    if (s->run.count > 0)
        printf("  %-*s%s\n", WIDTH, "last", cli_ratio_text(s->run.rows[s->run.count - 1].val_relative, ratio));
    if (t->skipped > 0) printf("  %-*s%lld\n", WIDTH, "steps skipped, gradient unusable", (long long)t->skipped);
    printf("  %-*s%.1f s, %.0f MB\n", WIDTH, "time and peak memory", seconds_of(s), peak_megabytes());
    return true;
}

/* ---- a new run, or the one that goes on -------------------------------------------------------------------------- */

/* Refuses a run that the system would end for lack of memory. */
static int check_memory(const char *folder, ts_trainer *trainer) {
    const double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE), giga = 1e9;
    const int threads = cli_threads();
    double needed = 0;
    ts_error error = {.status = TS_OK};
    if (ts_trainer_memory(trainer, threads, &needed, &error) != TS_OK)
        return cli_fail(CLI_FAILED, "%s: %s", folder, error.text);
    if (!(machine > 0) || needed <= machine) return CLI_DONE;
    return cli_fail(CLI_FAILED, "%s: needs about %.1f GB for %lld thread%s, this machine has %.1f GB", folder,
                    needed / giga, CLI_COUNT(threads), machine / giga);
}

/* Initial values that are not random. */
static int start(const session *s) {
    const char *from = s->options->start;
    ts_error error = {.status = TS_OK};
    ts_model model;
    if (from == NULL) return CLI_DONE;
    if (strcmp(from, "construction") == 0) {
        const double gamma = s->options->start_gamma;
        if (ts_trainer_start_as_construction(s->trainer, gamma, &error) == TS_OK) return CLI_DONE;
        return cli_fail(CLI_FAILED, "--start construction: %s", error.text);
    }
    if (ts_model_load(from, &model, NULL, &error) != TS_OK) return fail(&error);
    const ts_status status = ts_trainer_start_from(s->trainer, &model, &error);
    ts_model_clear(&model);
    return status == TS_OK ? CLI_DONE : cli_fail(CLI_FAILED, "%s: %s", from, error.text);
}

static int begin_new(session *s) {
    ts_error error = {.status = TS_OK};
    s->trainer = ts_trainer_create(&s->options->train, &error);
    if (s->trainer == NULL && s->options->arch != NULL)
        return cli_fail(CLI_FAILED, "%s: %s", s->options->arch, error.text);
    if (s->trainer == NULL) return fail(&error);
    if (start(s) != CLI_DONE || check_memory(s->options->out, s->trainer) != CLI_DONE) return CLI_FAILED;
    return cli_training_create(&s->run, s->options->out);
}

static int begin_again(session *s) {
    const char *folder = s->options->resume;
    const int64_t steps = s->options->steps;
    ts_error error = {.status = TS_OK};
    char path[CLI_TRAINING_PATH];
    const int status = cli_training_open(&s->run, folder);
    if (status != CLI_DONE) return status;
    s->trainer = ts_checkpoint_resume_with(cli_training_path(&s->run, last, path), &s->options->train.source, &error);
    if (s->trainer == NULL) return fail(&error);
    ts_train_options *o = &s->trainer->options;
    if (steps > 0 && steps < s->trainer->step)
        return cli_fail(CLI_FAILED, "%s: the run is at step %lld already", folder, (long long)s->trainer->step);
    if (steps > o->schedule.total && o->schedule.kind == TS_SCHEDULE_COSINE)
        return cli_fail(CLI_FAILED, "%s: --steps %lld: the cosine schedule of this run ends at step %lld", folder,
                        (long long)steps, (long long)o->schedule.total);
    if (check_memory(folder, s->trainer) != CLI_DONE) return CLI_FAILED;
    if (steps > 0) o->steps = steps;
    return cli_training_read(&s->run, s->trainer->step);
}

/* The first checkpoint is written before the first step and run.json, which follows from it: the run can be resumed. */
static int begin(session *s) {
    int status = s->options->resume == NULL ? begin_new(s) : begin_again(s);
    if (status == CLI_DONE) status = save_last(s);
    return status == CLI_DONE ? cli_training_describe(&s->run, &s->trainer->options) : status;
}

static int train_one(int n_words, char *const *words, bool reports) {
    cli_train_options options;
    int status = cli_train_read_options(n_words, words, &options);
    if (status != CLI_GO_ON) {
        ts_architecture_free(options.architecture);
        return status;
    }
    cli_set_threads(options.shared.threads);
    if (options.data != NULL)
        status = cli_train_read_data(options.data, options.columns, options.labels_column, &options.train.source,
                                     &options.rows);
    if (status != CLI_GO_ON && status != CLI_DONE) {
        ts_architecture_free(options.architecture);
        return status;
    }
    session s = {.options = &options, .began = cli_seconds()};
    status = begin(&s);
    if (status == CLI_DONE) {
        s.first_step = s.trainer->step;
        s.before = s.run.count > 0 ? s.run.rows[s.run.count - 1].seconds : 0;
        s.progress = cli_progress_begin(options.shared.quiet);
        catch_signals(s.progress.on);
        status = train(&s);
    }
    const cli_outputs outputs = {.as_json = options.shared.json};
    if (status == CLI_DONE && reports) status = cli_outputs_tell(&outputs, s.run.folder, report_json, report, &s);
    ts_trainer_free(s.trainer);
    ts_architecture_free(options.architecture);
    free(options.rows);
    cli_training_free(&s.run);
    return status;
}

static bool stopped(void) {
    return asked_to_stop != 0;
}

int cli_train(int n_words, char *const *words) {
    if (cli_train_is_list(n_words, words)) return cli_train_list(n_words, words, train_one, stopped);
    return train_one(n_words, words, true);
}
