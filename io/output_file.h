/* output_file.h: output files that appear complete or not at all. All files are written through it.
 *
 * An output is written to a temporary file beside its target, flushed to the disk and renamed over the target, so that
 * a full disk, a kill or a failed computation leaves the previous file as it was. The new file keeps the old one's
 * permissions; a symbolic link is followed and stays. A target that exists and is not a regular file (a pipe,
 * /dev/null) is written directly, and /dev/stdout is the program's own standard output, wherever that leads. */
#ifndef TS_OUTPUT_FILE_H
#define TS_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "io_error.h"

typedef struct ts_output_file {
    FILE *stream;         /* write here */
    char *path;           /* as given, for messages */
    char *target;         /* `path` with symbolic links followed */
    char *temporary_path; /* the file being written; NULL if the target is written directly */
} ts_output_file;

/* Fails if the file cannot be written; *file is then zeroed. Followed by ts_output_abandon it tests just that. */
bool ts_output_open(const char *path, ts_output_file *file, ts_io_error *error);

/* Flushes, syncs, renames and syncs the folder; on failure removes the temporary file and leaves the target as it was.
 * Fails if any earlier write to the stream failed, so writers need not check each one. Either way *file is zeroed. */
bool ts_output_commit(ts_output_file *file, ts_io_error *error);

/* Removes the temporary file and leaves the target as it was. Harmless after a commit or on a zeroed struct. */
void ts_output_abandon(ts_output_file *file);

/* Are a and b the same file? Links are followed, and neither need exist yet. */
bool ts_output_same(const char *a, const char *b);

#endif
