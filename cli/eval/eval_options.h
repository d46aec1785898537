/* eval_options.h: the command line of `tessera eval`. */
#ifndef CLI_EVAL_OPTIONS_H
#define CLI_EVAL_OPTIONS_H

#include "../../train/evaluation.h"
#include "../common/number_list.h"
#include "../common/options.h"

enum { CLI_EVAL_STARTS = 3 };

typedef struct cli_eval_options {
    const char *checkpoint;
    cli_shared shared; /* its seed if seed_text is not NULL */
    int64_t tasks, steps;
    int64_t d, k; /* 0: the model's */
    int mode;     /* ts_run_mode */
    const char *n, *family, *init, *seed_text;
    double component_scale; /* 0: as trained */
    bool unequal, equal, anisotropic, isotropic;
    const char *csv, *plot; /* NULL: not asked for */
    /* what the words above say */
    cli_number_list points; /* count 0: as trained */
    int families;           /* 0: as trained */
    ts_family family_of[TS_MOST_FAMILIES];
    int starts;
    ts_start start[CLI_EVAL_STARTS];
} cli_eval_options;

/* Reads and checks the words after "eval", but for the outputs. Returns CLI_GO_ON or an exit code (options.h). */
int cli_eval_read_options(int n_words, char *const *words, cli_eval_options *options);

#endif
