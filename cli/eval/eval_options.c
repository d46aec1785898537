#include "eval_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/message.h"
#include "../common/options.h"

#define FIELD(name) offsetof(cli_eval_options, name)

static const cli_option seed_option = {.kind = CLI_SEED, .name = "seed", .argument = "S"};
static const cli_command seed_command = {.name = "eval", .options = &seed_option, .n_options = 1};

static const cli_option options_table[] = {
    CLI_GROUP("Tasks; a list is like normal,laplace, and what is not given is as in training"),
    CLI_OPTION(CLI_WHOLE, "tasks", "M", tasks, "tasks of each kind (default 320)", .least = 1,
               .most = (int64_t)TS_TASK_LIMIT),
    CLI_OPTION(CLI_TEXT, "n", "LIST", n, "points: numbers or ranges 128-512:128, at least k"),
    CLI_OPTION(CLI_WHOLE, "d", "D", d, "their coordinates (default: as in training)", .least = 1),
    CLI_OPTION(CLI_WHOLE, "k", "K", k, "clusters (default: as in training)", .least = 1),
    CLI_OPTION(CLI_TEXT, "family", "LIST", family, "of normal, cauchy, gumbel, laplace, lognormal"),
    CLI_OPTION(CLI_TEXT, "init", "LIST", init, "initial centres, of random, kmeans++, gonzalez (default random)"),
    CLI_OPTION(CLI_POSITIVE, "component-scale", "S", component_scale, "scale of the components"),
    CLI_OPTION(CLI_FLAG, "unequal", NULL, unequal, "components of unequal weights"),
    CLI_OPTION(CLI_FLAG, "equal", NULL, equal, "components of equal weights"),
    CLI_OPTION(CLI_FLAG, "anisotropic", NULL, anisotropic, "components with a scale of their own in every dimension"),
    CLI_OPTION(CLI_FLAG, "isotropic", NULL, isotropic, "components as wide in every dimension"),
    CLI_OPTION(CLI_TEXT, "seed", "S", seed_text,
               "of the tasks (default: that of the tasks which watched over the\ntraining: never trained on, but they "
               "chose best.safetensors)"),
    CLI_GROUP("What is run"),
    CLI_OPTION(CLI_WHOLE, "steps", "T", steps, "steps of the model and of Lloyd (default 20)", .most = 1000000),
    CLI_OPTION(CLI_CHOICE, "mode", "model|reembed|raw", mode,
               "every step on fresh tokens of its centres, or on the tokens that\nthe step before left (default: as "
               "the model says)"),
    CLI_SHARED_THREADS("changes no result"),
    CLI_GROUP("What to write"),
    CLI_OPTION(CLI_TEXT, "csv", "F", csv, "the curves, a row a step, with their quartiles"),
    CLI_OPTION(CLI_TEXT, "plot", "F", plot, "the curves (.svg .png .pdf), by gnuplot"),
    CLI_SHARED_JSON("the curves"),
    CLI_SHARED_QUIET,
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
    const char *names[TS_MOST_FAMILIES];
    int places[TS_MOST_FAMILIES];
    if (o->family == NULL) return CLI_GO_ON;
    for (int f = 0; f < ts_families; f++) names[f] = ts_family_name((ts_family)f);
    const int status = cli_read_words("family", o->family, names, ts_families, places, &o->families);
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
    static const cli_number_bounds bounds = {true, 1, 1e6};
    static char option[] = "--seed";
    int status = o->n == NULL ? CLI_GO_ON : cli_read_numbers("n", o->n, &bounds, &o->points);
    if (status == CLI_GO_ON) status = read_families(o);
    if (status == CLI_GO_ON) status = read_starts(o);
    if (status != CLI_GO_ON || o->seed_text == NULL) return status;
    char *text = strdup(o->seed_text);
    if (text == NULL) return cli_fail(CLI_FAILED, "--seed: out of memory");
    status = cli_parse(&seed_command, 2, (char *const[]){option, text}, &o->shared.seed, NULL);
    free(text);
    return status;
}

int cli_eval_read_options(int n_words, char *const *words, cli_eval_options *options) {
    *options = (cli_eval_options){.tasks = 320, .steps = 20, .init = "random"};
    int status = cli_parse(&command, n_words, words, options, &options->checkpoint);
    if (status == CLI_GO_ON) status = read_lists(options);
    if (status != CLI_GO_ON) return status;
    if (options->equal && options->unequal) return cli_fail(CLI_WRONG_USE, "--equal and --unequal: one of them");
    if (options->isotropic && options->anisotropic)
        return cli_fail(CLI_WRONG_USE, "--isotropic and --anisotropic: one of them");
    return CLI_GO_ON;
}
