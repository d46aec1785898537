/* table_types.h: the types of table.h: the options of a reader, and the table that it fills. */
#ifndef TS_TABLE_TYPES_H
#define TS_TABLE_TYPES_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ts_header_mode { TS_HEADER_AUTO, TS_HEADER_YES, TS_HEADER_NO } ts_header_mode;

typedef struct ts_table_options {
    ts_header_mode header;     /* does the first row of a text file hold names? AUTO: yes if the options choose a column
                                  by a name in it; or if at least one of its chosen cells looks like a name (its first
                                  letter or digit is a letter, and it is not a mark of a missing value such as NA) and
                                  any numbers among the others are digits only, as years are (a note says so) */
    const char *columns;       /* the features to read: "1-4,6" counted from 1, names "width,height", or a mixture;
                                  digits only are always a number; NULL: every column except labels and row names */
    const char *labels_column; /* a column kept out of the features, by name or number; NULL: none */
} ts_table_options;

enum { TS_TABLE_NOTES = 4, TS_TABLE_NOTE = 240 };

typedef struct ts_table {
    int64_t rows, cols;
    double *values;  /* [rows, cols], row-major */
    char **names;    /* [cols] column names in UTF-8, or NULL when the file has none */
    int64_t *labels; /* [rows] class of each row, 0..n_classes-1 in order of first appearance; NULL: none */
    char **classes;  /* [n_classes] their texts as in the file; numbers of an array in their shortest form */
    int64_t n_classes;
    int n_notes; /* what the user should know, e.g. "column 1 counts the rows from 1"; to print after the file's name */
    char notes[TS_TABLE_NOTES][TS_TABLE_NOTE];
} ts_table;

#endif
