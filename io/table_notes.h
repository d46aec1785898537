/* table_notes.h: what a table's user should know although it was read. Internal to io/. */
#ifndef TS_TABLE_NOTES_H
#define TS_TABLE_NOTES_H

#include "table_builder.h"

/* After reading: columns that number the rows, or are named as such columns are, where the user chose none. */
void ts_note_row_numbers(const ts_table_builder *builder);

/* A first row of whole numbers, taken for data, that may be names: it counts the columns, goes through years, or up in
 * equal steps, and no other row is like it. */
typedef struct ts_first_row {
    int64_t number; /* of the row in the file */
    bool counts, years, steps;
    bool alone; /* no other row so far is written in whole numbers only */
} ts_first_row;

/* The first row is in the table; its cells, and those of each row behind it, are text + cells[0], ... */
void ts_first_row_begin(ts_first_row *first, const ts_table_builder *builder, const char *text, const int64_t *cells);
void ts_first_row_compare(ts_first_row *first, const ts_table_builder *builder, const char *text, const int64_t *cells);
void ts_first_row_note(const ts_first_row *first, const ts_table_builder *builder);

#endif
