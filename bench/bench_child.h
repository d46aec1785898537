/* bench_child.h: a process that is asked to do something and says how long it took (bench_serve.h). */
#ifndef CLI_BENCH_CHILD_H
#define CLI_BENCH_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../cli/common/progress.h"

enum { CLI_BENCH_REASON = 200 };

typedef struct cli_bench_child {
    pid_t pid;                        /* 0: none, or ended */
    bool open;                        /* the two below */
    int socket, errors;               /* its standard input and output; its standard error */
    double patience;                  /* seconds that it may take for an answer */
    cli_progress *progress;           /* written again while an answer is waited for; may be NULL */
    bool started, failed, no_memory;  /* failed: text says why; for lack of memory */
    char text[CLI_BENCH_REASON];      /* the last line it wrote, without the word that it begins with */
    char complaint[CLI_BENCH_REASON]; /* the last line on standard error */
    size_t complained;                /* its length */
    bool complaint_ended;
} cli_bench_child;

/* Starts words[0], found in PATH, and waits for its "ready". false, with nothing left of it, when it never says that;
 * child->started tells whether it ran at all. Of its standard error the last line is kept, as the reason why it ends.
 * An answer that takes longer than `patience` in seconds, or is longer than any line, is a failure. */
bool cli_bench_start(cli_bench_child *child, char *const *words, double patience, cli_progress *progress);

/* This program, as `tessera bench serve THREADS`, which has all the time it needs; 0: as OpenMP chooses. */
bool cli_bench_start_self(cli_bench_child *child, int64_t threads, cli_progress *progress);

/* Asks a line, waits for the number, which is above 0. false: the child is of no further use, and child->text says why;
 * stop it. */
bool cli_bench_ask(cli_bench_child *child, const char *question, double *answer);

/* Lets it end, or makes it. Harmless on one that never started or is stopped already; the text stays. */
void cli_bench_stop(cli_bench_child *child);

#endif
