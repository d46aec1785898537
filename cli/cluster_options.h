/* cluster_options.h: the command line of `tessera cluster`. */
#ifndef CLI_CLUSTER_OPTIONS_H
#define CLI_CLUSTER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "../io/table.h"
#include "../models/clustering.h"
#include "../models/rescaling.h"
#include "../models/seeding.h"

typedef enum cli_ties { CLI_TIES_LOWEST, CLI_TIES_SHARE } cli_ties;

typedef struct cli_cluster_options {
    const char *file;
    int64_t k, steps, restarts, threads; /* threads 0: as OpenMP chooses */
    uint64_t seed;
    double gamma;                     /* INFINITY: exact */
    int algorithm, construction;      /* 0, the only ones */
    int empty, ties, header, scaling; /* ts_empty_policy, cli_ties, ts_header_mode, ts_scaling */
    const char *init;                 /* as given */
    bool init_is_file;
    ts_seeding seeding; /* when it is not */
    const char *columns, *labels_column;
    const char *labels, *centers, *trajectory, *plot; /* outputs, NULL: not asked for */
    bool steps_exact, compare, json, quiet;
} cli_cluster_options;

/* Reads and checks the words after "cluster", and that the outputs can be written as far as that can be told before.
 * Returns CLI_GO_ON or an exit code (options.h). */
int cli_cluster_read_options(int n_words, char *const *words, cli_cluster_options *options);

#endif
