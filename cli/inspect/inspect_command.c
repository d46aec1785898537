/* inspect_command.c: `tessera inspect`: what a checkpoint, or any .safetensors file, holds. */
#include <stdio.h>

#include "../common/commands.h"
#include "../common/message.h"
#include "../common/options.h"
#include "../common/outputs.h"
#include "../draw/drawing.h"
#include "inspect_file.h"
#include "inspect_pictures.h"
#include "inspect_report.h"

typedef struct inspect_options {
    const char *path, *plot, *attention;
    cli_shared shared; /* json only */
    bool all;
} inspect_options;

#define FIELD(name) offsetof(inspect_options, name)

static const cli_option options_table[] = {
    CLI_OPTION(CLI_TEXT, "plot", "F", plot,
               "heat maps of the weights (.svg .png .pdf), by gnuplot, beside those\nof the construction that is "
               "Lloyd's algorithm"),
    CLI_OPTION(CLI_TEXT, "attention", "F", attention,
               "heat maps of the attention in one task, points ordered by their\ntrue cluster"),
    CLI_OPTION(CLI_FLAG, "all", NULL, all, "list the optimiser's moments too"),
    CLI_SHARED_JSON("everything"),
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

static bool draw_weights(const void *result, const char *path, ts_io_error *error) {
    const cli_inspect_file *file = result;
    ts_transformer model;
    ts_error reason = {.status = TS_OK};
    if (file->trainer->model.architecture->definition == NULL)
        return cli_inspect_plot_layers(&file->trainer->model, path, error);
    if (ts_transformer_of_model(&model, &file->trainer->model, &reason) != TS_OK) {
        snprintf(error->text, sizeof error->text, "plot: %s", reason.text);
        return false;
    }
    const bool drawn = cli_inspect_plot_weights(&model, path, error);
    ts_transformer_clear(&model);
    return drawn;
}

static bool draw_attention(const void *result, const char *path, ts_io_error *error) {
    const cli_inspect_file *file = result;
    return cli_inspect_plot_attention(file->trainer, path, error);
}

static cli_outputs outputs_of(const inspect_options *o) {
    return (cli_outputs){
        .list = {{"plot", "plot", o->plot, .check = cli_drawing_check, .write = draw_weights},
                 {"attention", "attention", o->attention, .check = cli_drawing_check, .write = draw_attention}},
        .inputs = {o->path},
        .tells_first = true,
        .title_width = 14,
        .as_json = o->shared.json};
}

int cli_inspect(int n_words, char *const *words) {
    inspect_options options = {0};
    int status = cli_parse(&command, n_words, words, &options, &options.path);
    const cli_outputs outputs = outputs_of(&options);
    if (status == CLI_GO_ON) status = cli_outputs_check(&outputs);
    if (status != CLI_GO_ON) return status;
    cli_inspect_file file;
    status = cli_inspect_read(options.path, &file);
    file.all = options.all;
    if (status == CLI_DONE && file.trainer == NULL && (options.plot != NULL || options.attention != NULL))
        status = cli_fail(CLI_FAILED, "%s: not a checkpoint: there is no model to draw", options.path);
    if (status == CLI_DONE) status = cli_outputs_write(&outputs, &file);
    if (status == CLI_DONE)
        status = cli_outputs_tell(&outputs, options.path, cli_inspect_print_json, cli_inspect_print_report, &file);
    cli_inspect_free(&file);
    return status;
}
