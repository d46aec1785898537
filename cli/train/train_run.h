/* train_run.h: the folder of a training run, and what is written there. */
#ifndef CLI_TRAIN_RUN_H
#define CLI_TRAIN_RUN_H

#include "../draw/train_plot.h"

typedef struct cli_training {
    const char *folder;
    int descriptor; /* of the folder, locked; 0: not open */
    cli_metrics *rows;
    int64_t count, room;
} cli_training;

enum { CLI_TRAINING_PATH = 4096 };
const char *cli_training_path(const cli_training *run, const char *file, char path[CLI_TRAINING_PATH]);

/* Makes the folder of a new run, or opens that of a resumed one, and locks it while the process lives. CLI_FAILED,
 * after saying why, if another process holds the lock, a new folder holds a run already, or it cannot be made. */
int cli_training_create(cli_training *run, const char *folder);
int cli_training_open(cli_training *run, const char *folder);

/* Reads the rows of metrics.csv up to `step`. */
int cli_training_read(cli_training *run, int64_t step);
void cli_training_free(cli_training *run);

/* Adds a row and writes metrics.csv anew. */
int cli_training_add(cli_training *run, const cli_metrics *row);

/* run.json: every option, the version, the host. */
int cli_training_describe(const cli_training *run, const ts_train_options *options);

/* curve.svg, if gnuplot is there: relative validation loss and learning rate along the steps. */
int cli_training_draw(const cli_training *run, const ts_trainer *trainer);

#endif
