/* grid.h: grids of matrices that broadcast against each other.
 *
 * A tensor of rank 2 to 4 is a grid of matrices; its leading axes are padded with 1 to two axes. A batch of the output
 * takes one matrix from each operand, and one matrix of an operand may serve a range of batches. */
#ifndef TS_GRID_H
#define TS_GRID_H

#include "../tensor.h"

typedef struct ts_grid {
    int64_t dim[2];
} ts_grid;

ts_grid ts_grid_of(const ts_shape *shape); /* rank 2 or more */

static inline int64_t ts_grid_count(ts_grid grid) {
    return grid.dim[0] * grid.dim[1];
}

/* The matrix of `grid` that batch (s0, s1) takes. */
static inline int64_t ts_grid_at(ts_grid grid, int64_t s0, int64_t s1) {
    return (grid.dim[0] == 1 ? 0 : s0) * grid.dim[1] + (grid.dim[1] == 1 ? 0 : s1);
}

/* The batches of `full` that take matrix t of `grid`: s0 in from[0] .. to[0]-1, s1 in from[1] .. to[1]-1. */
typedef struct ts_batch_range {
    int64_t from[2], to[2];
} ts_batch_range;
ts_batch_range ts_batches_of(ts_grid full, ts_grid grid, int64_t t);

#endif
