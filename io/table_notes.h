/* table_notes.h: warnings about a table that was read successfully. Internal to io/. */
#ifndef TS_TABLE_NOTES_H
#define TS_TABLE_NOTES_H

#include "table_builder.h"

/* After reading, if the user chose no columns: warns of columns that number the rows or are named like such columns. */
void ts_note_row_numbers(const ts_table_builder *builder);

/* A first row of whole numbers that was taken for data but may be names: it counts the columns, lists years, or rises
 * in equal steps, and no other row is like it. */
typedef struct ts_first_row {
    int64_t number; /* the row's number in the file */
    bool counts, years, steps;
    bool alone; /* no other row so far consists of whole numbers only */
} ts_first_row;

/* `begin` is called when the first row is in the table, `compare` for each later row, whose cells are the strings
 * text + cells[0], text + cells[1], ..; `note` writes the warning, if any. */
void ts_first_row_begin(ts_first_row *first, const ts_table_builder *builder, const char *text, const int64_t *cells);
void ts_first_row_compare(ts_first_row *first, const ts_table_builder *builder, const char *text, const int64_t *cells);
void ts_first_row_note(const ts_first_row *first, const ts_table_builder *builder);

#endif
