/* bench_machine.h: the machine that is measured on, and what it could do at most. */
#ifndef CLI_BENCH_MACHINE_H
#define CLI_BENCH_MACHINE_H

#include <stdbool.h>

#include "../cli/common/progress.h"
#include "bench_options.h"

typedef struct cli_bench_machine {
    char processor[128], compiler[64], date[16];
    const char *instructions;        /* isa.h */
    int cores, usable;               /* that the machine has, and that this program may use */
    int threads, asked;              /* that there really are, and what was asked for; 0: nothing */
    double peak_one, peak;           /* GFLOP/s of multiply-adds on one thread and on all; NAN: not measured */
    double bandwidth_one, bandwidth; /* GB/s; NAN: not measured, as where there is no memory for it */
} cli_bench_machine;

void cli_bench_know_machine(const cli_bench_options *options, cli_progress *progress, cli_bench_machine *machine);

/* Do the threads together reach less than 90 % of what they would if they had the usable cores to themselves? */
bool cli_bench_shares_cores(const cli_bench_machine *machine);

#endif
