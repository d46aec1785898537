#include "sweep_options.h"

#include "../common/message.h"
#include "../common/options.h"

#define FIELD(name) offsetof(cli_sweep_options, name)

static const cli_option options_table[] = {
    CLI_GROUP("The grid, each a list 5,10,20 or a range 5-50:5 (default: that of the paper)"),
    CLI_OPTION(CLI_TEXT, "clusters", "LIST", clusters, "K (default 5-50:5)"),
    CLI_OPTION(CLI_TEXT, "dimensions", "LIST", dimensions, "D (default 1-10)"),
    CLI_OPTION(CLI_TEXT, "points", "LIST", points,
               "N (default 10 numbers from 100 to 1000000, evenly in the\nlogarithm)"),
    CLI_OPTION(CLI_TEXT, "scales", "LIST", scales, "every dimension of the data runs from 0 to this (default 1-10)"),
    CLI_OPTION(CLI_TEXT, "gammas", "LIST", gammas, "attention is the softmax of -gamma |x - c|^2 (default 1,10,100)"),
    CLI_GROUP("What to do in a cell"),
    CLI_OPTION(CLI_WHOLE, "steps", "T", steps, "steps of the transformer and of Lloyd (default 10)", .most = 1000000),
    CLI_OPTION(CLI_WHOLE, "tasks", "M", tasks, "the mean over M tasks (default 1)", .least = 1, .most = 1000000),
    CLI_SHARED_SEED("of the tasks"),
    CLI_SHARED_THREADS("changes no result"),
    CLI_GROUP("What to write"),
    CLI_OPTION(CLI_TEXT, "out", "F.csv", out, "the differences, a row a cell (required)"),
    CLI_OPTION(CLI_TEXT, "plot", "F", plot, "heat maps (.svg .png .pdf), by gnuplot"),
    CLI_SHARED_JSON("the report"),
    CLI_SHARED_QUIET,
};

static const cli_command command = {
    .name = "sweep",
    .summary = "Over a grid of clusters, dimensions, points, data scales and gammas: how far the transformer with a\n"
               "finite gamma ends from Lloyd's algorithm, as log(its objective) - log(Lloyd's). Cells with fewer\n"
               "points than clusters are left out. F.csv.partial holds the cells that are done; the same command\n"
               "goes on from there after a kill.",
    .examples = "Examples\n"
                "  tessera sweep --out sweep.csv --plot sweep.svg\n"
                "  tessera sweep --clusters 5,20 --dimensions 2 --points 100,1000 --scales 1-10 --out small.csv\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
};

static const double MOST_CELLS = 1e7;

static int read_axes(cli_sweep_options *o) {
    static const char *const name[CLI_SWEEP_AXES] = {"clusters", "dimensions", "points", "scales", "gammas"};
    const char *const text[CLI_SWEEP_AXES] = {o->clusters, o->dimensions, o->points, o->scales, o->gammas};
    /* Scales and gammas within which squares and exponentials of floats are safe. */
    static const cli_number_bounds bounds[CLI_SWEEP_AXES] = {
        {true, 1, 1e5}, {true, 1, 1e4}, {true, 1, 1e8}, {false, 1e-6, 1e6}, {false, 1e-12, 1e12}};
    for (int a = 0; a < CLI_SWEEP_AXES; a++) {
        const int status = cli_read_numbers(name[a], text[a], &bounds[a], &o->axis[a]);
        if (status != CLI_GO_ON) return status;
    }
    const cli_number_list *points = &o->axis[CLI_SWEEP_POINTS];
    if (points->value[points->count - 1] < o->axis[CLI_SWEEP_CLUSTERS].value[0])
        return cli_fail(CLI_WRONG_USE, "--points: no cell has as many points as clusters");
    double cells = 1;
    for (int a = 0; a < CLI_SWEEP_AXES; a++) cells *= (double)o->axis[a].count;
    if (cells > MOST_CELLS)
        return cli_fail(CLI_WRONG_USE, "the grid has %.0f cells, more than %.0f", cells, MOST_CELLS);
    return CLI_GO_ON;
}

int cli_sweep_read_options(int n_words, char *const *words, cli_sweep_options *options) {
    *options = (cli_sweep_options){.clusters = "5-50:5",
                                   .dimensions = "1-10",
                                   .points = "100,278,774,2154,5995,16681,46416,129155,359381,1000000",
                                   .scales = "1-10",
                                   .gammas = "1,10,100",
                                   .steps = 10,
                                   .tasks = 1};
    int status = cli_parse(&command, n_words, words, options, NULL);
    if (status != CLI_GO_ON) return status;
    if (options->out == NULL) return cli_fail(CLI_WRONG_USE, "where to? --out FILE.csv (see tessera sweep --help)");
    return read_axes(options);
}
