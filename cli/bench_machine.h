/* bench_machine.h: the machine that is measured on, and what it could do at most. */
#ifndef CLI_BENCH_MACHINE_H
#define CLI_BENCH_MACHINE_H

#include <stdbool.h>

#include "bench_options.h"

typedef struct cli_bench_machine {
    char processor[128], compiler[64], date[16];
    const char *instructions; /* isa.h */
    int cores, threads;
    double peak_one, peak;           /* GFLOP/s of multiply-adds on one thread and on all */
    double bandwidth_one, bandwidth; /* GB/s */
} cli_bench_machine;

/* CLI_DONE, or an exit code after saying why. */
int cli_bench_know_machine(const cli_bench_options *options, cli_bench_machine *machine);

/* Do the threads together reach less than 90 % of what they would if each had a core to itself? */
bool cli_bench_shares_cores(const cli_bench_machine *machine);

#endif
