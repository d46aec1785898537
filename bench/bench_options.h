/* bench_options.h: the command line of `tessera bench`. */
#ifndef CLI_BENCH_OPTIONS_H
#define CLI_BENCH_OPTIONS_H

#include "../cli/common/options.h"

enum { CLI_BENCH_MOST_RUNS = 101, CLI_BENCH_MOST_CHOICES = 16 };

typedef struct cli_bench_options {
    const char *only; /* as given; NULL: all */
    cli_shared shared;
    int64_t runs, patience; /* patience: seconds that a peer has for an answer */
    int peers;              /* its place in "auto|none" */
    bool quick, profile, scaling;
    const char *csv, *markdown, *plot;   /* NULL: not asked for */
    bool chosen[CLI_BENCH_MOST_CHOICES]; /* what `only` says, by place in the works, or in what is scaled */
} cli_bench_options;

/* Reads and checks the words after "bench", but for the outputs. Returns CLI_GO_ON or an exit code (options.h). */
int cli_bench_read_options(int n_words, char *const *words, cli_bench_options *options);

#endif
