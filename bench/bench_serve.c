#include "bench_serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../autograd/parallel.h"
#include "../cli/common/message.h"
#include "../cli/common/threads.h"
#include "bench_peak.h"
#include "bench_work.h"

/* What takes less is done again and again for so long, after once that does not count, and its mean taken: threads that
 * sleep take their time to come. As in peer_base.py. */
static const double BRIEF_MS = 100;

/* The item at hand. */
typedef struct server {
    const cli_bench_kind *kind; /* NULL: none yet */
    int64_t shape[CLI_BENCH_SHAPE];
    void *work;
} server;

/* VmHWM begins with the program; ru_maxrss, for systems without it, with what started the program. */
static double peak_megabytes(void) {
    char line[256];
    double kilobytes = 0;
    struct rusage usage;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0) kilobytes = strtod(line + 6, NULL);
    if (status != NULL) fclose(status);
    if (!(kilobytes > 0) && getrusage(RUSAGE_SELF, &usage) == 0) kilobytes = (double)usage.ru_maxrss;
    return kilobytes / 1024;
}

static void forget(server *s) {
    if (s->kind != NULL) s->kind->release(s->work);
    s->kind = NULL;
}

static ts_status run(server *s, const char *name, const int64_t *shape, double *milliseconds, ts_error *error) {
    const cli_bench_kind *kind = cli_bench_kind_by_name(name);
    if (kind == NULL) return ts_error_set(error, TS_ERROR_VALUE, "there is no '%s'", name);
    if (s->kind != kind || memcmp(shape, s->shape, sizeof s->shape) != 0) {
        forget(s);
        s->work = kind->prepare(shape, error);
        if (s->work == NULL) return error->status;
        s->kind = kind;
        memcpy(s->shape, shape, sizeof s->shape);
    }
    ts_status status = kind->run(s->work, milliseconds, error);
    if (status != TS_OK || *milliseconds >= BRIEF_MS) return status;
    double sum = 0, count = 0;
    for (; sum < BRIEF_MS && status == TS_OK; count++) {
        status = kind->run(s->work, milliseconds, error);
        sum += *milliseconds;
    }
    *milliseconds = sum / count;
    return status;
}

static ts_status answer(server *s, const char *line, double *number, ts_error *error) {
    char name[CLI_BENCH_TEXT];
    long long a[CLI_BENCH_SHAPE] = {0};
    if (sscanf(line, "run %63s %lld %lld %lld %lld", name, &a[0], &a[1], &a[2], &a[3]) == 1 + CLI_BENCH_SHAPE)
        return run(s, name, (const int64_t[]){a[0], a[1], a[2], a[3]}, number, error);
    if (sscanf(line, "peak %lld", &a[0]) == 1)
        *number = cli_bench_peak(a[0] > 0 ? (int)a[0] : ts_max_threads());
    else if (sscanf(line, "bandwidth %lld %lld", &a[0], &a[1]) == 2)
        *number = cli_bench_bandwidth(a[0] > 0 ? (int)a[0] : ts_max_threads(), a[1]);
    else if (strcmp(line, "threads\n") == 0)
        *number = cli_threads_used();
    else if (strcmp(line, "memory\n") == 0)
        *number = peak_megabytes();
    else
        return ts_error_set(error, TS_ERROR_VALUE, "what is asked?");
    if (*number > 0) return TS_OK;
    return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for arrays of %lld megabytes", a[1]);
}

int cli_bench_serve(int n_words, char *const *words) {
    server s = {.kind = NULL};
    char line[CLI_BENCH_LINE];
    if (n_words > 0) cli_set_threads(strtol(words[0], NULL, 10));
    puts("ready");
    while (fflush(stdout) == 0 && fgets(line, sizeof line, stdin) != NULL) {
        ts_error error = {.status = TS_OK};
        double number = 0;
        if (answer(&s, line, &number, &error) == TS_OK)
            printf("%.9g\n", number);
        else
            printf("%s %s\n", error.status == TS_ERROR_MEMORY ? "memory" : "error", error.text);
    }
    forget(&s);
    return CLI_DONE;
}
