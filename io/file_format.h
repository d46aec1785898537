/* file_format.h: tells the format of a file by its first bytes. Internal to io/. */
#ifndef TS_FILE_FORMAT_H
#define TS_FILE_FORMAT_H

#include <stdint.h>

typedef enum ts_file_format {
    TS_FILE_TEXT, /* or unknown */
    TS_FILE_NPY,
    TS_FILE_ZIP, /* presumably of arrays */
    TS_FILE_GZIP,
    TS_FILE_UNREAD /* a known format that is not supported */
} ts_file_format;

enum { TS_FILE_HEAD = 512 }; /* bytes that suffice to tell a format */

/* head[size]: the file's first TS_FILE_HEAD bytes, or all of them. For TS_FILE_UNREAD *name becomes the format's name,
 * e.g. "a Parquet file", and *advice what to do, e.g. "save the table as .csv or .npy". */
ts_file_format ts_file_format_of(const unsigned char *head, int64_t size, const char **name, const char **advice);

#endif
