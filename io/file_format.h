/* file_format.h: what a file is, by its first bytes. Internal to io/. */
#ifndef TS_FILE_FORMAT_H
#define TS_FILE_FORMAT_H

#include <stdint.h>

typedef enum ts_file_format {
    TS_FILE_TEXT, /* or nothing that is known */
    TS_FILE_NPY,
    TS_FILE_ZIP, /* of arrays, as far as can be told */
    TS_FILE_GZIP,
    TS_FILE_UNREAD /* a format that is known and not read */
} ts_file_format;

enum { TS_FILE_HEAD = 512 }; /* bytes that tell a format */

/* head[size]: the file's first TS_FILE_HEAD bytes, or all of them. For what is not read *name becomes its name and
 * *advice what to do, "a Parquet file" and "save the table as .csv or .npy". */
ts_file_format ts_file_format_of(const unsigned char *head, int64_t size, const char **name, const char **advice);

#endif
