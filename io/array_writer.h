/* array_writer.h: writes arrays to .npy (version 1.0, little-endian, C order) or to .csv, .tsv or .txt, as the name
 * ends; other endings are refused. The file appears complete or not at all (output_file.h). */
#ifndef TS_ARRAY_WRITER_H
#define TS_ARRAY_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "io_error.h"

typedef enum ts_array_type { TS_ARRAY_FLOAT32, TS_ARRAY_FLOAT64, TS_ARRAY_INT64 } ts_array_type;

typedef struct ts_array_view {
    ts_array_type type;
    int rank; /* 1 to 4; 1 or 2 for text files */
    int64_t dim[4];
    const void *data;          /* row-major */
    char *const *column_names; /* [dim[1]] ([1] for rank 1), the header of a text file; may be NULL */
} ts_array_view;

/* Would ts_array_write accept this name for an array of this rank? Lets a program refuse an output before it computes
 * for an hour. */
bool ts_array_path_ok(const char *path, int rank, ts_io_error *error);

/* Fails on a name or rank that ts_array_path_ok refuses and when the file cannot be written. Numbers in text files are
 * the shortest decimals that read back as the same value of their type. */
bool ts_array_write(const char *path, const ts_array_view *array, ts_io_error *error);

#endif
