/* cluster_criterion.h: the number by which restarts are compared: what their algorithm minimises, of the scaled points.
 */
#ifndef CLI_CLUSTER_CRITERION_H
#define CLI_CLUSTER_CRITERION_H

#include "cluster_job.h"

/* For the centres and labels of a run. NaN if memory is short. */
double cli_cluster_criterion(const cli_cluster_job *job, const cli_run *run);

/* "sum of squared distances", "free energy, as scaled". */
enum { CLI_CRITERION_TEXT = 96 };
const char *cli_cluster_criterion_name(const cli_cluster_job *job, char text[CLI_CRITERION_TEXT]);

/* Is it what the report calls the objective? */
bool cli_cluster_criterion_is_objective(const cli_cluster_job *job);

#endif
