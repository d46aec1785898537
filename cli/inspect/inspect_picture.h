/* inspect_picture.h: matrices as heat maps, many in one picture. */
#ifndef CLI_INSPECT_PICTURE_H
#define CLI_INSPECT_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "../draw/drawing.h"

/* Where a heat map stands, and what is written beside it; NULL: nothing. */
typedef struct cli_picture_map {
    double x, y, width, height;
    int64_t rows, columns;
    const double *values; /* [rows, columns], drawn from -1 to 1, or from 0 to 1 */
    bool is_signed;
    const char *name; /* upward, left of it */
    /* Lines after the first `lines_x` columns and the first `lines_y` rows, in rising order; NULL: none. */
    const int64_t *lines_x, *lines_y;
    int64_t n_lines_x, n_lines_y;
} cli_picture_map;

/* Where the colours of some maps end. */
typedef struct cli_picture_scale {
    double end; /* NAN: out of memory */
    bool exceeded;
} cli_picture_scale;

/* Divides the values of maps [count] by the size that only 1 in 200 of them exceeds, or by the largest where that is 0.
 */
cli_picture_scale cli_picture_scale_maps(double *const *maps, int n_maps, int64_t count);

/* Draws it, with the texts written since the map before. */
void cli_picture_add(const cli_drawing *d, const cli_picture_map *map);

/* A key of the colours of maps whose values were divided by `scale.end`, in the middle of so much width, with numbers
 * at its ends, "≥0.05" where larger ones have the last colour. */
enum { CLI_PICTURE_KEY_HEIGHT = 10 };
void cli_picture_key(const cli_drawing *d, double x, double y, double width, bool is_signed, cli_picture_scale scale);

#endif
