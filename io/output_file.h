/* output_file.h: files that appear whole or not at all.
 *
 * An output is written to a temporary file beside its target, flushed to the disk and renamed over it, so that a
 * full disk, a kill or a failed computation leaves the previous file as it was. The new file keeps the old one's
 * permissions; a symbolic link is followed and stays. Where the target exists and is no regular file (a pipe,
 * /dev/null) it is written directly, and /dev/stdout is the program's own standard output, wherever that leads. */
#ifndef TS_OUTPUT_FILE_H
#define TS_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "io_error.h"

typedef struct ts_output_file {
    FILE *stream;         /* write here */
    char *path;           /* as asked for, for messages */
    char *target;         /* the same with symbolic links followed */
    char *temporary_path; /* what is being written; NULL when written directly */
} ts_output_file;

/* On failure *file is zeroed. */
bool ts_output_open(const char *path, ts_output_file *file, ts_io_error *error);

/* Flushes, syncs, renames and syncs the folder; on failure removes the temporary file and leaves the target. A
 * write to the stream that failed earlier makes this fail, so that writers need not check each one. */
bool ts_output_commit(ts_output_file *file, ts_io_error *error);

/* Gives up: removes the temporary file. Harmless after a commit or on a zeroed struct. */
void ts_output_abandon(ts_output_file *file);

/* Would writing to a and to b write one file? Links are followed, and neither need exist yet. */
bool ts_output_same(const char *a, const char *b);

#endif
