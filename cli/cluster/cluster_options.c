#include "cluster_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/message.h"

#define FIELD(name) offsetof(cli_cluster_options, name)
static const cli_option options_table[] = {
    CLI_GROUP("What to do"),
    CLI_OPTION(CLI_WHOLE, "k", "K", k, "number of clusters (required; a model has its own)", .letter = 'k', .least = 1),
    CLI_OPTION(CLI_CHOICE, "algorithm", NULL, algorithm,
               "the algorithm that the transformer is, see above (default lloyd)"),
    CLI_OPTION(CLI_CHOICE, "construction", "onehot|binary|dot", construction,
               "how it carries assignments: one-hot codes, binary codes, or\none-hot codes with dot-product attention "
               "(default onehot)"),
    CLI_OPTION(CLI_TEXT, "arch", "FILE.json", arch, "a transformer of one's own, instead (docs/definitions.md)"),
    CLI_OPTION(CLI_TEXT, "model", "CHECKPOINT", model,
               "a trained transformer, instead; as many features and clusters as\nit was trained on. Of its steps the "
               "one with the least objective\nis reported"),
    CLI_OPTION(CLI_TEXT, "init", "kmeans++|random|gonzalez|first|FILE", init,
               "the initial centres: chosen among the rows, or K x D numbers in a\nfile .npy or .csv, whose columns, "
               "if named, are found by name\n(default kmeans++)"),
    CLI_OPTION(CLI_WHOLE, "steps", "T", steps,
               "at most T steps, each a layer (default 100, of a model 20);\nends when the assignments repeat"),
    CLI_OPTION(CLI_FLAG, "steps-exact", NULL, steps_exact,
               "all T steps, whatever happens; of a model still the best of them"),
    CLI_OPTION(CLI_WHOLE, "restarts", "R", restarts,
               "R runs from different initial centres, the best is kept\n(default 1)", .least = 1, .most = 1000000000),
    CLI_OPTION(
        CLI_POSITIVE, "gamma", "G", gamma,
        "attention scores are -G |x - c|^2, x as scaled; of points over\ncentres in lloyd (default inf: exact), soft "
        "and spherical, of\ncentres over their points in the others (default: chosen by\nthe spread of the data)"),
    CLI_OPTION(CLI_SHARE, "trim", "F", trim,
               "trimmed: the share of each cluster that is left out (default:\nwhat lies far, by the threshold rule "
               "and gamma)"),
    CLI_OPTION(CLI_POSITIVE, "fuzziness", "M", fuzziness, "fuzzy: the exponent, above 1 (default 2)"),
    CLI_OPTION(CLI_POSITIVE, "alpha", "A", alpha, "normmax: the norm's exponent, above 1 (default 2)"),
    CLI_OPTION(CLI_CHOICE, "ties", "lowest|share", ties,
               "a point equally near to several centres goes to the first of\nthem, or in equal parts to all (default "
               "lowest)"),
    CLI_OPTION(CLI_CHOICE, "empty", "keep|random|farthest|error", empty,
               "an empty cluster keeps its centre, gets a random row or the row\nfarthest from its centre, if that "
               "gains anything, or ends the run (default keep)"),
    CLI_SHARED_SEED("of all random choices"),
    CLI_SHARED_THREADS("changes no result"),
    CLI_GROUP("What to read"),
    CLI_OPTION(CLI_CHOICE, "header", "auto|yes|no", header,
               "is the first row of a text file names? (default auto: if a cell\nlooks like a name, and no other is a "
               "number but whole ones)"),
    CLI_OPTION(CLI_TEXT, "columns", "LIST", columns, "the features, by number or name: 1-4,6 (default: all)"),
    CLI_OPTION(CLI_TEXT, "labels-column", "C", labels_column,
               "a column with the true classes: kept out of the features, and\nthe adjusted Rand index is reported"),
    CLI_OPTION(CLI_CHOICE, "scaling", "none|minmax|standard", scaling,
               "of each column before clustering: not at all, to [0,1], or to\nmean 0 and deviation 1 (default none); "
               "results stay in the\nunits of FILE. For a model, which knows [0,1] only, none is one\ncommon scale for "
               "all columns, minmax one for each; not standard"),
    CLI_GROUP("What to write"),
    CLI_OPTION(CLI_TEXT, "labels", "F", labels, "the cluster of each row, from 0 (.npy .csv .tsv .txt)"),
    CLI_OPTION(CLI_TEXT, "centers", "F", centers, "the K x D centres (.npy .csv .tsv .txt)"),
    CLI_OPTION(CLI_TEXT, "trajectory", "F.npy", trajectory, "the centres before and after every step [T+1,K,D]"),
    CLI_OPTION(CLI_TEXT, "weights", "F.npy", weights, "what each row gives to each cluster [N,K]; not of a model"),
    CLI_OPTION(CLI_TEXT, "plot", "F", plot, "a picture of the clusters (.svg .png .pdf), by gnuplot"),
    CLI_OPTION(CLI_FLAG, "compare", NULL, compare, "also runs the plain algorithm and reports the differences"),
    CLI_SHARED_JSON("the report"),
    CLI_SHARED_QUIET,
    CLI_OPTION(CLI_FLAG, "print-arch", NULL, print_arch,
               "writes the transformer as JSON for --arch, and clusters nothing;\nneeds FILE and -k only where gamma "
               "is chosen by the data;\noptions that then mean nothing are refused"),
};

enum { OPTIONS = sizeof options_table / sizeof options_table[0] };
static const cli_command command_template = {
    .name = "cluster",
    .operand = "FILE",
    .may_lack = true,
    .summary = "Clusters the rows of FILE (.npy .npz .csv .tsv, packed by gzip or not, or - for standard input)\n"
               "with a transformer whose layers are the steps of a clustering algorithm.",
    .examples = "Examples\n"
                "  tessera cluster iris.csv -k 3 --labels-column species --restarts 20 --plot iris.svg\n"
                "  tessera cluster points.npy -k 10 --init first --compare --json\n"
                "  tessera cluster points.csv -k 4 --algorithm trimmed --trim .1 --labels labels.csv\n",
    .n_options = OPTIONS,
};

/* The command, with names and summaries from the table of variants. */
typedef struct variant_texts {
    char names[512], summary[2048];
    cli_option options[OPTIONS];
    bool given[OPTIONS];
    cli_command command;
} variant_texts;

static void append(char *text, size_t size, const char *format, const char *a, const char *b) {
    const size_t used = strlen(text);
    snprintf(text + used, size - used, format, a, b);
}

static const cli_command *command_of(variant_texts *t) {
    *t = (variant_texts){.command = command_template};
    append(t->summary, sizeof t->summary, "%s%s\n\nAlgorithms\n", command_template.summary, "");
    for (const ts_variant *v = ts_variants; v->name != NULL; v++) {
        append(t->names, sizeof t->names, "%s%s", v == ts_variants ? "" : "|", v->name);
        append(t->summary, sizeof t->summary, "  %-11s%s", v->name, v->title);
        append(t->summary, sizeof t->summary, ": %s%s\n", v->summary, "");
    }
    t->summary[strlen(t->summary) - 1] = '\0';
    memcpy(t->options, options_table, sizeof t->options);
    for (int i = 0; i < OPTIONS; i++)
        if (options_table[i].name != NULL && strcmp(options_table[i].name, "algorithm") == 0)
            t->options[i].argument = t->names;
    t->command.summary = t->summary;
    t->command.options = t->options;
    t->command.given = t->given;
    return &t->command;
}

static const char *const construction_names[] = {"onehot", "binary", "dot"}; /* in the order of the option */

static bool file_exists(const char *path) {
    const char *archive = strstr(path, ".npz:"); /* FILE.npz:array */
    char *file = archive == NULL ? strdup(path) : strndup(path, (size_t)(archive - path) + 4);
    const bool exists = access(path, F_OK) == 0 || (file != NULL && access(file, F_OK) == 0);
    free(file);
    return exists;
}

static int check_columns(const cli_cluster_options *o) {
    const ts_table_options how = {(ts_header_mode)o->header, o->columns, o->labels_column};
    ts_io_error error;
    if (o->file == NULL || ts_table_options_check(o->file, &how, &error)) return CLI_GO_ON;
    return cli_fail(CLI_WRONG_USE, "%s", error.text);
}

static int check_init(cli_cluster_options *o) {
    o->init_is_file = !ts_seeding_by_name(o->init, &o->seeding);
    if (!o->init_is_file || file_exists(o->init)) return CLI_GO_ON;
    return cli_fail(CLI_WRONG_USE, "--init: '%s' is none of kmeans++, random, gonzalez, first, and no file", o->init);
}

const ts_variant *cli_cluster_variant(const cli_cluster_options *o) {
    return &ts_variants[o->algorithm < 0 ? 0 : o->algorithm];
}

ts_settings cli_cluster_settings(const cli_cluster_options *o) {
    ts_settings s = ts_variant_settings(cli_cluster_variant(o));
    if (o->construction >= 0) s.construction = construction_names[o->construction];
    if (o->gamma > 0) s.gamma = o->gamma;
    if (o->fuzziness > 0) s.fuzziness = o->fuzziness;
    if (o->alpha > 0) s.alpha = o->alpha;
    s.trim = o->trim;
    s.share_ties = o->ties == CLI_TIES_SHARE;
    return s;
}

/* The first of the names that was given; NULL when none was. */
static const char *first_given(const cli_command *command, const char *const *names) {
    while (*names != NULL && !cli_given(command, *names)) names++;
    return *names;
}

/* A definition given by --arch determines the whole algorithm. */
static int check_arch(const cli_cluster_options *o, const cli_command *command) {
    const char *file = o->arch != NULL ? "--arch" : "--model";
    static const char *const others[] = {"algorithm", "construction", "gamma", "trim",
                                         "fuzziness", "alpha",        "ties",  NULL};
    const char *given = first_given(command, others);
    if (given != NULL) return cli_fail(CLI_WRONG_USE, "--%s: the file given by %s says it all", given, file);
    if (o->compare) return cli_fail(CLI_WRONG_USE, "--compare: no plain algorithm is known for what %s gives", file);
    if (o->model == NULL) return CLI_GO_ON;
    if (o->arch != NULL) return cli_fail(CLI_WRONG_USE, "--arch and --model: one of them");
    if (o->print_arch) return cli_fail(CLI_WRONG_USE, "--print-arch: tessera inspect tells what a checkpoint is");
    if (o->weights != NULL) return cli_fail(CLI_WRONG_USE, "--weights: a learned model assigns to nearest centres");
    if (cli_given(command, "empty"))
        return cli_fail(CLI_WRONG_USE, "--empty: a learned model places the centres of empty clusters itself");
    if (o->scaling == TS_SCALING_STANDARD)
        return cli_fail(CLI_WRONG_USE, "--scaling standard: a model wants points in [0,1]: none or minmax");
    return CLI_GO_ON;
}

static int check_algorithm(const cli_cluster_options *o) {
    const ts_variant *variant = cli_cluster_variant(o);
    ts_settings settings = cli_cluster_settings(o);
    ts_definition definition;
    ts_error error = {.status = TS_OK};
    if (o->fuzziness > 0 && !ts_variant_has(variant, "m"))
        return cli_fail(CLI_WRONG_USE, "--fuzziness: %s has none", variant->name);
    if (o->fuzziness > 0 && o->fuzziness <= 1)
        return cli_fail(CLI_WRONG_USE, "--fuzziness %g: it must be above 1", o->fuzziness);
    if (o->alpha > 0 && o->alpha <= 1) return cli_fail(CLI_WRONG_USE, "--alpha %g: it must be above 1", o->alpha);
    if (o->gamma > 0 && variant->gamma == TS_GAMMA_NONE)
        return cli_fail(CLI_WRONG_USE, "--gamma: %s has no gamma", variant->name);
    if (o->gamma > 0 && o->trim >= 0)
        return cli_fail(CLI_WRONG_USE, "--gamma: trimming a share needs none, the order of distances counts");
    if (o->alpha > 0 && !ts_variant_has(variant, "alpha"))
        return cli_fail(CLI_WRONG_USE, "--alpha: %s has none", variant->name);
    if (ts_variant_chooses_gamma(variant, &settings)) settings.gamma = 1;
    if (ts_variant_define(variant, &settings, &definition, &error) != TS_OK ||
        ts_definition_check(&definition, 1, 1, &error) != TS_OK)
        return cli_fail(CLI_WRONG_USE, "--algorithm %s: %s", variant->name, error.text);
    if (o->compare && settings.share_ties && settings.gamma < INFINITY)
        return cli_fail(CLI_WRONG_USE, "--compare: softmax attention has no ties to share");
    return CLI_GO_ON;
}

/* --print-arch clusters nothing: it refuses options of results and, without a file, those of data and starts. */
static int check_print_arch(const cli_cluster_options *o, const cli_command *command) {
    static const char *const of_results[] = {"labels", "centers", "trajectory",  "weights", "plot", "compare",
                                             "json",   "steps",   "steps-exact", "empty",   NULL};
    static const char *const of_data[] = {"k",    "header",   "columns", "labels-column", "scaling", "init",
                                          "seed", "restarts", NULL};
    const char *given = first_given(command, of_results);
    if (given != NULL) return cli_fail(CLI_WRONG_USE, "--%s: --print-arch clusters nothing", given);
    given = o->file == NULL ? first_given(command, of_data) : NULL;
    if (given != NULL) return cli_fail(CLI_WRONG_USE, "--%s: --print-arch without FILE reads no data", given);
    return CLI_GO_ON;
}

/* Clustering needs a file and k; --print-arch does not. */
static int check_operands(const cli_cluster_options *o) {
    const ts_variant *variant = cli_cluster_variant(o);
    const ts_settings settings = cli_cluster_settings(o);
    const bool from_data = o->arch == NULL && o->model == NULL && ts_variant_chooses_gamma(variant, &settings);
    if (o->print_arch && !from_data && (o->file == NULL || o->k > 0)) return CLI_GO_ON;
    if (o->file == NULL && o->print_arch)
        return cli_fail(CLI_WRONG_USE, "--print-arch: %s chooses gamma by the data: give FILE and -k, or --gamma",
                        variant->name);
    if (o->file == NULL) return cli_fail(CLI_WRONG_USE, "which FILE? (see tessera cluster --help)");
    if (o->k == 0 && o->model == NULL)
        return cli_fail(CLI_WRONG_USE, "how many clusters? -k K (see tessera cluster --help)");
    return CLI_GO_ON;
}

int cli_cluster_read_options(int n_words, char *const *words, cli_cluster_options *options) {
    enum { STEPS = 100, LEARNED_STEPS = 20 };
    *options = (cli_cluster_options){
        .steps = -1, .restarts = 1, .init = "kmeans++", .algorithm = -1, .construction = -1, .trim = -1};
    variant_texts texts;
    int status = cli_parse(command_of(&texts), n_words, words, options, &options->file);
    if (status == CLI_GO_ON)
        status = options->arch != NULL || options->model != NULL ? check_arch(options, &texts.command)
                                                                 : check_algorithm(options);
    if (options->steps < 0) options->steps = options->model != NULL ? LEARNED_STEPS : STEPS;
    if (status == CLI_GO_ON) status = check_operands(options);
    if (status == CLI_GO_ON && options->print_arch) status = check_print_arch(options, &texts.command);
    if (status == CLI_GO_ON) status = check_columns(options);
    return status == CLI_GO_ON ? check_init(options) : status;
}
