/* cell.h: tells what a cell of a text file is: a number, a mark of a missing value, or text. Internal to io/. */
#ifndef TS_CELL_H
#define TS_CELL_H

#include "io_base.h"

typedef enum ts_cell_kind { TS_CELL_TEXT, TS_CELL_EMPTY, TS_CELL_FINITE, TS_CELL_NOT_FINITE } ts_cell_kind;

/* Parses a number, with a decimal comma too if `comma`. *mark becomes its decimal mark, '.' or ',', or 0. The cell is
 * changed during the call and restored. Needs the "C" locale. */
ts_cell_kind ts_cell_number(char *cell, bool comma, double *value, char *mark);

/* Is the cell digits and nothing else? */
bool ts_cell_is_whole(const char *cell);

/* Is it a word that stands for a missing value: NA, n/a, NULL, #N/A, ..? */
bool ts_cell_is_mark(const char *cell);

/* Can it be the name of a column? Its first letter or digit is a letter, and it is not a mark of a missing value. */
bool ts_cell_is_name(const char *cell);

enum { TS_REASON_SIZE = TS_QUOTE_SIZE + 80 };
/* Why the cell is not a finite number: "missing value (NA)", "not a number ('x')", "not finite (inf)". */
void ts_cell_reason(char *cell, bool comma, char reason[TS_REASON_SIZE]);

#endif
