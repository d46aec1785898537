/* heat_map.h: matrices as heat maps, many in one picture. */
#ifndef CLI_HEAT_MAP_H
#define CLI_HEAT_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "drawing.h"

/* Where a heat map stands, and what is written beside it; NULL: nothing. */
typedef struct cli_heat_map {
    cli_box box;
    int64_t rows, columns;
    const double *values; /* [rows, columns], drawn from -1 to 1, or from 0 to 1 */
    bool is_signed;
    const char *name; /* upward, left of it */
    /* Lines after the first lines[i] columns, and after as many rows if they go both ways. */
    const int64_t *lines;
    int64_t n_lines;
    bool both_ways;
} cli_heat_map;

/* Where the colours of some maps end. */
typedef struct cli_heat_scale {
    double end; /* NAN: out of memory */
    bool exceeded;
} cli_heat_scale;

/* Divides the values of maps [count] by the magnitude that 1 in 200 exceeds, or by the largest if that is 0. */
cli_heat_scale cli_heat_scale_maps(double *const *maps, int n_maps, int64_t count);

/* Draws it, with the texts written since the map before. */
void cli_heat_map_add(const cli_drawing *d, const cli_heat_map *map);

/* A key of the colours of maps whose values were divided by `scale.end`, in the middle of so much width, with numbers
 * at its ends, "≥0.05" where larger ones have the last colour. */
enum { CLI_HEAT_KEY_HEIGHT = 10 };
void cli_heat_map_key(const cli_drawing *d, double x, double y, double width, bool is_signed, cli_heat_scale scale);

#endif
