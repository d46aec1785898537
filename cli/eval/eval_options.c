#include "eval_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../io/output_file.h"
#include "../common/message.h"
#include "../common/options.h"
#include "../draw/drawing.h"
#include "../draw/gnuplot.h"

#define FIELD(name) offsetof(cli_eval_options, name)

static const cli_option seed_option = {CLI_SEED, 0, "seed", "S", NULL, 0, 0, 0};
static const cli_command seed_command = {.name = "eval", .options = &seed_option, .n_options = 1};

static const cli_option options_table[] = {
    {CLI_HEADING, 0, NULL, NULL, "Tasks; a list is like normal,laplace, and what is not given is as in training", 0, 0,
     0},
    {CLI_WHOLE, 0, "tasks", "M", "tasks of each kind (default 320)", FIELD(tasks), 1, (int64_t)TS_TASK_LIMIT},
    {CLI_TEXT, 0, "n", "LIST", "points: numbers or ranges 128-512:128, at least k", FIELD(n), 0, 0},
    {CLI_TEXT, 0, "family", "LIST", "of normal, cauchy, gumbel, laplace, lognormal", FIELD(family), 0, 0},
    {CLI_TEXT, 0, "init", "LIST", "initial centres, of random, kmeans++, gonzalez (default random)", FIELD(init), 0, 0},
    {CLI_POSITIVE, 0, "component-scale", "S", "scale of the components", FIELD(component_scale), 0, 0},
    {CLI_FLAG, 0, "unequal", NULL, "components of unequal weights", FIELD(unequal), 0, 0},
    {CLI_FLAG, 0, "equal", NULL, "components of equal weights", FIELD(equal), 0, 0},
    {CLI_FLAG, 0, "anisotropic", NULL, "components with a scale of their own in every dimension", FIELD(anisotropic), 0,
     0},
    {CLI_FLAG, 0, "isotropic", NULL, "components as wide in every dimension", FIELD(isotropic), 0, 0},
    {CLI_TEXT, 0, "seed", "S",
     "of the tasks (default: that of the tasks which watched over the\ntraining: never trained on, but they chose "
     "best.safetensors)",
     FIELD(seed_text), 0, 0},
    {CLI_HEADING, 0, NULL, NULL, "What is run", 0, 0, 0},
    {CLI_WHOLE, 0, "steps", "T", "steps of the model and of Lloyd (default 20)", FIELD(steps), 0, 1000000},
    {CLI_CHOICE, 0, "mode", "reembed|raw",
     "every step on fresh tokens of its centres, or on the tokens that\nthe step "
     "before left (default reembed)",
     FIELD(mode), 0, 0},
    {CLI_WHOLE, 0, "threads", "N", "changes no result (default: as OpenMP chooses)", FIELD(threads), 1, 1024},
    {CLI_HEADING, 0, NULL, NULL, "What to write", 0, 0, 0},
    {CLI_TEXT, 0, "csv", "F", "the curves, a row a step, with their quartiles", FIELD(csv), 0, 0},
    {CLI_TEXT, 0, "plot", "F", "the curves (.svg .png .pdf), by gnuplot", FIELD(plot), 0, 0},
    {CLI_FLAG, 0, "json", NULL, "the curves as one JSON object", FIELD(json), 0, 0},
    {CLI_FLAG, 0, "quiet", NULL, "no progress line", FIELD(quiet), 0, 0},
};

static const cli_command command = {
    .name = "eval",
    .operand = "CHECKPOINT",
    .summary = "Learned steps against as many of Lloyd's algorithm, on fresh tasks, from the same initial centres:\n"
               "the mean over tasks of log(sum of squared distances to the nearest centre), for every\n"
               "combination of --n, --family and --init. A model diverges when that ends not finite, or more\n"
               "than 1 above the start.",
    .examples =
        "Examples\n"
        "  tessera eval run/best.safetensors --plot curve.svg\n"
        "  tessera eval run/best.safetensors --n 128,512 --family normal,cauchy --init random,kmeans++ --json\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
};

/* ---- lists of words ---------------------------------------------------------------------------------------------- */

static int read_families(cli_eval_options *o) {
    const char *names[TS_FAMILIES];
    int places[TS_FAMILIES];
    if (o->family == NULL) return CLI_GO_ON;
    for (int f = 0; f < TS_FAMILIES; f++) names[f] = ts_family_name((ts_family)f);
    const int status = cli_read_words("family", o->family, names, TS_FAMILIES, places, &o->families);
    for (int i = 0; i < o->families; i++) o->family_of[i] = (ts_family)places[i];
    return status;
}

static int read_starts(cli_eval_options *o) {
    int places[CLI_EVAL_STARTS];
    const int status = cli_read_words("init", o->init, ts_start_names, CLI_EVAL_STARTS, places, &o->starts);
    for (int i = 0; i < o->starts; i++) o->start[i] = (ts_start)places[i];
    return status;
}

static int read_lists(cli_eval_options *o) {
    static const cli_sweep_bounds bounds = {true, 1, 1e6};
    static char option[] = "--seed";
    int status = o->n == NULL ? CLI_GO_ON : cli_sweep_read_list("n", o->n, &bounds, &o->points);
    if (status == CLI_GO_ON) status = read_families(o);
    if (status == CLI_GO_ON) status = read_starts(o);
    if (status != CLI_GO_ON || o->seed_text == NULL) return status;
    char *text = strdup(o->seed_text);
    if (text == NULL) return cli_fail(CLI_FAILED, "--seed: out of memory");
    status = cli_parse(&seed_command, 2, (char *const[]){option, text}, &o->seed, NULL);
    free(text);
    return status;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

int cli_eval_try_output(const char *option, const char *path, const char *input) {
    struct stat target;
    ts_output_file file;
    ts_io_error error;
    if (path == NULL) return CLI_GO_ON;
    if (strcmp(path, "-") == 0)
        return cli_fail(CLI_WRONG_USE, "--%s: - is no name of a file (/dev/stdout is standard output)", option);
    if (input != NULL && ts_output_same(path, input))
        return cli_fail(CLI_WRONG_USE, "--%s: would write over %s", option, input);
    if (stat(path, &target) == 0 && !S_ISREG(target.st_mode) && !S_ISDIR(target.st_mode)) return CLI_GO_ON;
    if (!ts_output_open(path, &file, &error)) return cli_fail(CLI_FAILED, "%s", error.text);
    ts_output_abandon(&file);
    return CLI_GO_ON;
}

int cli_eval_try_picture(const char *option, const char *path, const char *input) {
    if (path == NULL) return CLI_GO_ON;
    if (!cli_drawing_path_ok(path))
        return cli_fail(CLI_WRONG_USE, "--%s: %s: the name must end in .svg, .png or .pdf", option, path);
    const int status = cli_eval_try_output(option, path, input);
    if (status == CLI_GO_ON && !cli_gnuplot_found()) return cli_fail(CLI_FAILED, "plot: gnuplot is not installed");
    return status;
}

static int check_outputs(const cli_eval_options *o) {
    if (o->csv != NULL && o->plot != NULL && ts_output_same(o->csv, o->plot))
        return cli_fail(CLI_WRONG_USE, "--csv and --plot: both would write %s", o->plot);
    const int status = cli_eval_try_output("csv", o->csv, o->checkpoint);
    return status != CLI_GO_ON ? status : cli_eval_try_picture("plot", o->plot, o->checkpoint);
}

int cli_eval_read_options(int n_words, char *const *words, cli_eval_options *options) {
    *options = (cli_eval_options){.tasks = 320, .steps = 20, .init = "random"};
    int status = cli_parse(&command, n_words, words, options, &options->checkpoint);
    if (status == CLI_GO_ON) status = read_lists(options);
    if (status != CLI_GO_ON) return status;
    if (options->equal && options->unequal) return cli_fail(CLI_WRONG_USE, "--equal and --unequal: one of them");
    if (options->isotropic && options->anisotropic)
        return cli_fail(CLI_WRONG_USE, "--isotropic and --anisotropic: one of them");
    return check_outputs(options);
}
