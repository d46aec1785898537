/* train_options.h: the command line of `tessera train`. */
#ifndef CLI_TRAIN_OPTIONS_H
#define CLI_TRAIN_OPTIONS_H

#include "../../train/trainer.h"
#include "../common/options.h"

/* Numbers of optimisers that are options of their own. */
enum { CLI_TRAIN_NUMBERS = 6 };

typedef struct cli_train_options {
    cli_shared shared;
    ts_train_options train;
    const char *out, *resume; /* one of them */
    int64_t checkpoint_every; /* 0: every tenth evaluation */
    int64_t steps;            /* 0: not given */
    /* as words of the command line, from which `train` is completed */
    bool list_layers;
    cli_range n, d, k, components;
    cli_span scale;
    const char *loss, *optimiser, *source, *data, *columns, *labels_column;
    ts_real *rows; /* of --data; the caller frees them */
    double optimiser_number[CLI_TRAIN_NUMBERS];
    const char *family, *arch, *start, *freeze;
    ts_architecture *architecture; /* of --arch; the caller frees it */
    double start_gamma;            /* of --start construction */
    int scratch, schedule;
    double rate;
} cli_train_options;

/* CLI_GO_ON or an exit code. */
int cli_train_read_options(int n_words, char *const *words, cli_train_options *options);

#endif
