/* eval_report.h: the results of `tessera eval`: a table or a JSON object on standard output, and a CSV. */
#ifndef CLI_EVAL_REPORT_H
#define CLI_EVAL_REPORT_H

#include <stdio.h>

#include "eval_run.h"

/* Of a job; false when out of memory. */
bool cli_eval_print_report(const void *job);
bool cli_eval_print_json(const void *job);

/* Of a job: a row a step, with quartiles. */
void cli_eval_write_csv(const void *job, FILE *stream);

#endif
