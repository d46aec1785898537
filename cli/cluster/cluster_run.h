/* cluster_run.h: one run of `tessera cluster` from its initial centres, by a runner or a learned model. */
#ifndef CLI_CLUSTER_RUN_H
#define CLI_CLUSTER_RUN_H

#include "../common/progress.h"
#include "cluster_job.h"

/* Runs from the centres at the beginning of run->path; a learned model ends at its best step. CLI_DONE, or CLI_FAILED
 * after saying why. */
int cli_run_transformer(const cli_cluster_job *job, cli_run *run, int64_t restarts, cli_progress *progress);
int cli_run_model(const cli_cluster_job *job, cli_run *run, int64_t restarts, cli_progress *progress);

#endif
