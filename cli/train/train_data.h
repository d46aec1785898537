/* train_data.h: the rows of --data. */
#ifndef CLI_TRAIN_DATA_H
#define CLI_TRAIN_DATA_H

#include "../../train/trainer.h"

/* Reads a file of numbers, or some of its columns (cluster_options.h), and notes in *source what it holds. CLI_DONE, or
 * CLI_FAILED after saying why. Free the rows. */
int cli_train_read_data(const char *path, const char *columns, const char *labels_column, ts_train_source *source,
                        ts_real **rows);

#endif
