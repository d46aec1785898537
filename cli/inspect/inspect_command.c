/* inspect_command.c: `tessera inspect`: what a checkpoint, or any .safetensors file, holds. */
#include <stdio.h>

#include "../../io/output_file.h"
#include "../common/commands.h"
#include "../common/message.h"
#include "../common/options.h"
#include "../eval/eval_options.h"
#include "inspect_attention.h"
#include "inspect_file.h"
#include "inspect_report.h"
#include "inspect_weights.h"

typedef struct inspect_options {
    const char *path, *plot, *attention;
    bool all, json;
} inspect_options;

#define FIELD(name) offsetof(inspect_options, name)

static const cli_option options_table[] = {
    CLI_OPTION(CLI_TEXT, "plot", "F", plot,
               "heat maps of the weights (.svg .png .pdf), by gnuplot, beside those\nof the construction that is "
               "Lloyd's algorithm"),
    CLI_OPTION(CLI_TEXT, "attention", "F", attention,
               "heat maps of the attention in one task, points ordered by their\ntrue cluster"),
    CLI_OPTION(CLI_FLAG, "all", NULL, all, "list the optimiser's moments too"),
    CLI_OPTION(CLI_FLAG, "json", NULL, json, "everything as one JSON object"),
};

static const cli_command command = {
    .name = "inspect",
    .operand = "CHECKPOINT",
    .summary = "Tells what a checkpoint is: the model, how far its training is, the options that are not the\n"
               "defaults, and every tensor: its type, shape, mean, deviation, extremes, and norm (the root of the\n"
               "sum of squares). Of any other .safetensors file it lists the tensors.",
    .examples = "Examples\n"
                "  tessera inspect run/best.safetensors --plot weights.svg --attention attention.svg\n"
                "  tessera inspect run/last.safetensors --json\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
};

static int check(const inspect_options *o) {
    if (o->plot != NULL && o->attention != NULL && ts_output_same(o->plot, o->attention))
        return cli_fail(CLI_WRONG_USE, "--plot and --attention: both would write %s", o->plot);
    const int status = cli_eval_try_picture("plot", o->plot, o->path);
    return status != CLI_GO_ON ? status : cli_eval_try_picture("attention", o->attention, o->path);
}

static int draw(const inspect_options *o, const cli_inspect_file *file) {
    ts_io_error error;
    const ts_trainer *t = file->trainer;
    if (t == NULL && (o->plot != NULL || o->attention != NULL))
        return cli_fail(CLI_FAILED, "%s: not a checkpoint: there is no model to draw", o->path);
    if (o->plot != NULL && !cli_inspect_plot_weights(&t->model, o->plot, &error))
        return cli_fail(CLI_FAILED, "%s", error.text);
    if (o->attention != NULL && !cli_inspect_plot_attention(t, o->attention, &error))
        return cli_fail(CLI_FAILED, "%s", error.text);
    return CLI_DONE;
}

static int report(const inspect_options *o, const cli_inspect_file *file) {
    const bool done = o->json ? cli_inspect_print_json(file) : cli_inspect_print_report(file, o->all);
    if (done && !o->json && (o->plot != NULL || o->attention != NULL)) putchar('\n');
    if (done && !o->json && o->plot != NULL) printf("  %-14s%s\n", "plot", o->plot);
    if (done && !o->json && o->attention != NULL) printf("  %-14s%s\n", "attention", o->attention);
    return done ? cli_flush_stdout() : cli_fail(CLI_FAILED, "%s: out of memory", o->path);
}

int cli_inspect(int n_words, char *const *words) {
    inspect_options options = {0};
    int status = cli_parse(&command, n_words, words, &options, &options.path);
    if (status == CLI_GO_ON) status = check(&options);
    if (status != CLI_GO_ON) return status;
    cli_inspect_file file;
    status = cli_inspect_read(options.path, &file);
    if (status == CLI_DONE) status = draw(&options, &file);
    if (status == CLI_DONE) status = report(&options, &file);
    cli_inspect_free(&file);
    return status;
}
