/* number_list.h: lists of numbers on the command line: "5,10,20", ranges "5-50:5" (the step is 1 by default), "1-4,8".
 */
#ifndef CLI_NUMBER_LIST_H
#define CLI_NUMBER_LIST_H

#include <stdbool.h>
#include <stddef.h>

enum { CLI_NUMBER_LIST = 256 };
typedef struct cli_number_list {
    size_t count;
    double value[CLI_NUMBER_LIST]; /* rising, each once */
} cli_number_list;

/* The numbers that are allowed. */
typedef struct cli_number_bounds {
    bool whole;
    double least, most;
} cli_number_bounds;

/* Reads text, the value of --name. Returns CLI_GO_ON, or CLI_WRONG_USE after saying what is wrong. */
int cli_read_numbers(const char *name, const char *text, const cli_number_bounds *bounds, cli_number_list *list);

/* The place of a value that is in the list exactly, else -1. */
int cli_number_place(const cli_number_list *list, double value);

#endif
