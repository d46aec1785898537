/* table_types.h: the types of table.h: what may be asked of a table file, and what comes of it. */
#ifndef TS_TABLE_TYPES_H
#define TS_TABLE_TYPES_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ts_header_mode { TS_HEADER_AUTO, TS_HEADER_YES, TS_HEADER_NO } ts_header_mode;

typedef struct ts_table_options {
    ts_header_mode header;     /* is the first row of a text file names? AUTO: yes if it holds a name that the options
                                  choose a column by; or if of its chosen cells at least one looks like a name (its first
                                  letter or digit is a letter, and it is no mark of a missing value such as NA), and
                                  numbers among the others, if any, are digits only, as years are (a note says so) */
    const char *columns;       /* the features to read: "1-4,6" counted from 1, or names "width,height", or a
                                  mixture; digits only are always a number; NULL: every column but the labels' and
                                  names of rows */
    const char *labels_column; /* a column kept out of the features, by name or number; NULL: none */
} ts_table_options;

enum { TS_TABLE_NOTES = 4, TS_TABLE_NOTE = 240 };

typedef struct ts_table {
    int64_t rows, cols;
    double *values;  /* [rows, cols], row-major */
    char **names;    /* [cols] column names in UTF-8, or NULL when the file has none */
    int64_t *labels; /* [rows] class of each row 0..n_classes-1 in order of first appearance; NULL: none */
    char **classes;  /* [n_classes] their texts as the file has them; an array's numbers in shortest form */
    int64_t n_classes;
    int n_notes; /* what the user should know, "column 1 counts the rows from 1": lines to stand behind the file's name
                  */
    char notes[TS_TABLE_NOTES][TS_TABLE_NOTE];
} ts_table;

#endif
