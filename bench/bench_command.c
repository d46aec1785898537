/* bench_command.c: `tessera bench`: how fast this is, beside others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/common/commands.h"
#include "../cli/common/message.h"
#include "../cli/common/options.h"
#include "../cli/common/outputs.h"
#include "../cli/common/threads.h"
#include "../cli/draw/drawing.h"
#include "bench_profile.h"
#include "bench_report.h"
#include "bench_scaling.h"
#include "bench_serve.h"

static cli_outputs outputs_of(const cli_bench_options *o) {
    const cli_bench_report *report = o->profile   ? &cli_bench_profile_report
                                     : o->scaling ? &cli_bench_scaling_report
                                                  : &cli_bench_table_report;
    return (cli_outputs){.list = {{"csv", "csv", o->csv, .put = report->put_csv},
                                  {"markdown", "markdown", o->markdown, .put = report->put_markdown},
                                  {"plot", "plot", o->plot, .check = cli_drawing_check,
                                   .write = o->scaling ? cli_bench_scaling_plot : cli_bench_plot}},
                         .writes_on = true}; /* measuring takes minutes */
}

static int report(const cli_bench_options *o, const cli_outputs *outputs, const cli_bench_report *form,
                  const void *result) {
    cli_json json = {.digits = 9};
    int status = CLI_DONE;
    if (o->shared.json)
        form->put_json(result, &json);
    else
        form->print(result);
    if (o->shared.json && !cli_json_end(&json)) status = cli_fail_memory("bench");
    if (cli_flush_stdout() != CLI_DONE) status = CLI_FAILED;
    return cli_outputs_write(outputs, result) == CLI_DONE ? status : CLI_FAILED;
}

static int run_profile(const cli_bench_options *o, const cli_outputs *outputs) {
    static cli_bench_profiles profiles;
    cli_bench_profile_run(o, &profiles);
    const int status = report(o, outputs, &cli_bench_profile_report, &profiles);
    return cli_bench_profile_judge(&profiles) == CLI_DONE ? status : CLI_FAILED;
}

static int run_scaling(const cli_bench_options *o, const cli_outputs *outputs) {
    static cli_bench_scaling scaling;
    cli_bench_scale(o, &scaling);
    const int status = report(o, outputs, &cli_bench_scaling_report, &scaling);
    return cli_bench_scaling_judge(&scaling) == CLI_DONE ? status : CLI_FAILED;
}

static int run_table(const cli_bench_options *o, const cli_outputs *outputs) {
    cli_bench_table table;
    int status = cli_bench_run(o, &table);
    if (status == CLI_DONE) {
        status = report(o, outputs, &cli_bench_table_report, &table);
        if (cli_bench_judge(&table) != CLI_DONE) status = CLI_FAILED;
    }
    cli_bench_free(&table);
    return status;
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
    const cli_outputs outputs = outputs_of(&options);
    status = cli_outputs_check(&outputs);
    if (status != CLI_GO_ON) return status;
    use_threads(options.shared.threads);
    return (options.profile ? run_profile : options.scaling ? run_scaling : run_table)(&options, &outputs);
}
