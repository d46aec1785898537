/* sweep_command.c: `tessera sweep`. Cells run side by side, the longest first, each on one thread. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../common/commands.h"
#include "../common/message.h"
#include "../common/options.h"
#include "../common/outputs.h"
#include "../common/progress.h"
#include "../common/threads.h"
#include "../draw/drawing.h"
#include "sweep_cell.h"
#include "sweep_journal.h"
#include "sweep_options.h"
#include "sweep_plot.h"
#include "sweep_report.h"

typedef struct sweep {
    cli_sweep_options options;
    cli_sweep_grid grid;
    cli_sweep_journal journal;
    cli_progress progress;
    int64_t cells_to_do;
    double cost_to_do, cost_done;
    bool stopped;   /* after a failure nothing new is begun */
    ts_error error; /* of a cell */
    int64_t failed_group;
    int reason; /* why the journal could not be written */
} sweep;

static bool stopped(const sweep *s) {
    bool now;
#pragma omp atomic read
    now = s->stopped;
    return now;
}

static void stop(sweep *s) {
#pragma omp atomic write
    s->stopped = true;
}

/* A cell is done: called by any thread. */
static bool tell(void *caller, int64_t cell, double difference) {
    sweep *s = caller;
#pragma omp critical(sweep_results)
    {
        s->grid.difference[cell] = difference;
        errno = 0;
        if (s->reason == 0 && !cli_sweep_journal_add(&s->journal, &s->grid, cell)) {
            s->reason = errno != 0 ? errno : EIO;
            stop(s);
        }
        s->cost_done += cli_sweep_cost(&s->grid, cell);
        cli_progress_item(&s->progress, "cells", s->cells_to_do, s->cost_done / s->cost_to_do);
    }
    return !stopped(s);
}

static void run_group(sweep *s, int64_t group) {
    ts_error error = {0};
    if (stopped(s) || cli_sweep_compute(&s->grid, group, tell, s, &error) == TS_OK) return;
#pragma omp critical(sweep_results)
    if (s->error.status == TS_OK) {
        s->error = error;
        s->failed_group = group;
    }
    stop(s);
}

/* ---- the order ------------------------------------------------------------------------------------------------- */

typedef struct turn {
    int64_t group;
    double cost;
} turn;

static int by_falling_cost(const void *a, const void *b) {
    const turn *x = a, *y = b;
    if (x->cost < y->cost || x->cost > y->cost) return x->cost < y->cost ? 1 : -1;
    return x->group < y->group ? -1 : 1;
}

/* The groups with work left, the longest first, so that no thread ends alone with a long one. */
static turn *arrange(sweep *s, int64_t *count) {
    const int64_t groups = cli_sweep_groups(&s->grid);
    turn *turns = malloc((size_t)groups * sizeof *turns);
    *count = 0;
    for (int64_t g = 0; turns != NULL && g < groups; g++) {
        const int64_t first = cli_sweep_first_cell(&s->grid, g), end = cli_sweep_first_cell(&s->grid, g + 1);
        double cost = 0;
        for (int64_t c = first; cli_sweep_valid(&s->grid, first) && c < end; c++)
            if (!cli_sweep_done(&s->grid, c)) {
                cost += cli_sweep_cost(&s->grid, c);
                s->cells_to_do++;
            }
        s->cost_to_do += cost;
        if (cost > 0) turns[(*count)++] = (turn){g, cost};
    }
    if (turns != NULL) qsort(turns, (size_t)*count, sizeof *turns, by_falling_cost);
    return turns;
}

static int failure(const sweep *s) {
    if (s->reason != 0) return cli_fail(CLI_FAILED, "%s: %s", s->journal.path, strerror(s->reason));
    if (s->error.status == TS_OK) return CLI_DONE;
    const int64_t cell = cli_sweep_first_cell(&s->grid, s->failed_group);
    return cli_fail(CLI_FAILED, "%.0f clusters, %.0f dimensions, %.0f points, scale %g: %s%s",
                    cli_sweep_value(&s->grid, cell, CLI_SWEEP_CLUSTERS),
                    cli_sweep_value(&s->grid, cell, CLI_SWEEP_DIMENSIONS),
                    cli_sweep_value(&s->grid, cell, CLI_SWEEP_POINTS), cli_sweep_value(&s->grid, cell, CLI_SWEEP_SCALE),
                    s->error.text, s->error.status == TS_ERROR_MEMORY ? " (fewer --threads need less)" : "");
}

static int compute(sweep *s) {
    int64_t count;
    turn *turns = arrange(s, &count);
    if (turns == NULL) return cli_fail_memory(s->options.out);
    cli_set_threads(s->options.shared.threads);
    s->progress = cli_progress_begin(s->options.shared.quiet);
#pragma omp parallel
    {
        cli_set_threads(1); /* what runs inside a cell asks for one thread, and for the memory of one */
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < count; i++) run_group(s, turns[i].group);
    }
    cli_progress_end(&s->progress);
    free(turns);
    return failure(s);
}

static int check_csv(const char *option, const char *path) {
    const size_t length = strlen(path);
    if (length > 4 && strcasecmp(path + length - 4, ".csv") == 0) return CLI_GO_ON;
    return cli_fail(CLI_WRONG_USE, "--%s: %s: the name must end in .csv", option, path);
}

/* The CSV is written last: until it exists the journal does, from which the same command resumes. */
static cli_outputs outputs_of(const cli_sweep_options *o) {
    return (cli_outputs){
        .list = {{"out", "out", o->out, .check = check_csv, .put = cli_sweep_write_csv},
                 {"plot", "plot", o->plot, .check = cli_drawing_check, .write = cli_sweep_plot, .goes_first = true}},
        .as_json = o->shared.json};
}

static int run(sweep *s, const cli_outputs *outputs) {
    const double began = cli_seconds();
    if (!cli_sweep_grid_create(&s->options, &s->grid)) return cli_fail_memory(s->options.out);
    int status = cli_sweep_journal_open(&s->grid, &s->journal);
    if (status != CLI_GO_ON) return status;
    status = compute(s);
    if (status == CLI_DONE) status = cli_outputs_write(outputs, &s->grid);
    if (status != CLI_DONE) return status;
    cli_sweep_journal_close(&s->journal, true);
    s->grid.seconds = cli_seconds() - began;
    status = cli_outputs_tell(outputs, s->options.out, cli_sweep_print_json, cli_sweep_print_report, &s->grid);
    if (status == CLI_DONE && !s->options.shared.quiet) cli_progress_tell_time(s->grid.seconds);
    return status;
}

int cli_sweep(int n_words, char *const *words) {
    static sweep s; /* its lists are large for a stack */
    int status = cli_sweep_read_options(n_words, words, &s.options);
    const cli_outputs outputs = outputs_of(&s.options);
    if (status == CLI_GO_ON) status = cli_outputs_check(&outputs);
    if (status != CLI_GO_ON) return status;
    status = run(&s, &outputs);
    if (s.journal.path != NULL) cli_sweep_journal_close(&s.journal, false);
    cli_sweep_grid_free(&s.grid);
    return status;
}
