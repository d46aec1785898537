/* curve_file.h: what `tessera plot` reads: metrics.csv of training runs, and CSVs of `tessera eval`. */
#ifndef CLI_CURVE_FILE_H
#define CLI_CURVE_FILE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum cli_curve_kind { CLI_CURVES_OF_TRAINING, CLI_CURVES_OF_EVAL } cli_curve_kind;

enum { CLI_CURVE_COLUMNS = 12, CLI_CURVE_NAME = 24 };
typedef struct cli_curve_file {
    const char *path;
    cli_curve_kind kind;
    int columns;
    char column[CLI_CURVE_COLUMNS][CLI_CURVE_NAME];
    int64_t rows;
    double *value; /* [rows,columns]; words are NAN */
} cli_curve_file;

/* The header says which kind it is. CLI_DONE, or CLI_FAILED after saying why; free it in either case. */
int cli_curve_read(const char *path, cli_curve_file *file);
void cli_curve_free(cli_curve_file *file);

int cli_curve_column(const cli_curve_file *file, const char *name); /* -1: there is none */

#endif
