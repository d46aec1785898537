/* inspect_picture.h: matrices as heat maps, many in one picture, drawn by gnuplot. */
#ifndef CLI_INSPECT_PICTURE_H
#define CLI_INSPECT_PICTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../io/io_error.h"

/* A picture being written; lengths are pixels of the svg, from the upper left corner. */
typedef struct cli_picture {
    FILE *script;
    const char *path;
    int width, height;
    int maps; /* so far */
} cli_picture;

/* Where a heat map stands, and what is written beside it; NULL: nothing. */
typedef struct cli_picture_map {
    int x, y, width, height;
    int64_t rows, columns;
    const double *values; /* [rows, columns], drawn from -1 to 1, or from 0 to 1 */
    bool is_signed;
    const char *title, *x_label, *y_label;
    /* Lines after the first `lines_x` columns and the first `lines_y` rows, in rising order; NULL: none. */
    const int64_t *lines_x, *lines_y;
    int64_t n_lines_x, n_lines_y;
} cli_picture_map;

typedef enum cli_align { CLI_LEFT, CLI_CENTER, CLI_RIGHT } cli_align;

bool cli_picture_begin(cli_picture *picture, const char *path, int width, int height, ts_io_error *error);
void cli_picture_add(cli_picture *picture, const cli_picture_map *map);
void cli_picture_text(cli_picture *picture, int x, int y, cli_align align, int size, const char *text);
/* A key of the colours, lying; `low` and `high` are written at its ends. */
void cli_picture_key(cli_picture *picture, int x, int y, bool is_signed, const char *low, const char *high);
/* Draws it. The same bytes for the same picture (.pdf: but for its date). */
bool cli_picture_end(cli_picture *picture, ts_io_error *error);

#endif
