/* cell.h: what a cell of a text file is: a number, a mark of a missing value, perhaps a name. Internal to io/. */
#ifndef TS_CELL_H
#define TS_CELL_H

#include "io_base.h"

typedef enum ts_cell_kind { TS_CELL_TEXT, TS_CELL_EMPTY, TS_CELL_FINITE, TS_CELL_NOT_FINITE } ts_cell_kind;

/* A number, with a decimal comma if `comma` allows that. *mark: its decimal mark ('.' or ','), or 0. The cell is the
 * same afterwards. Needs the "C" locale. */
ts_cell_kind ts_cell_number(char *cell, bool comma, double *value, char *mark);

/* Digits and nothing else. */
bool ts_cell_is_whole(const char *cell);

/* One of the words that stand for a missing value: NA, n/a, NULL, #N/A, ... */
bool ts_cell_is_mark(const char *cell);

/* May it be the name of a column? Its first letter or digit is a letter, and it is no mark of a missing value. */
bool ts_cell_is_name(const char *cell);

enum { TS_REASON_SIZE = TS_QUOTE_SIZE + 80 };
/* Why it is no finite number: "missing value (NA)", "not a number ('x')", "not finite (inf)". */
void ts_cell_reason(char *cell, bool comma, char reason[TS_REASON_SIZE]);

#endif
