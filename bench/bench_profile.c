#include "bench_profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../autograd/parallel.h"
#include "../cli/common/message.h"
#include "../cli/common/progress.h"
#include "../cli/common/threads.h"
#include "../train/trainer.h"

const char *const cli_bench_part_names[CLI_BENCH_PARTS] = {"drawing tasks", "tape", "waiting", "summing gradients",
                                                           "optimiser"};

/* ---- what a thread sees ------------------------------------------------------------------------------------------ */

typedef struct timeline {
    double last; /* when its last pass ended; at first, when the step began */
    bool behind; /* its last task is done, or none is begun */
    int ops;
    const ts_op *known[CLI_BENCH_OPS];
    double op[CLI_BENCH_OPS][CLI_BENCH_PASSES], draw, tape;
} timeline;

/* The place of an op; the last one takes all that there is no room for. */
static int place_of(timeline *t, const ts_op *op) {
    int place = 0;
    while (place < t->ops && t->known[place] != op) place++;
    if (place == CLI_BENCH_OPS) return CLI_BENCH_OPS - 1;
    if (place == t->ops) t->known[t->ops++] = op;
    return place;
}

static void observe(void *context, const ts_node *node, ts_pass *pass) {
    timeline *t = (timeline *)context + ts_thread();
    const int place = place_of(t, node->op), backward = pass == node->op->backward;
    const double began = cli_seconds();
    *(t->behind && !backward ? &t->draw : &t->tape) += began - t->last;
    pass(node);
    t->last = cli_seconds();
    t->op[place][backward] += t->last - began;
    t->behind = backward;
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

/* Seconds of one step of an optimiser like the trainer's. */
static double time_optimiser(const ts_trainer *t, ts_real *room) {
    ts_error error = {.status = TS_OK};
    const int64_t size = ts_params_size(t->model.params);
    ts_optimiser *twin = ts_optimiser_create(&t->options.optimiser, size, NULL, &error);
    if (twin == NULL) return 0;
    memset(room, 0, 2 * (size_t)size * sizeof *room);
    ts_optimiser_step(twin, 1e-3, size, room, room + size);
    const double began = cli_seconds();
    ts_optimiser_step(twin, 1e-3, size, room, room + size);
    const double seconds = cli_seconds() - began;
    ts_optimiser_free(twin);
    return seconds;
}

/* A step from `began` to `ended`: adds what the timelines saw, and what is around it. */
static void add_step(cli_bench_profile *p, timeline *lines, double began, double ended, double optimiser) {
    double latest = began;
    for (int i = 0; i < p->threads; i++) latest = fmax(latest, lines[i].last);
    const double tail = ended - latest, threads = p->threads;
    p->part[CLI_BENCH_STEP] += threads * fmin(optimiser, tail);
    p->part[CLI_BENCH_SUM] += threads * (tail - fmin(optimiser, tail));
    for (int i = 0; i < p->threads; i++) p->part[CLI_BENCH_WAIT] += latest - lines[i].last;
    p->total += threads * (ended - began);
    p->runs++;
}

static void add_timeline(cli_bench_profile *p, const timeline *line) {
    p->part[CLI_BENCH_DRAW] += line->draw;
    p->part[CLI_BENCH_TAPE] += line->tape;
    for (int i = 0; i < line->ops; i++) {
        int place = cli_place_of(p->name, p->ops, line->known[i]->name);
        if (place < 0) place = p->ops++;
        p->name[place] = line->known[i]->name;
        for (int b = 0; b < CLI_BENCH_PASSES; b++) p->op[place][b] += line->op[i][b];
    }
}

static ts_status run_steps(const cli_bench_options *o, ts_trainer *t, timeline *lines, ts_real *room,
                           cli_progress *progress, cli_bench_profile *p, ts_error *error) {
    ts_train_step report;
    cli_progress_now(progress, "%s: preparing", p->work);
    if (ts_trainer_step(t, &report, error) != TS_OK) return error->status;
    if (ts_trainer_watch(t, observe, lines, error) != TS_OK) return error->status;
    for (int64_t r = 0; r < o->runs; r++) {
        cli_progress_now(progress, "%s: run %lld of %lld", p->work, (long long)r + 1, (long long)o->runs);
        const double optimiser = time_optimiser(t, room), began = cli_seconds();
        for (int i = 0; i < p->threads; i++) lines[i].last = began, lines[i].behind = true;
        if (ts_trainer_step(t, &report, error) != TS_OK) return error->status;
        add_step(p, lines, began, cli_seconds(), optimiser);
    }
    for (int i = 0; i < p->threads; i++) add_timeline(p, &lines[i]);
    p->step = 1e3 * p->total / p->threads / p->runs;
    return TS_OK;
}

/* ---- the works --------------------------------------------------------------------------------------------------- */

static ts_status profile_item(const cli_bench_options *o, const cli_bench_item *item, cli_progress *progress,
                              cli_bench_profile *p, ts_error *error) {
    ts_trainer *t = item->kind->prepare(o->quick ? item->quick : item->shape, error);
    if (t == NULL) return error->status;
    /* With fewer tasks than threads the tasks come one after the other, and the ops take all threads. */
    *p = (cli_bench_profile){.work = item->work, .threads = cli_threads_used()};
    if (t->options.batch < ts_max_threads()) p->threads = 1;
    timeline *lines = calloc((size_t)ts_max_threads(), sizeof *lines);
    ts_real *room = malloc(2 * (size_t)ts_params_size(t->model.params) * sizeof *room);
    if (lines == NULL || room == NULL)
        ts_error_set(error, TS_ERROR_MEMORY, "out of memory");
    else
        run_steps(o, t, lines, room, progress, p, error);
    free(room);
    free(lines);
    ts_trainer_free(t);
    return error->status;
}

void cli_bench_profile_run(const cli_bench_options *o, cli_bench_profiles *all) {
    *all = (cli_bench_profiles){.options = o};
    cli_progress progress = cli_progress_begin(o->shared.quiet);
    for (int w = 0; w < CLI_BENCH_TRAININGS; w++) {
        const cli_bench_item *item = cli_bench_items;
        ts_error error = {.status = TS_OK};
        if (!o->chosen[w]) continue;
        while (strcmp(item->work, cli_bench_works[w]) != 0) item++;
        if (profile_item(o, item, &progress, &all->profile[all->count], &error) == TS_OK) {
            all->count++;
        } else {
            all->failure[all->failures].work = item->work;
            all->failure[all->failures++].error = error;
        }
    }
    cli_progress_end(&progress);
}

int cli_bench_profile_judge(const cli_bench_profiles *all) {
    for (int i = 0; i < all->failures; i++)
        cli_fail(CLI_FAILED, "%s: %s", all->failure[i].work, all->failure[i].error.text);
    return all->failures == 0 ? CLI_DONE : CLI_FAILED;
}
