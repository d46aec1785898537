/* report.h: a table as rows of described columns, from which its text, its CSV and its Markdown come. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stddef.h>
#include <stdio.h>

#include "number_text.h"

typedef enum cli_cell {
    CLI_CELL_REAL,  /* a double; NAN where there is none */
    CLI_CELL_RANGE, /* two doubles, "1.2 to 3.4" */
    CLI_CELL_WHOLE, /* an int64_t */
    CLI_CELL_TEXT,  /* a const char * */
    CLI_CELL_QUOTED /* the same, which a CSV has between quotes unless it is empty */
} cli_cell;

/* How a number is written; "" for NAN, mostly. Returns text. */
typedef const char *cli_show(double value, char text[CLI_NUMBER_TEXT]);

/* A CSV has all digits of a real, and nothing for NAN unless the column says how it is shown there. */
typedef struct cli_column {
    cli_cell cell;
    size_t field;                 /* of a row: the offset of the value */
    const char *csv, *head, *md;  /* its name in CSV, text and Markdown; NULL: it is not there */
    int width, gap;               /* of text: below 0 at the left; and more blanks before it than one between columns */
    cli_show *show, *show_in_csv; /* of a real; NULL: any number */
} cli_column;

typedef enum cli_form { CLI_CSV, CLI_TEXT_TABLE, CLI_MARKDOWN } cli_form;

/* The line of names, in Markdown with that below it, and the line of a row. */
void cli_report_head(FILE *stream, cli_form form, const cli_column *columns, size_t count);
void cli_report_row(FILE *stream, cli_form form, const cli_column *columns, size_t count, const void *row);

#endif
