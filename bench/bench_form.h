/* bench_form.h: what the reports of the bench share: their forms, their numbers, and what they say of the machine. */
#ifndef CLI_BENCH_FORM_H
#define CLI_BENCH_FORM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "../cli/common/report.h"
#include "bench_machine.h"

/* A report of a result that it knows, in all its forms. */
typedef struct cli_bench_report {
    void (*print)(const void *result);
    json_t *(*json)(const void *result); /* NULL when out of memory */
    void (*put_csv)(const void *result, FILE *stream);
    void (*put_markdown)(const void *result, FILE *stream);
} cli_bench_report;

/* A number with three digits or more, and a share in percent; "" for NAN. */
cli_show cli_bench_number, cli_bench_percent;
json_t *cli_bench_real(double value); /* null for NAN */

/* What is said of the machine, in two lines or three, each beginning with `mark`. */
void cli_bench_write_machine(FILE *stream, const cli_bench_machine *machine, const char *mark);
json_t *cli_bench_machine_json(const cli_bench_machine *machine); /* NULL when out of memory */

#endif
