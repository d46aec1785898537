/* table.h: reads a numeric table from a .npy, .npz, .csv or .tsv file, possibly compressed by gzip, or from standard
 * input.
 *
 * The readers trust nothing: a claimed size is checked against the file before memory is allocated for it, every cell
 * must be a finite number, and an error names the place. Rows and columns in messages count from 1 as a spreadsheet
 * shows them: the header row, empty lines and comments are counted. Integers beyond 2^53 round to the nearest double.
 * csv.h says which text files are read, npy.h which arrays. */
#ifndef TS_TABLE_H
#define TS_TABLE_H

#include "io_error.h"
#include "table_types.h"

/* Refuses choices of columns that are wrong for any file: a missing number or name, column 0, a range that runs
 * backwards, a number chosen twice. The message begins with `path`. ts_table_read calls this first. */
bool ts_table_options_check(const char *path, const ts_table_options *options, ts_io_error *error);

/* Reads `path` into *table, which need not be initialised and is left empty on failure. options may be NULL.
 * "-" is standard input; "FILE.npz:array" is one array of an archive ("FILE.npz" suffices when it holds just one).
 * The file's first bytes tell the format: an array, an archive, gzip, or a known format that is refused by name. If
 * they tell nothing, the ending of the name decides between .npy, .npz and text; in .tsv files tabs are preferred as
 * separators. A one-dimensional array of n numbers is n rows of one column. */
bool ts_table_read(const char *path, const ts_table_options *options, ts_table *table, ts_io_error *error);

/* Reads a table whose columns become the features called names[0..count-1], in this order. In a file with column names
 * they are found by name and other columns are left out; a name that is missing or not unique is an error. In a file
 * without names, or if `names` is NULL, all columns are read in the file's order. */
bool ts_table_read_features(const char *path, char *const *names, int64_t count, ts_table *table, ts_io_error *error);

/* Frees what ts_table_read allocated and empties the table; an empty or zeroed table is fine. */
void ts_table_free(ts_table *table);

#endif
