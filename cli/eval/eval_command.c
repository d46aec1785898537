/* eval_command.c: `tessera eval`: learned steps against Lloyd's, on fresh tasks. */
#include "../common/commands.h"
#include "../common/message.h"
#include "../common/options.h"
#include "../common/progress.h"
#include "../common/threads.h"
#include "../draw/eval_plot.h"
#include "eval_options.h"
#include "eval_report.h"
#include "eval_run.h"

static int write_outputs(const cli_eval_job *job) {
    ts_io_error error;
    if (job->options->csv != NULL && !cli_eval_write_csv(job, &error)) return cli_fail(CLI_FAILED, "%s", error.text);
    if (job->options->plot != NULL && !cli_eval_plot(job, &error)) return cli_fail(CLI_FAILED, "%s", error.text);
    return CLI_DONE;
}

static int report(const cli_eval_job *job) {
    if (!job->options->shared.json)
        cli_eval_print_report(job);
    else if (!cli_eval_print_json(job))
        return cli_fail(CLI_FAILED, "%s: out of memory", job->options->checkpoint);
    return cli_flush_stdout();
}

int cli_eval(int n_words, char *const *words) {
    static cli_eval_options options; /* its lists are large for a stack */
    const double began = cli_seconds();
    int status = cli_eval_read_options(n_words, words, &options);
    if (status != CLI_GO_ON) return status;
    cli_eval_job job;
    cli_set_threads(options.shared.threads);
    status = cli_eval_run(&options, &job);
    if (status == CLI_DONE) status = write_outputs(&job);
    if (status == CLI_DONE) status = report(&job);
    if (status == CLI_DONE && !options.shared.quiet) cli_progress_tell_time(cli_seconds() - began);
    cli_eval_free(&job);
    return status;
}
