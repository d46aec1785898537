/* output_file.h: files that appear whole or not at all.
 *
 * An output is written to a temporary file beside its target, flushed to the disk and renamed over it, so that a
 * full disk, a kill or a failed computation leaves the previous file as it was. Where the target exists and is no
 * regular file (a pipe, /dev/stdout, /dev/null) it is written directly. */
#ifndef TS_OUTPUT_FILE_H
#define TS_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "io_error.h"

typedef struct ts_output_file {
    FILE *stream;         /* write here */
    char *path;           /* the target */
    char *temporary_path; /* what is being written; NULL when written directly */
} ts_output_file;

bool ts_output_open(const char *path, ts_output_file *file, ts_io_error *error);

/* Flushes, syncs, renames and syncs the folder; on failure removes the temporary file and leaves the target. */
bool ts_output_commit(ts_output_file *file, ts_io_error *error);

/* Gives up: removes the temporary file. Harmless after a commit or on a zeroed struct. */
void ts_output_abandon(ts_output_file *file);

#endif
