/* cluster_solve.h: the work of `tessera cluster`, from the options to a finished job. */
#ifndef CLI_CLUSTER_SOLVE_H
#define CLI_CLUSTER_SOLVE_H

#include "cluster_job.h"

/* Reads, scales, clusters, compares. Returns CLI_DONE, or CLI_FAILED after saying why; free it in either case. */
int cli_cluster_solve(const cli_cluster_options *options, cli_cluster_job *job);

/* Writes the definition of the options as JSON to standard output; reads the file only if the data choose gamma. */
int cli_cluster_print_arch(const cli_cluster_options *options);

#endif
