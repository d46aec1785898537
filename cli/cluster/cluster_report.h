/* cluster_report.h: the results of `tessera cluster` on standard output, for a person or as one JSON object. */
#ifndef CLI_CLUSTER_REPORT_H
#define CLI_CLUSTER_REPORT_H

#include "cluster_job.h"

void cli_cluster_print_report(const cli_cluster_job *job);

/* false when out of memory. */
bool cli_cluster_print_json(const cli_cluster_job *job);

#endif
