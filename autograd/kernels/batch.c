#include "batch.h"

#include "broadcast.h"

ts_grid ts_grid_of(const ts_shape *shape) {
    int64_t dim[TS_MAX_RANK];
    ts_padded_dims(shape, dim);
    return (ts_grid){{dim[0], dim[1]}};
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

ts_status ts_shape_batched(const ts_node *node, int64_t m, int64_t n, ts_shape *out) {
    ts_shape a = node->in[0]->shape, b = node->in[1]->shape;
    a.rank -= 2;
    b.rank -= 2;
    if (!ts_broadcast_shapes(&a, &b, out))
        return ts_refuse(node, TS_ERROR_SHAPE, "the axes before the last two do not broadcast");
    out->dim[out->rank++] = m;
    out->dim[out->rank++] = n;
    return TS_OK;
}
