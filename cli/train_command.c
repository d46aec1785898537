/* train_command.c: `tessera train`. */
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "../train/checkpoint.h"
#include "commands.h"
#include "message.h"
#include "options.h"
#include "progress.h"
#include "threads.h"
#include "train_options.h"
#include "train_run.h"

/* Asked to end: the step is finished and a checkpoint written first. */
static volatile sig_atomic_t asked_to_stop;

static void on_signal(int number) {
    (void)number;
    asked_to_stop = 1;
}

static void catch_signals(void) {
    struct sigaction action = {.sa_handler = on_signal};
    action.sa_flags = (int)SA_RESETHAND; /* a second one ends at once */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

typedef struct session {
    const cli_train_options *options;
    ts_trainer *trainer;
    cli_training run;
    cli_progress progress;
    int64_t first_step;
    double began, before; /* seconds of this session, and of those before it */
    double loss_sum;      /* since the last row */
    int64_t loss_count;
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

static int evaluate(session *s) {
    ts_train_test result;
    ts_error error = {.status = TS_OK};
    ts_trainer *t = s->trainer;
    const double rate = ts_schedule_rate(&t->schedule, t->step - 1);
    if (ts_trainer_test(t, &result, &error) != TS_OK) return fail(&error);
    const bool best = ts_trainer_observe(t, &result);
    const cli_metrics row = {.step = t->step,
                             .train_loss = s->loss_sum / (double)s->loss_count,
                             .val_objective = result.objective,
                             .val_relative = result.relative,
                             .rate = rate,
                             .seconds = seconds_of(s)};
    s->loss_sum = 0;
    s->loss_count = 0;
    const int status = cli_training_add(&s->run, &row);
    return status == CLI_DONE && best ? save(s, "best.safetensors") : status;
}

static int step(session *s) {
    ts_train_step report;
    ts_error error = {.status = TS_OK};
    const ts_train_options *o = &s->trainer->options;
    if (ts_trainer_step(s->trainer, &report, &error) != TS_OK) return fail(&error);
    s->loss_sum += report.loss;
    s->loss_count++;
    const double share = (double)(s->trainer->step - s->first_step) / (double)(o->steps - s->first_step);
    const double relative = s->run.count > 0 ? s->run.rows[s->run.count - 1].val_relative : NAN;
    cli_progress_line(&s->progress, share, "step %lld of %lld, loss %.5g, relative to Lloyd %.4f (best %.4f), lr %.3g",
                      (long long)s->trainer->step, (long long)o->steps, report.loss, relative, s->trainer->best,
                      report.rate);
    return CLI_DONE;
}

/* Regular checkpoints are written at evaluations, so that train_loss of the rows that follow is a mean over all their
 * steps; a run that is asked to end in between writes one where it is. */
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
        status = save(s, "last.safetensors");
        if (status == CLI_DONE) status = cli_training_draw(&s->run, s->trainer);
    }
    cli_progress_end(&s->progress);
    if (status == CLI_DONE) status = save(s, "last.safetensors");
    if (status == CLI_DONE) status = cli_training_draw(&s->run, s->trainer);
    if (status != CLI_DONE || !asked_to_stop || s->trainer->step >= o->steps) return status;
    return cli_fail(CLI_FAILED, "%s: interrupted after step %lld; tessera train --resume %s goes on", s->run.folder,
                    (long long)s->trainer->step, s->run.folder);
}

static double peak_megabytes(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss / 1024 : NAN;
}

static int report_json(const session *s) {
    const ts_trainer *t = s->trainer;
    json_t *report =
        json_pack("{s:s, s:I, s:I, s:f, s:f}", "out", s->run.folder, "steps", (json_int_t)t->step, "skipped",
                  (json_int_t)t->skipped, "seconds", seconds_of(s), "peak_megabytes", peak_megabytes());
    if (report == NULL) return cli_fail(CLI_FAILED, "%s: the report is no UTF-8, or memory is short", s->run.folder);
    if (isfinite(t->best)) {
        json_object_set_new(report, "best_relative", json_real(t->best));
        json_object_set_new(report, "best_step", json_integer((json_int_t)t->best_step));
    }
    const bool done = json_dumpf(report, stdout, JSON_REAL_PRECISION(17)) == 0;
    json_decref(report);
    if (!done) return cli_fail(CLI_FAILED, "%s: the report could not be written", s->run.folder);
    putchar('\n');
    return CLI_DONE;
}

static void report(const session *s) {
    const ts_trainer *t = s->trainer;
    const ts_train_options *o = &t->options;
    printf("%s: %lld steps of %lld tasks, N %lld, D %lld, K %lld, %s\n", s->run.folder, (long long)t->step,
           (long long)o->batch, (long long)o->n, (long long)o->d, (long long)o->k, ts_scheme_names[o->scheme]);
    if (isfinite(t->best))
        printf("  %-34s%.4f after step %lld\n", "best objective relative to Lloyd", t->best, (long long)t->best_step);
    if (s->run.count > 0) printf("  %-34s%.4f\n", "last", s->run.rows[s->run.count - 1].val_relative);
    if (t->skipped > 0) printf("  %-34s%lld\n", "steps skipped, gradient not finite", (long long)t->skipped);
    printf("  %-34s%.1f s, %.0f MB\n", "time and peak memory", seconds_of(s), peak_megabytes());
}

/* A new run, or the one that goes on. */
static int begin(session *s) {
    const cli_train_options *o = s->options;
    ts_error error = {.status = TS_OK};
    char path[CLI_TRAINING_PATH];
    int status = CLI_DONE;
    if (o->resume == NULL) {
        status = cli_training_create(&s->run, o->out);
        if (status != CLI_DONE) return status;
        s->trainer = ts_trainer_create(&o->train, &error);
    } else {
        s->run.folder = o->resume;
        if (strlen(o->resume) + 32 >= CLI_TRAINING_PATH)
            return cli_fail(CLI_FAILED, "%.40s...: the name is too long", o->resume);
        s->trainer = ts_checkpoint_resume(cli_training_path(&s->run, "last.safetensors", path), &error);
    }
    if (s->trainer == NULL) return fail(&error);
    if (o->resume == NULL) return cli_training_describe(&s->run, &s->trainer->options);
    if (o->steps > 0 && o->steps < s->trainer->step)
        return cli_fail(CLI_FAILED, "%s: the run is at step %lld already", o->resume, (long long)s->trainer->step);
    if (o->steps > 0) s->trainer->options.steps = o->steps;
    return cli_training_open(&s->run, o->resume, s->trainer->step);
}

int cli_train(int n_words, char *const *words) {
    cli_train_options options;
    int status = cli_train_read_options(n_words, words, &options);
    if (status != CLI_GO_ON) return status;
    cli_set_threads(options.threads);
    session s = {.options = &options, .began = cli_seconds()};
    status = begin(&s);
    if (status == CLI_DONE) {
        s.first_step = s.trainer->step;
        s.before = s.run.count > 0 ? s.run.rows[s.run.count - 1].seconds : 0;
        s.progress = cli_progress_begin(options.quiet);
        catch_signals();
        status = train(&s);
    }
    if (status == CLI_DONE) {
        if (options.json)
            status = report_json(&s);
        else
            report(&s);
        if (status == CLI_DONE) status = cli_flush_stdout();
    }
    ts_trainer_free(s.trainer);
    cli_training_free(&s.run);
    return status;
}
