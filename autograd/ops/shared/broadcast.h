/* broadcast.h: NumPy's broadcasting: shapes are aligned at their last axes, and an axis of length 1 stretches. */
#ifndef TS_BROADCAST_H
#define TS_BROADCAST_H

#include "../../op.h"

/* The common shape of a and b; false when two lengths differ and neither is 1. */
bool ts_broadcast_shapes(const ts_shape *a, const ts_shape *b, ts_shape *out);

/* The shape rule of a two-input op whose output has the common shape. */
ts_status ts_shape_broadcast(const ts_node *node, ts_shape *out);

/* The shape rule of a two-input op on matrices: the common leading axes of its inputs, then [m,n]. */
ts_status ts_shape_batched(const ts_node *node, int64_t m, int64_t n, ts_shape *out);

/* The step in elements along each axis of `out` (padded in front to TS_MAX_RANK) in an operand; 0 where it stretches.
 */
void ts_broadcast_strides(const ts_shape *operand, const ts_shape *out, int64_t stride[TS_MAX_RANK]);

/* The axes of `shape`, padded with 1 in front to TS_MAX_RANK. */
void ts_padded_dims(const ts_shape *shape, int64_t dim[TS_MAX_RANK]);

/* dst (of shape `to`) += src (of shape `from`), summed over the axes along which `to` stretches to `from`. Sums are
 * taken in double, in an order that depends on the shapes only. */
void ts_sum_to_shape(const ts_shape *from, const ts_real *src, const ts_shape *to, ts_real *dst);

#endif
