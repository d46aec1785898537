/* cluster_report.h: the results of `tessera cluster` on standard output, for a person or as one JSON object. */
#ifndef CLI_CLUSTER_REPORT_H
#define CLI_CLUSTER_REPORT_H

#include "cluster_job.h"

/* Of a job; false when out of memory. */
bool cli_cluster_print_report(const void *job);
bool cli_cluster_print_json(const void *job);

#endif
