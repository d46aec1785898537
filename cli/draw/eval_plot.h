/* eval_plot.h: the curves of `tessera eval`, a panel for each kind of task, drawn by gnuplot. */
#ifndef CLI_EVAL_PLOT_H
#define CLI_EVAL_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "../../io/io_error.h"

/* The log objective of each step: its mean over tasks, and quartiles. */
typedef enum cli_eval_curve {
    CLI_EVAL_LLOYD,
    CLI_EVAL_MODEL,
    CLI_EVAL_LLOYD_Q25,
    CLI_EVAL_LLOYD_Q75,
    CLI_EVAL_MODEL_Q25,
    CLI_EVAL_MODEL_Q75,
    CLI_EVAL_CURVES
} cli_eval_curve;

typedef struct cli_eval_panel {
    char title[128];
    bool diverges;
    double *const *curve; /* [CLI_EVAL_CURVES], [steps + 1] each */
} cli_eval_panel;

enum { CLI_EVAL_MOST_PANELS = 60 };
typedef struct cli_eval_picture {
    int64_t tasks, steps;
    int panels;
    cli_eval_panel panel[CLI_EVAL_MOST_PANELS];
} cli_eval_picture;

/* The same bytes for the same picture (.pdf: but for its date). */
bool cli_eval_plot(const cli_eval_picture *picture, const char *path, ts_io_error *error);

#endif
