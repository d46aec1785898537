/* bench_command.c: `tessera bench`: how fast this is, beside others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/common/commands.h"
#include "../cli/common/message.h"
#include "../cli/common/options.h"
#include "../cli/common/threads.h"
#include "bench_profile.h"
#include "bench_report.h"
#include "bench_scaling.h"
#include "bench_serve.h"

/* What an output came to: the status so far, or that of an output that failed, which says why; the others are written
 * all the same, for measuring takes minutes. */
static int after_output(int status, bool done, const ts_io_error *error) {
    return done ? status : cli_fail(CLI_FAILED, "%s", error->text);
}

static int run_table(const cli_bench_options *o, cli_bench_table *t) {
    ts_io_error error;
    int status = cli_bench_run(o, t);
    if (status != CLI_DONE) return status;
    if (!o->shared.json)
        cli_bench_print_report(t);
    else if (!cli_bench_print_json(t))
        status = cli_fail(CLI_FAILED, "bench: out of memory");
    if (cli_flush_stdout() != CLI_DONE) status = CLI_FAILED;
    if (o->csv != NULL) status = after_output(status, cli_bench_write_csv(t, &error), &error);
    if (o->markdown != NULL) status = after_output(status, cli_bench_write_markdown(t, &error), &error);
    if (o->plot != NULL) status = after_output(status, cli_bench_plot(t, &error), &error);
    return cli_bench_judge(t) == CLI_DONE ? status : CLI_FAILED;
}

static int run_scaling(const cli_bench_options *o) {
    static cli_bench_scaling s;
    ts_io_error error;
    int status = CLI_DONE;
    cli_bench_scale(o, &s);
    if (!o->shared.json)
        cli_bench_scaling_print(&s);
    else if (!cli_bench_scaling_print_json(&s))
        status = cli_fail(CLI_FAILED, "bench: out of memory");
    if (cli_flush_stdout() != CLI_DONE) status = CLI_FAILED;
    if (o->csv != NULL) status = after_output(status, cli_bench_scaling_write_csv(&s, &error), &error);
    if (o->markdown != NULL) status = after_output(status, cli_bench_scaling_write_markdown(&s, &error), &error);
    if (o->plot != NULL) status = after_output(status, cli_bench_scaling_plot(&s, &error), &error);
    return cli_bench_scaling_judge(&s) == CLI_DONE ? status : CLI_FAILED;
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
    use_threads(options.shared.threads);
    if (options.profile) return cli_bench_profile_run(&options);
    if (options.scaling) return run_scaling(&options);
    cli_bench_table table;
    status = run_table(&options, &table);
    cli_bench_free(&table);
    return status;
}
