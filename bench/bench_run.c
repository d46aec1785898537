#include "bench_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../cli/common/message.h"
#include "../cli/common/options.h"
#include "../cli/common/progress.h"

/* What is slow has FEW_RUNS at most. Before a run the threads of the one before get PAUSE_MS to stop spinning for work.
 */
enum { FEW_RUNS = 3, PAUSE_MS = 50 };

int cli_bench_rounds(const cli_bench_options *o, double milliseconds) {
    return milliseconds > 1e3 * CLI_BENCH_SLOW_SECONDS && o->runs > FEW_RUNS ? FEW_RUNS : (int)o->runs;
}

/* A work being measured. */
typedef struct measuring {
    const cli_bench_options *options;
    cli_bench_group *g;
    cli_progress *progress;
    int place, works; /* from 1; of so many */
} measuring;

/* Round -1 warms up. */
static void tell(const measuring *m, const char *who, int round, int rounds) {
    char run[48] = "preparing";
    if (round >= 0) snprintf(run, sizeof run, "run %d of %d", round + 1, rounds);
    cli_progress_now(m->progress, "%s (work %d of %d): %s, %s", m->g->work, m->place, m->works, who, run);
}

static void rest(const cli_bench_options *o) {
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    if (!o->quick) nanosleep(&pause, NULL);
}

/* ---- ours -------------------------------------------------------------------------------------------------------- */

static bool run_item(cli_bench_result *r, double *milliseconds) {
    char line[CLI_BENCH_LINE];
    return cli_bench_ask(&r->child, cli_bench_line(r->item->kind->name, r->shape, line), milliseconds);
}

/* It is measured unless it fails; and one that has failed holds no memory that others may need. */
static void judge_item(cli_bench_result *r, bool done) {
    r->state = done ? CLI_BENCH_MEASURED : CLI_BENCH_BROKEN;
    if (!done) cli_bench_stop(&r->child);
}

static void begin_item(const measuring *m, cli_bench_result *r) {
    double warm = 0;
    tell(m, "tessera", -1, 0);
    for (int i = 0; i < CLI_BENCH_SAMPLES; i++) r->ms[i] = r->share[i] = NAN;
    judge_item(r, cli_bench_start_self(&r->child, m->options->shared.threads, m->progress) &&
                      cli_bench_ask(&r->child, "memory", &r->before) && run_item(r, &warm));
    r->rounds = cli_bench_rounds(m->options, warm);
}

/* One run, between two looks at the peak. */
static bool measure_item(const cli_bench_options *o, cli_bench_result *r, int sample) {
    double before, after, ms;
    rest(o);
    if (!cli_bench_ask(&r->child, "peak 0", &before) || !run_item(r, &ms) ||
        !cli_bench_ask(&r->child, "peak 0", &after))
        return false;
    r->ms[sample] = ms;
    r->share[sample] = cli_bench_flops(r->item->kind, r->shape) * 1e-6 / ms / ((before + after) / 2);
    return true;
}

static void end_item(cli_bench_result *r) {
    const double flops = cli_bench_flops(r->item->kind, r->shape);
    const double data = cli_bench_data_bytes(r->item->kind, r->shape);
    if (r->state != CLI_BENCH_MEASURED) return;
    judge_item(r, cli_bench_ask(&r->child, "memory", &r->peak));
    cli_bench_stop(&r->child);
    r->time = cli_bench_summarise(r->ms, CLI_BENCH_SAMPLES);
    r->gflops = flops > 0 ? flops * 1e-6 / r->time.median : NAN;
    r->peak_share = flops > 0 ? cli_bench_summarise(r->share, CLI_BENCH_SAMPLES).median : NAN;
    r->multiple = data > 0 ? (r->peak - r->before) * 0x1p20 / data : NAN;
}

/* ---- theirs ------------------------------------------------------------------------------------------------------ */

static bool run_rival(const measuring *m, cli_bench_rival *v, double *milliseconds) {
    char line[CLI_BENCH_LINE];
    return cli_bench_ask(&v->child, cli_bench_line(v->peer->work, m->g->result[0].shape, line), milliseconds);
}

static bool measure_rival(const measuring *m, cli_bench_rival *v, int round) {
    tell(m, v->peer->name, round, v->rounds);
    rest(m->options);
    return run_rival(m, v, &v->ms[round]);
}

static bool begin_rival(const measuring *m, cli_bench_rival *v) {
    double warm = 0;
    tell(m, v->peer->name, -1, 0);
    for (int r = 0; r < CLI_BENCH_MOST_RUNS; r++) v->ms[r] = NAN;
    const bool started = cli_bench_start_peer(&v->child, v->peer, (double)m->options->patience, m->progress);
    v->state = started || v->child.failed ? CLI_BENCH_BROKEN : CLI_BENCH_ABSENT; /* until it is measured */
    if (!started) return false;
    memcpy(v->version, v->child.text, sizeof v->version);
    if (!cli_bench_ask(&v->child, "memory", &v->before) || !run_rival(m, v, &warm)) return false;
    v->rounds = cli_bench_rounds(m->options, warm);
    return true;
}

/* `first`: the sample of ours that stands against its first one. */
static void end_rival(const cli_bench_group *g, cli_bench_rival *v, int first) {
    double ratio[CLI_BENCH_MOST_RUNS];
    const double data = cli_bench_data_bytes(g->result[0].item->kind, g->result[0].shape);
    v->state = CLI_BENCH_MEASURED;
    v->time = cli_bench_summarise(v->ms, CLI_BENCH_MOST_RUNS);
    v->multiple = data > 0 ? (v->peak - v->before) * 0x1p20 / data : NAN;
    for (int i = 0; i < g->results; i++) {
        for (int r = 0; r < v->rounds; r++) ratio[r] = v->ms[r] / g->result[i].ms[first + r];
        v->ratio[i] = cli_bench_summarise(ratio, v->rounds).median;
    }
}

/* ---- a session --------------------------------------------------------------------------------------------------- */

static void measure_items(const measuring *m, int session, int round) {
    const cli_bench_group *g = m->g;
    for (int i = 0; i < g->results; i++) {
        cli_bench_result *r = &m->g->result[round % 2 == 0 ? i : g->results - 1 - i];
        char text[CLI_BENCH_TEXT];
        if (r->state != CLI_BENCH_MEASURED || round >= r->rounds) continue;
        tell(m, cli_bench_what(r->item, r->shape, text), round, r->rounds);
        judge_item(r, measure_item(m->options, r, session * (int)m->options->runs + round));
    }
}

/* Rounds of ours, and of the rival's while it does not fail; NULL: none. */
static void run_session(const measuring *m, cli_bench_rival *v, int session) {
    bool going = v != NULL;
    for (int round = 0; round < (int)m->options->runs; round++) {
        const bool asked = going && round < v->rounds, theirs_first = round % 2 == 1;
        if (asked && theirs_first) going = measure_rival(m, v, round);
        measure_items(m, session, round);
        if (asked && !theirs_first) going = measure_rival(m, v, round);
    }
    if (going && cli_bench_ask(&v->child, "memory", &v->peak)) end_rival(m->g, v, session * (int)m->options->runs);
}

static void run_group(const measuring *m) {
    cli_bench_group *g = m->g;
    bool measured = false;
    for (int i = 0; i < g->results; i++) begin_item(m, &g->result[i]);
    for (int p = 0; p < g->rivals; p++) {
        cli_bench_rival *v = &g->rival[p];
        if (begin_rival(m, v)) {
            run_session(m, v, p);
            measured = true;
        }
        cli_bench_stop(&v->child);
    }
    if (!measured) run_session(m, NULL, 0);
    for (int i = 0; i < g->results; i++) end_item(&g->result[i]);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* The groups of the works chosen, with their items and peers. */
static bool make_groups(cli_bench_table *t) {
    const cli_bench_options *o = t->options;
    t->group = calloc(CLI_BENCH_WORKS, sizeof *t->group);
    for (int w = 0; t->group != NULL && w < CLI_BENCH_WORKS; w++) {
        if (!o->chosen[w]) continue;
        cli_bench_group *g = &t->group[t->groups++];
        g->work = cli_bench_works[w];
        for (const cli_bench_item *item = cli_bench_items; item->work != NULL; item++)
            if (strcmp(item->work, g->work) == 0)
                g->result[g->results++] =
                    (cli_bench_result){.item = item, .shape = o->quick ? item->quick : item->shape};
        const cli_bench_item *item = g->result[0].item;
        const cli_bench_peer *first;
        g->rivals = o->peers == 0 && item->has_peers ? cli_bench_peers_of(item->kind, &first) : 0;
        for (int p = 0; p < g->rivals; p++) g->rival[p].peer = first + p;
    }
    return t->group != NULL;
}

int cli_bench_run(const cli_bench_options *options, cli_bench_table *table) {
    *table = (cli_bench_table){.options = options};
    if (!make_groups(table)) return cli_fail_memory("bench");
    cli_progress progress = cli_progress_begin(options->shared.quiet);
    bool rivals = false;
    for (int g = 0; g < table->groups; g++) rivals = rivals || table->group[g].rivals > 0;
    const int status = rivals ? cli_bench_check_python(&progress) : CLI_GO_ON;
    if (status != CLI_GO_ON) return status;
    cli_bench_know_machine(options, &progress, &table->machine);
    for (int g = 0; g < table->groups; g++)
        run_group(&(measuring){options, &table->group[g], &progress, g + 1, table->groups});
    cli_progress_end(&progress);
    return CLI_DONE;
}

int cli_bench_judge(const cli_bench_table *table) {
    const cli_bench_result *first = NULL;
    int failed = 0;
    for (int g = 0; g < table->groups; g++)
        for (int i = 0; i < table->group[g].results; i++) {
            const cli_bench_result *r = &table->group[g].result[i];
            if (r->state == CLI_BENCH_MEASURED) continue;
            if (failed++ == 0) first = r;
        }
    if (first == NULL) return CLI_DONE;
    char what[CLI_BENCH_TEXT], more[32] = "";
    if (failed > 1) snprintf(more, sizeof more, " (and %d more failed)", failed - 1);
    return cli_fail(CLI_FAILED, "%s, %s: %s%s", first->item->work, cli_bench_what(first->item, first->shape, what),
                    first->child.text, more);
}

void cli_bench_free(cli_bench_table *table) {
    for (int g = 0; table->group != NULL && g < table->groups; g++)
        for (int i = 0; i < table->group[g].results; i++) cli_bench_stop(&table->group[g].result[i].child);
    free(table->group);
}
