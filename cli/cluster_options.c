#include "cluster_options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../io/array_writer.h"
#include "../io/output_file.h"
#include "message.h"
#include "options.h"
#include "plot.h"

#define FIELD(name) offsetof(cli_cluster_options, name)
static const char only_lloyd[] = "this version has only --algorithm lloyd with --construction onehot";

static const cli_option options_table[] = {
    {CLI_HEADING, 0, NULL, NULL, "What to do", 0, 0, 0},
    {CLI_WHOLE, 'k', "k", "K", "number of clusters (required)", FIELD(k), 1, INT64_MAX},
    {CLI_CHOICE, 0, "algorithm", "lloyd", "the algorithm the transformer carries out (default lloyd)", FIELD(algorithm),
     0, 0},
    {CLI_CHOICE, 0, "construction", "onehot", "how assignments are written into its tokens (default onehot)",
     FIELD(construction), 0, 0},
    {CLI_TEXT, 0, "init", "kmeans++|random|gonzalez|first|FILE",
     "the initial centres: chosen among the rows, or K x D numbers in a\nfile .npy or .csv (default kmeans++)",
     FIELD(init), 0, 0},
    {CLI_WHOLE, 0, "steps", "T", "at most T steps, each a layer (default 100); ends when the\nassignments repeat",
     FIELD(steps), 0, INT64_MAX},
    {CLI_FLAG, 0, "steps-exact", NULL, "all T steps, whatever happens", FIELD(steps_exact), 0, 0},
    {CLI_WHOLE, 0, "restarts", "R", "R runs from different initial centres, the best is kept\n(default 1)",
     FIELD(restarts), 1, 1000000000},
    {CLI_POSITIVE, 0, "gamma", "G",
     "attention is the softmax of -G |x - c|^2, x as scaled\n(default inf: all of it on the nearest centre)",
     FIELD(gamma), 0, 0},
    {CLI_CHOICE, 0, "ties", "lowest|share",
     "a point equally near to several centres goes to the first of\nthem, or in equal "
     "parts to all (default lowest)",
     FIELD(ties), 0, 0},
    {CLI_CHOICE, 0, "empty", "keep|random|farthest|error",
     "an empty cluster keeps its centre, gets a random row, gets the\nrow farthest from its centre, or ends the run "
     "(default keep)",
     FIELD(empty), 0, 0},
    {CLI_SEED, 0, "seed", "S", "of all random choices (default 0)", FIELD(seed), 0, 0},
    {CLI_WHOLE, 0, "threads", "N", "changes no result (default: as OpenMP chooses)", FIELD(threads), 1, 1024},
    {CLI_HEADING, 0, NULL, NULL, "What to read", 0, 0, 0},
    {CLI_CHOICE, 0, "header", "auto|yes|no", "is the first row of a text file names? (default auto)", FIELD(header), 0,
     0},
    {CLI_TEXT, 0, "columns", "LIST", "the features, by number or name: 1-4,6 (default: all)", FIELD(columns), 0, 0},
    {CLI_TEXT, 0, "labels-column", "C",
     "a column with the true classes: kept out of the features, and\nthe adjusted Rand "
     "index is reported",
     FIELD(labels_column), 0, 0},
    {CLI_CHOICE, 0, "scaling", "none|minmax|standard",
     "of each column before clustering: not at all, to [0,1], or to\nmean 0 and deviation 1 (default none); results "
     "stay in "
     "the\nunits of FILE",
     FIELD(scaling), 0, 0},
    {CLI_HEADING, 0, NULL, NULL, "What to write", 0, 0, 0},
    {CLI_TEXT, 0, "labels", "F", "the cluster of each row, from 0 (.npy .csv .tsv .txt)", FIELD(labels), 0, 0},
    {CLI_TEXT, 0, "centers", "F", "the K x D centres (.npy .csv .tsv .txt)", FIELD(centers), 0, 0},
    {CLI_TEXT, 0, "trajectory", "F.npy", "the centres before and after every step [T+1,K,D]", FIELD(trajectory), 0, 0},
    {CLI_TEXT, 0, "plot", "F", "a picture of the clusters (.svg .png .pdf), by gnuplot", FIELD(plot), 0, 0},
    {CLI_FLAG, 0, "compare", NULL, "also runs the plain algorithm and reports the differences", FIELD(compare), 0, 0},
    {CLI_FLAG, 0, "json", NULL, "the report as one JSON object", FIELD(json), 0, 0},
    {CLI_FLAG, 0, "quiet", NULL, "no progress line", FIELD(quiet), 0, 0},
    {CLI_ABSENT, 0, "arch", NULL, only_lloyd, 0, 0, 0},
    {CLI_ABSENT, 0, "model", NULL, only_lloyd, 0, 0, 0},
    {CLI_ABSENT, 0, "trim", NULL, only_lloyd, 0, 0, 0},
    {CLI_ABSENT, 0, "weights", NULL, only_lloyd, 0, 0, 0},
};

static const cli_command command = {
    .name = "cluster",
    .operand = "FILE",
    .summary = "Clusters the rows of FILE (.npy .npz .csv .tsv, or - for CSV on standard input) with a\n"
               "transformer whose layers are the steps of Lloyd's algorithm.",
    .examples = "Examples\n"
                "  tessera cluster iris.csv -k 3 --labels-column species --restarts 20 --plot iris.svg\n"
                "  tessera cluster points.npy -k 10 --init first --compare --json\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
};

static bool file_exists(const char *path) {
    const char *archive = strstr(path, ".npz:"); /* FILE.npz:array */
    char *file = archive == NULL ? strdup(path) : strndup(path, (size_t)(archive - path) + 4);
    const bool exists = access(path, F_OK) == 0 || (file != NULL && access(file, F_OK) == 0);
    free(file);
    return exists;
}

static int check_init(cli_cluster_options *o) {
    o->init_is_file = !ts_seeding_by_name(o->init, &o->seeding);
    if (!o->init_is_file || file_exists(o->init)) return CLI_GO_ON;
    return cli_fail(CLI_WRONG_USE, "--init: '%s' is none of kmeans++, random, gonzalez, first, and no file", o->init);
}

/* A file to be created needs a folder that can be written to. */
static int check_folder(const char *path) {
    struct stat target;
    if (stat(path, &target) == 0 && !S_ISREG(target.st_mode) && !S_ISDIR(target.st_mode)) return CLI_GO_ON;
    if (stat(path, &target) == 0 && S_ISDIR(target.st_mode)) return cli_fail(CLI_FAILED, "%s: is a folder", path);
    char *folder = strdup(path);
    if (folder == NULL) return cli_fail(CLI_FAILED, "%s: out of memory", path);
    char *slash = strrchr(folder, '/');
    if (slash != NULL) slash[1] = '\0';
    const bool writable = access(slash != NULL ? folder : ".", W_OK | X_OK) == 0;
    const int reason = errno;
    free(folder);
    if (writable) return CLI_GO_ON;
    return cli_fail(CLI_FAILED, "%s: cannot be written in that folder: %s", path, strerror(reason));
}

static bool same_file(const char *a, const char *b) {
    return strcmp(a, b) == 0 || ts_output_same(a, b);
}

static int check_outputs(const cli_cluster_options *o) {
    const char *const path[] = {o->labels, o->centers, o->trajectory, o->plot};
    static const char *const name[] = {"labels", "centers", "trajectory", "plot"};
    enum { OUTPUTS = 4, PLOT = 3 };
    for (int i = 0; i < OUTPUTS; i++) {
        ts_io_error error;
        if (path[i] == NULL) continue;
        if (i != PLOT && !ts_array_path_ok(path[i], i + 1, &error))
            return cli_fail(CLI_WRONG_USE, "--%s: %s", name[i], error.text);
        if (i == PLOT && !cli_plot_path_ok(path[i]))
            return cli_fail(CLI_WRONG_USE, "--plot: %s: the name must end in .svg, .png or .pdf", path[i]);
        for (int j = 0; j < i; j++)
            if (path[j] != NULL && same_file(path[j], path[i]))
                return cli_fail(CLI_WRONG_USE, "--%s and --%s: both would write %s", name[j], name[i], path[i]);
        if (same_file(o->file, path[i]) || (o->init_is_file && same_file(o->init, path[i])))
            return cli_fail(CLI_WRONG_USE, "--%s: %s is read by this command", name[i], path[i]);
    }
    for (int i = 0; i < OUTPUTS; i++) {
        const int status = path[i] == NULL ? CLI_GO_ON : check_folder(path[i]);
        if (status != CLI_GO_ON) return status;
    }
    if (o->plot != NULL && !cli_plot_possible()) return cli_fail(CLI_FAILED, "plot: gnuplot is not installed");
    return CLI_GO_ON;
}

int cli_cluster_read_options(int n_words, char *const *words, cli_cluster_options *options) {
    *options = (cli_cluster_options){.steps = 100, .restarts = 1, .gamma = INFINITY, .init = "kmeans++"};
    int status = cli_parse(&command, n_words, words, options, &options->file);
    if (status != CLI_GO_ON) return status;
    if (options->k == 0) return cli_fail(CLI_WRONG_USE, "how many clusters? -k K (see tessera cluster --help)");
    status = check_init(options);
    return status != CLI_GO_ON ? status : check_outputs(options);
}
