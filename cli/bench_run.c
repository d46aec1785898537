#include "bench_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "message.h"
#include "progress.h"

/* What takes longer than SLOW_MS has FEW_RUNS at most. Before a run the threads of the one before get PAUSE_MS to stop
 * spinning for work. */
enum { SLOW_MS = 2000, FEW_RUNS = 3, PAUSE_MS = 50 };

const char *cli_bench_state_text(cli_bench_state state) {
    return state == CLI_BENCH_ABSENT ? "not installed" : state == CLI_BENCH_BROKEN ? "failed" : "";
}

int cli_bench_rounds(const cli_bench_options *o, double milliseconds) {
    return milliseconds > SLOW_MS && o->runs > FEW_RUNS ? FEW_RUNS : (int)o->runs;
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

static bool begin_item(const cli_bench_options *o, cli_bench_result *r) {
    double warm = 0;
    const bool done = cli_bench_start_self(&r->child, o->threads) && cli_bench_ask(&r->child, "memory", &r->before) &&
                      run_item(r, &warm);
    r->rounds = cli_bench_rounds(o, warm);
    for (int i = 0; i < CLI_BENCH_SAMPLES; i++) r->ms[i] = r->share[i] = NAN;
    return done;
}

/* One run, between two looks at the peak. */
static bool measure_item(const cli_bench_options *o, cli_bench_result *r, int sample) {
    double before, after;
    rest(o);
    if (!cli_bench_ask(&r->child, "peak 0", &before) || !run_item(r, &r->ms[sample]) ||
        !cli_bench_ask(&r->child, "peak 0", &after))
        return false;
    const double gflops = cli_bench_flops(r->item->kind, r->shape) * 1e-6 / r->ms[sample];
    r->share[sample] = gflops / ((before + after) / 2);
    return true;
}

static bool end_item(cli_bench_result *r) {
    const double flops = cli_bench_flops(r->item->kind, r->shape);
    const double data = cli_bench_data_bytes(r->item->kind, r->shape);
    if (!cli_bench_ask(&r->child, "memory", &r->peak)) return false;
    cli_bench_stop(&r->child);
    r->time = cli_bench_summarise(r->ms, CLI_BENCH_SAMPLES);
    r->gflops = flops > 0 ? flops * 1e-6 / r->time.median : NAN;
    r->peak_share = flops > 0 ? cli_bench_summarise(r->share, CLI_BENCH_SAMPLES).median : NAN;
    r->multiple = data > 0 ? (r->peak - r->before) * 0x1p20 / data : NAN;
    return true;
}

/* ---- theirs ------------------------------------------------------------------------------------------------------ */

static bool run_rival(const cli_bench_group *g, cli_bench_rival *v, double *milliseconds) {
    char line[CLI_BENCH_LINE];
    return cli_bench_ask(&v->child, cli_bench_line(v->peer->work, g->result[0].shape, line), milliseconds);
}

static bool begin_rival(const cli_bench_options *o, const cli_bench_group *g, cli_bench_rival *v) {
    double warm = 0;
    for (int r = 0; r < CLI_BENCH_MOST_RUNS; r++) v->ms[r] = NAN;
    if (!cli_bench_start_peer(&v->child, v->peer)) return false;
    v->state = CLI_BENCH_BROKEN; /* until it is measured */
    memcpy(v->version, v->child.text, sizeof v->version);
    if (!cli_bench_ask(&v->child, "memory", &v->before) || !run_rival(g, v, &warm)) return false;
    v->rounds = cli_bench_rounds(o, warm);
    return true;
}

/* `first`: the sample of ours that stands against its first one. */
static void end_rival(const cli_bench_group *g, cli_bench_rival *v, int first) {
    double ratio[CLI_BENCH_MOST_RUNS];
    const double data = cli_bench_data_bytes(g->result[0].item->kind, g->result[0].shape);
    v->time = cli_bench_summarise(v->ms, CLI_BENCH_MOST_RUNS);
    v->multiple = data > 0 ? (v->peak - v->before) * 0x1p20 / data : NAN;
    for (int i = 0; i < g->results; i++) {
        for (int r = 0; r < v->rounds; r++) ratio[r] = v->ms[r] / g->result[i].ms[first + r];
        v->ratio[i] = cli_bench_summarise(ratio, v->rounds).median;
    }
}

/* ---- a session --------------------------------------------------------------------------------------------------- */

static bool measure_items(const cli_bench_options *o, cli_bench_group *g, int session, int round) {
    for (int i = 0; i < g->results; i++) {
        cli_bench_result *r = &g->result[round % 2 == 0 ? i : g->results - 1 - i];
        if (round < r->rounds && !measure_item(o, r, session * (int)o->runs + round)) return false;
    }
    return true;
}

/* Rounds of ours, and of the rival's while it does not fail; NULL: none. false when one of ours fails. */
static bool run_session(const cli_bench_options *o, cli_bench_group *g, cli_bench_rival *v, int session) {
    bool going = v != NULL;
    for (int round = 0; round < (int)o->runs; round++) {
        const bool asked = going && round < v->rounds, theirs_first = round % 2 == 1;
        if (asked && theirs_first) {
            rest(o);
            going = run_rival(g, v, &v->ms[round]);
        }
        if (!measure_items(o, g, session, round)) return false;
        if (asked && !theirs_first) {
            rest(o);
            going = run_rival(g, v, &v->ms[round]);
        }
    }
    if (going && cli_bench_ask(&v->child, "memory", &v->peak)) {
        v->state = CLI_BENCH_MEASURED;
        end_rival(g, v, session * (int)o->runs);
    }
    return true;
}

static int run_group(const cli_bench_options *o, cli_bench_group *g) {
    bool done = true, measured = false;
    for (int i = 0; done && i < g->results; i++) done = begin_item(o, &g->result[i]);
    for (int p = 0; done && p < g->rivals; p++) {
        cli_bench_rival *v = &g->rival[p];
        if (begin_rival(o, g, v)) {
            done = run_session(o, g, v, p);
            measured = true;
        }
        cli_bench_stop(&v->child);
    }
    if (!measured) done = done && run_session(o, g, NULL, 0);
    for (int i = 0; done && i < g->results; i++) done = end_item(&g->result[i]);
    if (done) return CLI_DONE;
    const char *reason = "";
    for (int i = g->results - 1; i >= 0; i--)
        if (g->result[i].child.failed) reason = g->result[i].child.text;
    return cli_fail(CLI_FAILED, "%s: %s", g->work, reason);
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
    int status = cli_bench_know_machine(options, &table->machine);
    if (status != CLI_DONE) return status;
    if (!make_groups(table)) return cli_fail(CLI_FAILED, "bench: out of memory");
    cli_progress progress = cli_progress_begin(options->quiet);
    for (int g = 0; status == CLI_DONE && g < table->groups; g++) {
        status = run_group(options, &table->group[g]);
        cli_progress_item(&progress, "works", table->groups, (g + 1) / (double)table->groups);
    }
    cli_progress_end(&progress);
    return status;
}

void cli_bench_free(cli_bench_table *table) {
    for (int g = 0; table->group != NULL && g < table->groups; g++)
        for (int i = 0; i < table->group[g].results; i++) cli_bench_stop(&table->group[g].result[i].child);
    free(table->group);
}
