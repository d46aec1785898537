/* eval_run.h: what `tessera eval` computes. */
#ifndef CLI_EVAL_RUN_H
#define CLI_EVAL_RUN_H

#include "../../train/trainer.h"
#include "../draw/eval_plot.h"
#include "eval_options.h"

/* Tasks of one kind. */
typedef struct cli_eval_row {
    ts_task_spec task;
    ts_start start;
    double *curve[CLI_EVAL_CURVES]; /* [steps + 1]; -inf where an objective is 0, NaN or inf where a model diverges */
    int64_t diverging;              /* tasks in which it does */
} cli_eval_row;

typedef struct cli_eval_job {
    const cli_eval_options *options;
    ts_trainer *trainer; /* of the checkpoint */
    uint64_t seed;       /* of the tasks */
    int n_rows;
    cli_eval_row *rows; /* by n, then family, then start */
} cli_eval_job;

/* Reads the checkpoint, checks the tasks, runs. CLI_DONE, or an exit code after saying why; free it in either case. */
int cli_eval_run(const cli_eval_options *options, cli_eval_job *job);
void cli_eval_free(cli_eval_job *job);

/* Does a curve that begins and ends like this diverge? */
bool cli_eval_diverges(double start, double end);

#endif
