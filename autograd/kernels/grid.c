/* grid.c: which batches a matrix of a grid serves (grid.h). */
#include "grid.h"

ts_grid ts_grid_of(const ts_shape *shape) {
    const int r = shape->rank;
    return (ts_grid){{r > 3 ? shape->dim[r - 4] : 1, r > 2 ? shape->dim[r - 3] : 1}};
}

ts_batch_range ts_batches_of(ts_grid full, ts_grid grid, int64_t t) {
    const int64_t at[2] = {t / grid.dim[1], t % grid.dim[1]};
    ts_batch_range range;
    for (int a = 0; a < 2; a++) {
        range.from[a] = grid.dim[a] == 1 ? 0 : at[a];
        range.to[a] = grid.dim[a] == 1 ? full.dim[a] : at[a] + 1;
    }
    return range;
}
