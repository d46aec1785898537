#include "bench_options.h"

#include <string.h>

#include "../cli/common/message.h"
#include "bench_axis.h"
#include "bench_work.h"

#define FIELD(name) offsetof(cli_bench_options, name)

static const cli_option options_table[] = {
    CLI_GROUP("What to measure"),
    CLI_OPTION(CLI_TEXT, "only", "WORK,...", only, "some of the works (default all)"),
    CLI_OPTION(CLI_WHOLE, "runs", "R", runs,
               "repetitions, after one that warms up (default 7); what takes\nover 2 s to warm up has 3 at most",
               .least = 1, .most = CLI_BENCH_MOST_RUNS),
    CLI_OPTION(CLI_CHOICE, "peers", "auto|none", peers,
               "PyTorch, scikit-learn and faiss beside it, if installed\n(default auto)"),
    CLI_OPTION(CLI_WHOLE, "patience", "S", patience,
               "a peer that does not answer for so many seconds has failed\n(default 900)", .least = 1,
               .most = 1000000),
    CLI_SHARED_THREADS("of each process"),
    CLI_OPTION(CLI_FLAG, "quick", NULL, quick, "tiny shapes, one run, no peers: for tests, its times mean nothing"),
    CLI_GROUP("Instead of the table"),
    CLI_OPTION(CLI_FLAG, "profile", NULL, profile, "where a training step goes: shares of its time"),
    CLI_OPTION(CLI_FLAG, "scaling", NULL, scaling, "time and memory against the size of the problem"),
    CLI_GROUP("What to write"),
    CLI_OPTION(CLI_TEXT, "csv", "F", csv, "all that was measured, a row each"),
    CLI_OPTION(CLI_TEXT, "markdown", "F", markdown, "the report as Markdown, with the machine and the date"),
    CLI_OPTION(CLI_TEXT, "plot", "F", plot, "a chart (.svg .png .pdf), by gnuplot"),
    CLI_SHARED_JSON("the report"),
    CLI_SHARED_QUIET,
};

static const cli_command command = {
    .name = "bench",
    .summary =
        "How fast this is on this machine, and what others take for the same work.\n\n"
        "Works\n"
        "  train-512, train-128, train-512x4, train-1024x100\n"
        "                 a training step: tasks drawn, forward, backward, Adam; N points, in 512x4 of 4\n"
        "                 dimensions, in 1024x100 with 100 clusters, else D = 32, K = 10; 32 tasks\n"
        "  attention-512, attention-128\n"
        "                 fused attention of 32 batches, N rows over N, width 42\n"
        "  cluster-10, cluster-100\n"
        "                 a step of Lloyd's algorithm, N = 10^6, D = 32, by the transformer that is it, and plainly\n"
        "  long           a training step of one task of up to 65536 points\n"
        "With --profile the first four; with --scaling train-n, train-d, train-k, train-b, train-threads,\n"
        "cluster-exact, cluster-plain.\n\n"
        "Every work runs in a process of its own, whose peak memory is reported; ours and a peer's take turns.\n"
        "Times are medians. `share` is that of the peak of fused multiply-adds, measured beside each run, that\n"
        "useful operations reach. `ratio` is the peer's time over ours, the median of the runs. `data` is memory\n"
        "as a multiple of the points. The environment's TESSERA_PYTHON names the interpreter of the peers (default\n"
        "python3, then /usr/bin/python3; one that cannot be started is an error, exit code 2), TESSERA_ISA narrower\n"
        "registers. On two cores the whole table takes about eight minutes with all peers, three without.\n"
        "What fails is a row that says why: exit code 1 if it is one of ours, 0 whether peers are there or not.",
    .examples = "Examples\n"
                "  tessera bench --markdown bench/RESULTS.md --plot bench.svg\n"
                "  tessera bench --only train-512,cluster-10 --runs 21\n"
                "  tessera bench --profile --only train-512\n"
                "  tessera bench --scaling --csv scaling.csv --plot scaling.svg\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
};

/* What --only chooses from. */
static int choices_of(const cli_bench_options *o, const char *const **names) {
    *names = o->scaling ? cli_bench_axes : cli_bench_works;
    if (o->scaling) return CLI_BENCH_AXES;
    return o->profile ? CLI_BENCH_TRAININGS : CLI_BENCH_WORKS;
}

static int read_only(cli_bench_options *o) {
    const char *const *names;
    const int count = choices_of(o, &names);
    int places[CLI_BENCH_MOST_CHOICES], found = 0;
    for (int i = 0; i < count; i++) o->chosen[i] = o->only == NULL;
    const int status = o->only == NULL ? CLI_GO_ON : cli_read_words("only", o->only, names, count, places, &found);
    for (int i = 0; status == CLI_GO_ON && i < found; i++) o->chosen[places[i]] = true;
    return status;
}

int cli_bench_read_options(int n_words, char *const *words, cli_bench_options *options) {
    *options = (cli_bench_options){.peers = -1};
    int status = cli_parse(&command, n_words, words, options, NULL);
    if (status != CLI_GO_ON) return status;
    if (options->profile && options->scaling) return cli_fail(CLI_WRONG_USE, "--profile and --scaling: one of them");
    if (options->profile && options->plot != NULL) return cli_fail(CLI_WRONG_USE, "--plot: a profile has no picture");
    if (options->profile || options->scaling) {
        if (options->peers == 0) return cli_fail(CLI_WRONG_USE, "--peers: only the table has peers");
        if (options->patience > 0) return cli_fail(CLI_WRONG_USE, "--patience: only the table has peers");
    }
    if (options->patience == 0) options->patience = 900;
    if (options->runs == 0) options->runs = options->quick ? 1 : 7;
    if (options->peers < 0) options->peers = options->quick;
    return read_only(options);
}
