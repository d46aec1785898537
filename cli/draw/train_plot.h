/* train_plot.h: how a training went: the objective beside Lloyd's, and the learning rate, along the steps. */
#ifndef CLI_TRAIN_PLOT_H
#define CLI_TRAIN_PLOT_H

#include "../train/train_run.h"

/* Of a run that has rows. The same bytes for the same run. */
bool cli_train_plot(const cli_training *run, const ts_trainer *trainer, const char *path, ts_io_error *error);

#endif
