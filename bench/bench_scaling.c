#include "bench_scaling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../cli/common/message.h"
#include "../cli/common/progress.h"
#include "bench_child.h"
#include "bench_run.h"

/* ---- measuring --------------------------------------------------------------------------------------------------- */

/* Megabytes of address space that a process may take beyond those that this one has, which is as large as they begin.
 */
static double allowed_megabytes(void) {
    struct rlimit limit;
    double pages = 0;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INFINITY;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL && fscanf(file, "%lf", &pages) != 1) pages = 0;
    if (file != NULL) fclose(file);
    return fmax(0, (double)limit.rlim_cur - pages * (double)sysconf(_SC_PAGESIZE)) * 0x1p-20;
}

/* Megabytes that a process may still take; infinite where that is not told. */
static double free_megabytes(void) {
    char line[256];
    double kilobytes = INFINITY;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "MemAvailable:", 13) == 0) kilobytes = strtod(line + 13, NULL);
    if (file != NULL) fclose(file);
    return fmin(kilobytes / 1024, allowed_megabytes());
}

/* Point number `at`, in a process of its own. */
static bool measure(const cli_bench_options *o, cli_bench_curve *c, int at, cli_progress *progress,
                    cli_bench_child *child) {
    const cli_bench_axis *axis = cli_bench_axis_of(c->axis);
    const bool threads = axis->place == CLI_BENCH_SHAPE;
    double samples[CLI_BENCH_MOST_RUNS], before = 0, warm = 0;
    int64_t shape[CLI_BENCH_SHAPE];
    char line[CLI_BENCH_LINE];
    memcpy(shape, axis->shape[o->quick], sizeof shape);
    if (!threads) shape[axis->place] = (int64_t)c->x[at];
    cli_bench_line(axis->kind->name, shape, line);
    bool done = cli_bench_start_self(child, threads ? (int64_t)c->x[at] : o->shared.threads, progress);
    done = done && cli_bench_ask(child, "memory", &before) && cli_bench_ask(child, line, &warm);
    const int rounds = cli_bench_rounds(o, warm);
    for (int r = 0; done && r < rounds; r++) done = cli_bench_ask(child, line, &samples[r]);
    done = done && cli_bench_ask(child, "memory", &c->peak[at]);
    cli_bench_stop(child);
    if (!done) return false;
    c->time[at] = cli_bench_summarise(samples, rounds);
    c->ms[at] = c->time[at].median;
    c->added[at] = c->peak[at] - before;
    return true;
}

/* Memory grows as the number that varies, or less, where it is much. */
static bool would_be_too_much(const cli_bench_curve *c, int at) {
    return at > 0 && c->added[at - 1] * c->x[at] / c->x[at - 1] > free_megabytes() / 2;
}

/* The values of the axis; those of threads are 1, 2, 4, ... and all. */
static int list_values(const cli_bench_options *o, const cli_bench_machine *m, cli_bench_curve *c) {
    const cli_bench_axis *axis = cli_bench_axis_of(c->axis);
    int count = 0;
    if (axis->place < CLI_BENCH_SHAPE) {
        for (; count < CLI_BENCH_POINTS && axis->values[o->quick][count] > 0; count++)
            c->x[count] = (double)axis->values[o->quick][count];
        return count;
    }
    for (int t = 1; t < m->threads && count < CLI_BENCH_POINTS - 1; t *= 2) c->x[count++] = t;
    c->x[count++] = m->threads;
    return count;
}

static void run_curve(const cli_bench_options *o, const cli_bench_machine *m, cli_bench_curve *c,
                      cli_progress *progress) {
    const int values = list_values(o, m, c);
    while (c->points < values && c->reason[0] == '\0') {
        cli_bench_child child;
        if (would_be_too_much(c, c->points)) {
            snprintf(c->reason, sizeof c->reason, "would need more than half of the free memory");
            break;
        }
        cli_progress_now(progress, "%s, %s = %.0f (%d of %d)", cli_bench_axes[c->axis],
                         cli_bench_axis_of(c->axis)->number, c->x[c->points], c->points + 1, values);
        if (measure(o, c, c->points, progress, &child)) {
            c->points++;
            continue;
        }
        c->failed = !child.no_memory;
        memcpy(c->reason, child.text, sizeof c->reason);
    }
    c->skipped = values - c->points;
    c->time_exponent = cli_bench_exponent(c->x, c->ms, c->points);
    c->memory_exponent = cli_bench_exponent(c->x, c->added, c->points);
}

void cli_bench_scale(const cli_bench_options *options, cli_bench_scaling *scaling) {
    *scaling = (cli_bench_scaling){.options = options};
    cli_progress progress = cli_progress_begin(options->shared.quiet);
    cli_bench_know_machine(options, &progress, &scaling->machine);
    for (int a = 0; a < CLI_BENCH_AXES; a++) {
        if (!options->chosen[a]) continue;
        cli_bench_curve *curve = &scaling->curve[scaling->curves++];
        curve->axis = a;
        run_curve(options, &scaling->machine, curve, &progress);
    }
    cli_progress_end(&progress);
}

int cli_bench_scaling_judge(const cli_bench_scaling *s) {
    int status = CLI_DONE;
    for (int i = 0; status == CLI_DONE && i < s->curves; i++) {
        const cli_bench_curve *c = &s->curve[i];
        if (c->failed)
            status = cli_fail(CLI_FAILED, "%s at %.0f: %s", cli_bench_axes[c->axis], c->x[c->points], c->reason);
    }
    return status;
}
