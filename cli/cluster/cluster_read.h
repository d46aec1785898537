/* cluster_read.h: the points and the initial centres of `tessera cluster`, from their files. */
#ifndef CLI_CLUSTER_READ_H
#define CLI_CLUSTER_READ_H

#include "cluster_job.h"

/* After the model, which may fix the numbers of features and clusters. CLI_DONE, or CLI_FAILED after saying why. */
int cli_cluster_read(cli_cluster_job *job);

#endif
