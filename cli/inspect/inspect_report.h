/* inspect_report.h: what a file holds, on standard output. */
#ifndef CLI_INSPECT_REPORT_H
#define CLI_INSPECT_REPORT_H

#include <stdbool.h>

/* Of a cli_inspect_file; false when out of memory. */
bool cli_inspect_print_report(const void *file);
bool cli_inspect_print_json(const void *file);

#endif
