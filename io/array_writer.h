/* array_writer.h: arrays to .npy (version 1.0, little-endian, C order) or to .csv/.tsv/.txt, chosen by the name's
 * ending; any other ending is refused by name. Whole or not at all (output_file.h). */
#ifndef TS_ARRAY_WRITER_H
#define TS_ARRAY_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "io_error.h"

typedef enum ts_array_type { TS_ARRAY_FLOAT32, TS_ARRAY_FLOAT64, TS_ARRAY_INT64 } ts_array_type;

typedef struct ts_array_view {
    ts_array_type type;
    int rank; /* 1 to 4; a text file takes 1 or 2 */
    int64_t dim[4];
    const void *data;          /* row-major */
    char *const *column_names; /* [dim[1]] (or [1] for rank 1), written as a CSV header; may be NULL */
} ts_array_view;

/* True if ts_array_write would accept this name for an array of this rank; lets a program refuse an output before
 * it computes for an hour. */
bool ts_array_path_ok(const char *path, int rank, ts_io_error *error);

/* Numbers in text files are the shortest decimal that reads back to the same value of their type. */
bool ts_array_write(const char *path, const ts_array_view *array, ts_io_error *error);

#endif
