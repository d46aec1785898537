/* sweep_list.h: lists of numbers on the command line: "5,10,20", ranges "5-50:5" (from 5 to 50 by 5; by 1 without the
 * colon), and both: "1-4,8". */
#ifndef CLI_SWEEP_LIST_H
#define CLI_SWEEP_LIST_H

#include <stdbool.h>
#include <stddef.h>

enum { CLI_SWEEP_LIST = 256 };
typedef struct cli_sweep_list {
    size_t count;
    double value[CLI_SWEEP_LIST]; /* rising, each once */
} cli_sweep_list;

/* What the numbers may be. */
typedef struct cli_sweep_bounds {
    bool whole;
    double least, most;
} cli_sweep_bounds;

/* Reads text, the value of --name. Returns CLI_GO_ON, or CLI_WRONG_USE after saying what is wrong. */
int cli_sweep_read_list(const char *name, const char *text, const cli_sweep_bounds *bounds, cli_sweep_list *list);

/* The place of a value that is in the list exactly, else -1. */
int cli_sweep_find(const cli_sweep_list *list, double value);

#endif
