/* cluster_options.h: the command line of `tessera cluster`. */
#ifndef CLI_CLUSTER_OPTIONS_H
#define CLI_CLUSTER_OPTIONS_H

#include "../../io/table.h"
#include "../../models/data/clustering.h"
#include "../../models/data/rescaling.h"
#include "../../models/data/seeding.h"
#include "../../models/definition/variants.h"
#include "../common/options.h"

typedef enum cli_ties { CLI_TIES_LOWEST, CLI_TIES_SHARE } cli_ties;

typedef struct cli_cluster_options {
    const char *file;
    cli_shared shared;
    int64_t k, steps, restarts;
    int algorithm, construction;      /* place in ts_variants, in ts_construction_names; -1: not given */
    double gamma, trim;               /* 0, -1: not given */
    double fuzziness, alpha;          /* 0: not given */
    const char *arch;                 /* a definition of one's own; NULL: an algorithm of the table */
    const char *model;                /* a checkpoint; NULL likewise */
    int empty, ties, header, scaling; /* ts_empty_policy, cli_ties, ts_header_mode, ts_scaling */
    const char *init;                 /* as given */
    bool init_is_file;
    ts_seeding seeding; /* when it is not */
    const char *columns, *labels_column;
    const char *labels, *centers, *trajectory, *weights, *plot; /* outputs, NULL: not asked for */
    bool steps_exact, compare, print_arch;
} cli_cluster_options;

/* The variant that the options name (the first, Lloyd's, if none), and its settings; for use without --arch. */
const ts_variant *cli_cluster_variant(const cli_cluster_options *options);
ts_settings cli_cluster_settings(const cli_cluster_options *options);

/* Reads and checks the words after "cluster", but for the outputs. Returns CLI_GO_ON or an exit code (options.h). */
int cli_cluster_read_options(int n_words, char *const *words, cli_cluster_options *options);

#endif
