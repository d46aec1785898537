/* outputs.h: the files that a command writes: checked before it computes, written when it has, and told at the end. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <stdbool.h>
#include <stdio.h>

#include "../../io/io_error.h"

typedef struct cli_output {
    const char *option, *title; /* "centers" on the command line, "centres" in the report */
    const char *path;           /* NULL: not asked for */
    int rank; /* of the array that it holds, by which its name may end (array_writer.h); 0: no array */
    int (*check)(const char *option, const char *path); /* CLI_GO_ON, or an exit code after saying why; may be NULL */
    /* One of two: writes the file, or what is in it. */
    bool (*write)(const void *result, const char *path, ts_io_error *error);
    void (*put)(const void *result, FILE *stream);
    bool goes_first; /* is written before the others */
} cli_output;

enum { CLI_MOST_OUTPUTS = 6, CLI_MOST_INPUTS = 4 };
typedef struct cli_outputs {
    cli_output list[CLI_MOST_OUTPUTS];   /* those with an option */
    const char *inputs[CLI_MOST_INPUTS]; /* what the command reads; NULL: nothing */
    int title_width;                     /* of the titles in the report; 0: 12 */
    bool as_json;                        /* the report is asked for so */
    bool tells_path;                     /* an input that would be written over is told by the name of the output */
    bool tells_first;                    /* of two that are one file the name of the first is told */
    bool tells_folder;                   /* of a new file that cannot be, it is told that the folder is why */
    bool writes_on;                      /* one that fails does not keep the others from being written */
} cli_outputs;

/* Has each a name that it may have, no two the same file, none that of an input, and can each be written? Tries a file
 * as its writer will, and takes it back; pipes and devices are left alone. CLI_GO_ON, or an exit code after saying
 * why. */
int cli_outputs_check(const cli_outputs *outputs);

/* CLI_DONE, or CLI_FAILED after saying why. */
int cli_outputs_write(const cli_outputs *outputs, const void *result);

/* The report on standard output: as JSON, or for people and behind it an empty line and one for each output, if there
 * are any. Either is false when out of memory, which is told of `file`. CLI_DONE, or CLI_FAILED after saying why. */
typedef bool cli_tell(const void *result);
int cli_outputs_tell(const cli_outputs *outputs, const char *file, cli_tell *json, cli_tell *text, const void *result);

#endif
