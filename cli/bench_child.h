/* bench_child.h: a process that is asked to do something and says how long it took (bench_serve.h). */
#ifndef CLI_BENCH_CHILD_H
#define CLI_BENCH_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CLI_BENCH_REASON = 200 };

typedef struct cli_bench_child {
    pid_t pid;
    int socket;                  /* its standard input and output */
    double patience;             /* seconds that it may take for an answer */
    bool failed;                 /* and text says why */
    char text[CLI_BENCH_REASON]; /* the last line it wrote, without "ready" or "error" */
} cli_bench_child;

/* Starts words[0], found in PATH, and waits for its "ready". false, with nothing left of it, when it never says that.
 * `other`, a program that is not ours: what it writes to standard error is dropped, and one that does not answer for a
 * quarter of an hour has failed. */
bool cli_bench_start(cli_bench_child *child, char *const *words, bool other);

/* This program, as `tessera bench serve THREADS`; 0: as OpenMP chooses. */
bool cli_bench_start_self(cli_bench_child *child, int64_t threads);

/* Asks a line, waits for the number. false: the child is of no further use, and child->text says why; stop it. */
bool cli_bench_ask(cli_bench_child *child, const char *question, double *answer);

/* Lets it end, or makes it. Harmless on one that never started or is stopped already. */
void cli_bench_stop(cli_bench_child *child);

#endif
