/* cluster_run.h: one run of `tessera cluster` from its initial centres, by a runner or a learned model. */
#ifndef CLI_CLUSTER_RUN_H
#define CLI_CLUSTER_RUN_H

#include "../common/progress.h"
#include "cluster_job.h"

/* From the centres at the beginning of run->path to the end. CLI_DONE, or CLI_FAILED after saying why. A learned
 * model's result is the best of its steps.
 */
int cli_run_transformer(const cli_cluster_job *job, cli_run *run, int64_t restarts, cli_progress *progress);
int cli_run_learned(const cli_cluster_job *job, cli_run *run, int64_t restarts, cli_progress *progress);

#endif
