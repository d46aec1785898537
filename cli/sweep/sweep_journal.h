/* sweep_journal.h: FILE.csv.partial, where the cells of a sweep go as they end, so that a kill loses only those that
 * run. The first line says which sweep it is; the others are rows of the CSV in any order. A last line without its end
 * was being written when the program died, and is dropped. */
#ifndef CLI_SWEEP_JOURNAL_H
#define CLI_SWEEP_JOURNAL_H

#include <stdio.h>

#include "sweep_grid.h"

typedef struct cli_sweep_journal {
    char *path;
    FILE *stream;
} cli_sweep_journal;

/* Opens or begins the journal of the output, and puts its cells into the grid. CLI_GO_ON, or CLI_FAILED after saying
 * why: another seed, steps, tasks or version, or another process holds it. Close it in either case. */
int cli_sweep_journal_open(cli_sweep_grid *grid, cli_sweep_journal *journal);

/* Appends a finished cell; false, with errno, when it could not be written. */
bool cli_sweep_journal_add(cli_sweep_journal *journal, const cli_sweep_grid *grid, int64_t cell);

/* `finished`: the file is removed. */
void cli_sweep_journal_close(cli_sweep_journal *journal, bool finished);

#endif
