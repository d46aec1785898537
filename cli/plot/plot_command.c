/* plot_command.c: `tessera plot`: curves of several runs, or of several evals, in one picture. */
#include <stdlib.h>
#include <string.h>

#include "../common/commands.h"
#include "../common/message.h"
#include "../common/options.h"
#include "../common/outputs.h"
#include "../draw/drawing.h"
#include "curves.h"

typedef struct plot_options {
    const char *out, *title, *column;
    bool group, x_log, y_log;
} plot_options;

#define FIELD(name) offsetof(plot_options, name)

static const cli_option options_table[] = {
    CLI_OPTION(CLI_TEXT, "out", "F", out, "the picture (.svg .png .pdf), by gnuplot"),
    CLI_OPTION(CLI_FLAG, "group", NULL, group,
               "one line for runs that differ in their seed only (seed-1, seed-2):\nthe median, in a ribbon of the "
               "quartiles"),
    CLI_OPTION(CLI_TEXT, "column", "NAME", column,
               "of metrics.csv: train_loss, val_objective, val_relative or lr\n(default val_relative)"),
    CLI_OPTION(CLI_TEXT, "title", "TEXT", title, "above the picture"),
    CLI_OPTION(CLI_FLAG, "x-log", NULL, x_log, "a logarithmic axis of steps"),
    CLI_OPTION(CLI_FLAG, "y-log", NULL, y_log, "a logarithmic axis of values (val_relative and lr have one anyway)"),
};

static const cli_command command = {
    .name = "plot",
    .operand = "FILE...",
    .many = true,
    .summary = "Draws the curves of several training runs (their metrics.csv), or of several evals (the CSVs that\n"
               "--csv of tessera eval wrote), together. A line is named after its folder or file.",
    .examples = "Examples\n"
                "  tessera plot run*/metrics.csv --out runs.svg\n"
                "  tessera plot list/*/metrics.csv --group --out list.svg\n"
                "  tessera plot a.csv b.csv --out evals.svg\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
};

enum { MOST_FILES = 256 };

typedef struct plot_job {
    plot_options options;
    int count;
    cli_curve_file file[MOST_FILES];
    cli_lines_picture picture;
} plot_job;

static int read_files(plot_job *job, const char *const *paths, int count) {
    for (int i = 0; i < count; i++) {
        if (cli_curve_read(paths[i], &job->file[job->count++]) != CLI_DONE) return CLI_FAILED;
        if (job->file[i].kind != job->file[0].kind)
            return cli_fail(CLI_FAILED, "%s and %s: curves of training and of eval do not go into one picture",
                            paths[0], paths[i]);
    }
    return CLI_DONE;
}

/* Of eval: the model of each file, and once Lloyd's algorithm. */
static int add_lines(plot_job *job) {
    const bool training = job->file[0].kind == CLI_CURVES_OF_TRAINING;
    const char *column = job->options.column != NULL ? job->options.column : "val_relative";
    cli_lines_picture *p = &job->picture;
    *p = (cli_lines_picture){.x_name = training ? "training step" : "step",
                             .y_name = training ? column : "mean log objective",
                             .title = job->options.title != NULL ? job->options.title
                                      : training                 ? "Training runs"
                                                                 : "Learned steps and Lloyd's",
                             .x_log = job->options.x_log,
                             .y_log = job->options.y_log};
    if (training && strcmp(column, "val_relative") == 0) {
        p->y_name = "objective relative to Lloyd";
        p->reference_name = "Lloyd";
        p->reference = 1;
        p->y_log = true;
    }
    p->y_log = p->y_log || (training && strcmp(column, "lr") == 0);
    int status = cli_curves_add(job->file, job->count, training ? column : "model", job->options.group, p);
    if (status != CLI_DONE || training) return status;
    status = cli_curves_add(job->file, 1, "lloyd", false, p);
    if (status != CLI_DONE) return status;
    strcpy(p->line[p->n_lines - 1].label, "Lloyd");
    p->line[p->n_lines - 1].is_lloyd = true;
    for (int l = 0; l < p->n_lines; l++) /* a model that diverges leaves the picture */
        if (p->line[l].count > 0 && p->line[l].y[0] + 0.5 > p->most) p->most = p->line[l].y[0] + 0.5;
    return CLI_DONE;
}

static bool draw(const void *result, const char *path, ts_io_error *error) {
    const plot_job *job = result;
    return cli_lines_plot(&job->picture, path, error);
}

int cli_plot(int n_words, char *const *words) {
    static const char *paths[MOST_FILES];
    int count = 0;
    plot_job *job = calloc(1, sizeof *job);
    if (job == NULL) return cli_fail(CLI_FAILED, "out of memory");
    int status = cli_parse_many(&command, n_words, words, &job->options, paths, MOST_FILES, &count);
    const cli_outputs outputs = {
        .list = {{"out", "picture", job->options.out, .check = cli_drawing_check, .write = draw}}};
    if (status == CLI_GO_ON && job->options.out == NULL) status = cli_fail(CLI_WRONG_USE, "where to? --out FILE.svg");
    if (status == CLI_GO_ON) status = cli_outputs_check(&outputs);
    if (status == CLI_GO_ON) status = read_files(job, paths, count);
    if (status == CLI_DONE) status = add_lines(job);
    if (status == CLI_DONE) status = cli_outputs_write(&outputs, job);
    for (int i = 0; i < job->count; i++) cli_curve_free(&job->file[i]);
    cli_lines_free(&job->picture);
    free(job);
    return status;
}
