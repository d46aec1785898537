/* bench_form.h: what the reports of the bench share: their forms, their numbers, and what they say of the machine. */
#ifndef CLI_BENCH_FORM_H
#define CLI_BENCH_FORM_H

#include <stdbool.h>
#include <stdio.h>

#include "../cli/common/json_writer.h"
#include "../cli/common/report.h"
#include "bench_machine.h"

/* A report of a result that it knows, in all its forms. */
typedef struct cli_bench_report {
    void (*print)(const void *result);
    void (*put_json)(const void *result, cli_json *json);
    void (*put_csv)(const void *result, FILE *stream);
    void (*put_markdown)(const void *result, FILE *stream);
} cli_bench_report;

/* A number with three digits or more, and a share in percent; "" for NAN. */
cli_show cli_bench_number, cli_bench_percent;
/* What is said of the machine, in two lines or three, each beginning with `mark`. */
void cli_bench_write_machine(FILE *stream, const cli_bench_machine *machine, const char *mark);
void cli_bench_put_machine(cli_json *json, const cli_bench_machine *machine); /* its member */

#endif
