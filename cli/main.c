/* main.c: the program `tessera`: finds the command and runs it. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../autograd/isa.h"
#include "common/commands.h"
#include "common/message.h"
#include "common/threads.h"

typedef struct cli_entry {
    const char *name, *does;
    int (*run)(int n_words, char *const *words);
} cli_entry;

static const cli_entry commands[] = {
    {"cluster", "clusters the rows of a file with a transformer that is a clustering algorithm", cli_cluster},
    {"train", "trains one layer of attention to cluster better than Lloyd's algorithm", cli_train},
    {"eval", "learned steps against Lloyd's algorithm, on fresh tasks", cli_eval},
    {"inspect", "tells what a checkpoint is, and draws its weights and its attention", cli_inspect},
    {"verify", "holds every construction and variant against its plain algorithm", cli_verify},
    {"graph", "writes the tape of a model as a graph, for Graphviz", cli_graph},
    {"plot", "curves of several training runs or evals in one picture", cli_plot},
    {"sweep", "how far softmax attention ends from Lloyd's algorithm, over a grid of problems", cli_sweep},
    {"bench", "how fast all this is on this machine, beside PyTorch and scikit-learn", cli_bench},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int print_help(void) {
    printf("usage: tessera COMMAND [options]\n\nClustering transformers, and the algorithms they are.\n\nCommands\n");
    for (int i = 0; i < COMMANDS; i++) printf("  %-10s %s\n", commands[i].name, commands[i].does);
    printf("\ntessera COMMAND --help tells its options. tessera --version tells the version.\n"
           "The environment's TESSERA_ISA (base, avx2 or avx512) keeps computation to so wide registers.\n");
    return cli_flush_stdout();
}

/* A descriptor 0, 1 or 2 that the caller closed would go to the first file opened, and be written to by accident. */
static void hold_standard_descriptors(void) {
    int descriptor;
    do descriptor = open("/dev/null", O_RDONLY);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor > STDERR_FILENO) close(descriptor);
}

/* Whether the environment's TESSERA_ISA, if it is there and not empty, is a name: the library takes others for no
 * limit. */
static bool isa_is_known(const char *wanted) {
    bool known = wanted == NULL || *wanted == '\0';
    for (ts_isa isa = TS_ISA_BASE; isa < TS_ISAS && !known; isa++) known = strcmp(wanted, ts_isa_name(isa)) == 0;
    return known;
}

static int run(int n_words, char **words) {
    hold_standard_descriptors();
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error like a full disk, not the end */
    const char *name = n_words > 1 ? words[1] : "";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return print_help();
    if (strcmp(name, "--version") == 0) {
        printf("tessera %s\n", TS_VERSION);
        return cli_flush_stdout();
    }
    if (!isa_is_known(getenv("TESSERA_ISA")))
        return cli_fail(CLI_WRONG_USE, "the environment's TESSERA_ISA is '%s': base, avx2 and avx512 are possible",
                        getenv("TESSERA_ISA"));
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0) return commands[i].run(n_words - 2, words + 2);
    if (*name == '\0') return cli_fail(CLI_WRONG_USE, "which command? (see tessera --help)");
    return cli_fail(CLI_WRONG_USE, "unknown %s '%s' (see tessera --help)", *name == '-' ? "option" : "command", name);
}

int main(int n_words, char **words) {
    cli_wait_briefly(words);
    const int exit_code = run(n_words, words);
    if (exit_code == CLI_DONE) cli_show_warnings();
    return exit_code;
}
