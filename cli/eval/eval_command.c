/* eval_command.c: `tessera eval`: learned steps against Lloyd's, on fresh tasks. */
#include <stdio.h>

#include "../common/commands.h"
#include "../common/message.h"
#include "../common/options.h"
#include "../common/outputs.h"
#include "../common/progress.h"
#include "../common/threads.h"
#include "../draw/drawing.h"
#include "eval_options.h"
#include "eval_report.h"
#include "eval_run.h"

static bool draw(const void *result, const char *path, ts_io_error *error) {
    static cli_eval_picture picture;
    const cli_eval_job *job = result;
    const int64_t steps = job->options->steps;
    picture = (cli_eval_picture){.tasks = job->options->tasks, .steps = steps, .panels = job->n_rows};
    for (int i = 0; i < job->n_rows; i++) {
        const cli_eval_row *row = &job->rows[i];
        const double *model = row->curve[CLI_EVAL_MODEL];
        cli_eval_panel *panel = &picture.panel[i];
        *panel = (cli_eval_panel){.diverges = cli_eval_diverges(model[0], model[steps]), .curve = row->curve};
        snprintf(panel->title, sizeof panel->title, "n = %lld, %s, %s", (long long)row->task.n,
                 ts_family_name(row->task.family), ts_start_names[row->start]);
    }
    return cli_eval_plot(&picture, path, error);
}

static cli_outputs outputs_of(const cli_eval_options *o) {
    return (cli_outputs){.list = {{"csv", "csv", o->csv, .put = cli_eval_write_csv},
                                  {"plot", "plot", o->plot, .check = cli_drawing_check, .write = draw}},
                         .inputs = {o->checkpoint},
                         .as_json = o->shared.json};
}

int cli_eval(int n_words, char *const *words) {
    static cli_eval_options options; /* its lists are large for a stack */
    const double began = cli_seconds();
    int status = cli_eval_read_options(n_words, words, &options);
    const cli_outputs outputs = outputs_of(&options);
    if (status == CLI_GO_ON) status = cli_outputs_check(&outputs);
    if (status != CLI_GO_ON) return status;
    cli_eval_job job;
    cli_set_threads(options.shared.threads);
    status = cli_eval_run(&options, &job);
    if (status == CLI_DONE) status = cli_outputs_write(&outputs, &job);
    if (status == CLI_DONE)
        status = cli_outputs_tell(&outputs, options.checkpoint, cli_eval_print_json, cli_eval_print_report, &job);
    if (status == CLI_DONE && !options.shared.quiet) cli_progress_tell_time(cli_seconds() - began);
    cli_eval_free(&job);
    return status;
}
