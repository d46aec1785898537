/* eval_report.h: the results of `tessera eval`: a table or a JSON object on standard output, and a CSV. */
#ifndef CLI_EVAL_REPORT_H
#define CLI_EVAL_REPORT_H

#include <jansson.h>

#include "../../io/io_error.h"
#include "eval_run.h"

void cli_eval_print_report(const cli_eval_job *job);

/* false when out of memory. */
bool cli_eval_print_json(const cli_eval_job *job);

bool cli_eval_write_csv(const cli_eval_job *job, ts_io_error *error);

/* A JSON string of any bytes: those that are no UTF-8 become question marks. NULL when out of memory. */
json_t *cli_eval_string(const char *text);

#endif
