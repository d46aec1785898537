/* csv.h: tables in text: separated by commas, semicolons, tabs or runs of blanks. Internal to io/.
 *
 * What separates is named by a first line "sep=;", or found from the first 20 records: the separator that gives them
 * all the same number (more than 1) of columns, and among those the most numbers. Where all but the first have one cell
 * more, which is in quotes, no number, or counts them, it names the row, as R writes it: it is the first column then,
 * without a name. Cells may be quoted as RFC 4180 has it; lines end in LF, CRLF or CR; empty lines, and before the
 * first row of numbers those that start with # (but not with a mark such as #N/A), are skipped but counted. With
 * semicolons a number may have a decimal comma; a file that uses comma and point is refused, for one of them would be a
 * thousands separator. Numbers are decimal; hexadecimal and digit grouping are refused. Names that are not UTF-8 are
 * read as Latin-1. */
#ifndef TS_CSV_H
#define TS_CSV_H

#include "table_builder.h"

/* prefer_tab: take tabs as separators if the first record has any. Needs the "C" locale. */
bool ts_csv_read(const ts_byte_source *source, bool prefer_tab, ts_table_builder *builder, ts_io_error *error);

#endif
