/* train_plot.h: how a training went: the objective beside Lloyd's, and the learning rate, along the steps. */
#ifndef CLI_TRAIN_PLOT_H
#define CLI_TRAIN_PLOT_H

#include "../../io/io_error.h"
#include "../../train/trainer.h"

/* One row of metrics.csv, written after an evaluation. In a run that diverges values may be inf or nan. */
typedef struct cli_metrics {
    int64_t step;
    double train_loss; /* mean over the steps since the row before */
    double val_objective, val_relative, rate, seconds;
} cli_metrics;

/* Of one row or more. The same bytes for the same rows. */
bool cli_train_plot(const cli_metrics *rows, int64_t count, const ts_trainer *trainer, const char *path,
                    ts_io_error *error);

#endif
