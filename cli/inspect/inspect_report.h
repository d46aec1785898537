/* inspect_report.h: what a file holds, on standard output. */
#ifndef CLI_INSPECT_REPORT_H
#define CLI_INSPECT_REPORT_H

#include "inspect_file.h"

/* With `all`, the optimiser's moments are listed too. Both return false when out of memory. */
bool cli_inspect_print_report(const cli_inspect_file *file, bool all);
bool cli_inspect_print_json(const cli_inspect_file *file);

#endif
