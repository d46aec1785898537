/* thin_points.h: which of many points a picture needs. */
#ifndef CLI_THIN_POINTS_H
#define CLI_THIN_POINTS_H

#include <stdbool.h>
#include <stdint.h>

/* Where point i lies, in units of the picture, from 0 on. */
typedef void (*cli_point_place)(const void *context, int64_t i, double xy[2]);

/* Writes to rows the points, in rising order, that lie in a square cell without another of their group before them; the
 * cells are as small as leaves `most` points or fewer. So what stands alone is always among them. All n points where
 * those are not more. Returns how many; -1 when out of memory. `rows` has room for `most`. */
int64_t cli_thin_points(int64_t n, const int64_t *group, cli_point_place place, const void *context, int64_t most,
                        int64_t *rows);

#endif
