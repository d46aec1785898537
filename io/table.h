/* table.h: a numeric table read from a file a user has: .npy, .npz, .csv, .tsv, packed by gzip or not, or from standard
 * input.
 *
 * The readers trust nothing: sizes are checked against the file before memory is taken for them, every cell
 * must be a finite number, and what is refused is named with its place. Rows and columns in messages count from
 * 1 as a spreadsheet shows them: the header row, empty lines and comments included. Integers beyond 2^53 round to
 * the nearest double. csv.h says what text files may look like, npy.h which arrays are read. */
#ifndef TS_TABLE_H
#define TS_TABLE_H

#include "io_error.h"
#include "table_types.h"

/* Refuses choices of columns that are wrong whatever the file: a number or name that is missing, column 0, a range that
 * runs backwards, a number chosen twice. The message begins with `path`. ts_table_read does this first. */
bool ts_table_options_check(const char *path, const ts_table_options *options, ts_io_error *error);

/* Reads PATH into *table (which need not be initialised; on failure it is left empty). options may be NULL.
 * "-" is standard input; "FILE.npz:array" one array of an archive ("FILE.npz" when it holds just one).
 * The format is told by the file's first bytes: an array, an archive, gzip, or one of many that are named and refused.
 * Where they tell nothing it is .npy or .npz if the name ends so, else text, .tsv with tabs before other separators.
 * A one-dimensional array of n numbers is n rows of one column. */
bool ts_table_read(const char *path, const ts_table_options *options, ts_table *table, ts_io_error *error);

/* Reads a table whose columns are to be the features called names[0..count-1], in this order. In a file with names they
 * are found by name, whatever else there is; where one is missing or not unique, it is refused. In a file without
 * names, or where `names` is NULL, all columns are read as they come. */
bool ts_table_read_features(const char *path, char *const *names, int64_t count, ts_table *table, ts_io_error *error);

/* Releases what ts_table_read allocated and empties the table; an empty or zeroed table is fine. */
void ts_table_free(ts_table *table);

#endif
