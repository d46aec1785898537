#include "bench_machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../autograd/isa.h"
#include "../cli/common/threads.h"
#include "bench_child.h"
#include "bench_statistics.h"

/* Arrays of the triad, beyond any cache; or when quick, within it. */
enum { MEGABYTES = 256, QUICK_MEGABYTES = 4 };

static void read_processor(char *name, size_t size) {
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "unknown processor");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "model name", 10) != 0 || strchr(line, ':') == NULL) continue;
        const char *value = strchr(line, ':') + 1;
        value += strspn(value, " ");
        snprintf(name, size, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    if (file != NULL) fclose(file);
    for (char *c = name; *c != '\0'; c++)
        if (*c < ' ' || *c > 126) *c = '?';
}

static void describe(cli_bench_machine *m) {
    const time_t now = time(NULL);
    struct tm day;
    read_processor(m->processor, sizeof m->processor);
#if defined(__clang__)
    snprintf(m->compiler, sizeof m->compiler, "clang %d.%d.%d", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
    snprintf(m->compiler, sizeof m->compiler, "gcc %d.%d.%d", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
    snprintf(m->compiler, sizeof m->compiler, "unknown compiler");
#endif
    if (gmtime_r(&now, &day) == NULL || strftime(m->date, sizeof m->date, "%Y-%m-%d", &day) == 0)
        snprintf(m->date, sizeof m->date, "unknown");
    m->instructions = ts_isa_name(ts_isa_in_use());
    m->cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    m->usable = cli_processors();
    m->threads = cli_threads();
}

/* The median of answers to a question, after one that warms up; NAN when they are not given. */
static double median_answer(cli_bench_child *child, const char *question, int runs) {
    double answers[CLI_BENCH_MOST_RUNS], warm;
    bool done = !child->failed && cli_bench_ask(child, question, &warm);
    for (int r = 0; done && r < runs; r++) done = cli_bench_ask(child, question, &answers[r]);
    return done ? cli_bench_summarise(answers, runs).median : NAN;
}

void cli_bench_know_machine(const cli_bench_options *o, cli_progress *progress, cli_bench_machine *m) {
    const int megabytes = o->quick ? QUICK_MEGABYTES : MEGABYTES, runs = (int)o->runs;
    char one[64], all[64];
    double threads;
    cli_bench_child child;
    *m = (cli_bench_machine){.asked = (int)o->shared.threads};
    describe(m);
    cli_progress_now(progress, "the machine's peak");
    snprintf(one, sizeof one, "bandwidth 1 %d", megabytes);
    snprintf(all, sizeof all, "bandwidth 0 %d", megabytes);
    if (cli_bench_start_self(&child, o->shared.threads, progress) && cli_bench_ask(&child, "threads", &threads))
        m->threads = (int)threads;
    m->peak_one = median_answer(&child, "peak 1", runs);
    m->peak = median_answer(&child, "peak 0", runs);
    m->bandwidth_one = median_answer(&child, one, runs);
    m->bandwidth = median_answer(&child, all, runs);
    cli_bench_stop(&child);
}

bool cli_bench_shares_cores(const cli_bench_machine *m) {
    const int side_by_side = m->threads < m->usable ? m->threads : m->usable;
    return side_by_side > 1 && m->peak < 0.9 * side_by_side * m->peak_one;
}
