/* csv.h: reads text tables separated by commas, semicolons, tabs or runs of blanks. Internal to io/.
 *
 * The separator is named by a first line "sep=;" or guessed from the first 20 records: the one that gives all of them
 * the same number of columns (more than 1), and among several the one that gives the most numbers. If all records but
 * the first have one more cell, and that cell is in quotes, is no number, or counts the records, it names the row, as R
 * writes it; it is then the first column, without a name. Cells may be quoted (RFC 4180); lines end in LF, CRLF or CR.
 * Skipped but counted are empty lines and, before the first row of numbers, comments: lines that start with # but not
 * with a mark of a missing value such as #N/A. With semicolons a number may have a decimal comma; a file that uses both
 * comma and point is refused, because one of them must be a thousands separator. Numbers are decimal; hexadecimal and
 * digit grouping are refused. Names that are not UTF-8 are read as Latin-1. Whether the first row holds names is
 * decided as table_types.h says. */
#ifndef TS_CSV_H
#define TS_CSV_H

#include "table_builder.h"

/* prefer_tab: use tabs as separators if the first record has any. Needs the "C" locale. */
bool ts_csv_read(const ts_byte_source *source, bool prefer_tab, ts_table_builder *builder, ts_io_error *error);

#endif
