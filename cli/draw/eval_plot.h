/* eval_plot.h: the curves of `tessera eval`, a panel for each kind of task, drawn by gnuplot. */
#ifndef CLI_EVAL_PLOT_H
#define CLI_EVAL_PLOT_H

#include "../../io/io_error.h"
#include "../eval/eval_run.h"

enum { CLI_EVAL_MOST_PANELS = 60 };

/* The same bytes for the same job (.pdf: but for its date). */
bool cli_eval_plot(const cli_eval_job *job, const char *path, ts_io_error *error);

#endif
