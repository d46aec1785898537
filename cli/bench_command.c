/* bench_command.c: `tessera bench`: how fast this is, beside others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_profile.h"
#include "bench_report.h"
#include "bench_scaling.h"
#include "bench_serve.h"
#include "commands.h"
#include "message.h"
#include "options.h"
#include "threads.h"

static int run_table(const cli_bench_options *o, cli_bench_table *t) {
    ts_io_error error;
    const int status = cli_bench_run(o, t);
    if (status != CLI_DONE) return status;
    if ((o->csv != NULL && !cli_bench_write_csv(t, &error)) ||
        (o->markdown != NULL && !cli_bench_write_markdown(t, &error)) ||
        (o->plot != NULL && !cli_bench_plot(t, &error)))
        return cli_fail(CLI_FAILED, "%s", error.text);
    if (!o->json)
        cli_bench_print_report(t);
    else if (!cli_bench_print_json(t))
        return cli_fail(CLI_FAILED, "bench: out of memory");
    return cli_flush_stdout();
}

static int run_scaling(const cli_bench_options *o) {
    static cli_bench_scaling s;
    ts_io_error error;
    const int status = cli_bench_scale(o, &s);
    if (status != CLI_DONE) return status;
    if ((o->csv != NULL && !cli_bench_scaling_write_csv(&s, &error)) ||
        (o->markdown != NULL && !cli_bench_scaling_write_markdown(&s, &error)) ||
        (o->plot != NULL && !cli_bench_scaling_plot(&s, &error)))
        return cli_fail(CLI_FAILED, "%s", error.text);
    if (!o->json)
        cli_bench_scaling_print(&s);
    else if (!cli_bench_scaling_print_json(&s))
        return cli_fail(CLI_FAILED, "bench: out of memory");
    return cli_flush_stdout();
}

/* Here, and in the processes that are started from here, peers too. */
static void use_threads(int64_t threads) {
    char number[24];
    cli_set_threads(threads);
    snprintf(number, sizeof number, "%lld", (long long)threads);
    if (threads > 0) setenv("OMP_NUM_THREADS", number, 1);
}

int cli_bench(int n_words, char *const *words) {
    cli_bench_options options;
    if (n_words > 0 && strcmp(words[0], "serve") == 0) return cli_bench_serve(n_words - 1, words + 1);
    int status = cli_bench_read_options(n_words, words, &options);
    if (status != CLI_GO_ON) return status;
    use_threads(options.threads);
    if (options.profile) return cli_bench_profile_run(&options);
    if (options.scaling) return run_scaling(&options);
    cli_bench_table table;
    status = run_table(&options, &table);
    cli_bench_free(&table);
    return status;
}
