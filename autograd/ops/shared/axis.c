/* axis.c: pieces of an axis, and reductions over it (axis.h). */
#include "axis.h"

#include "../../parallel.h"

ts_status ts_axis_number(const ts_node *node, const ts_shape *shape, int axis, int *number) {
    if (axis == TS_ALL_AXES) return ts_refuse(node, TS_ERROR_SHAPE, "one axis must be named, not all");
    if (axis < -shape->rank || axis >= shape->rank)
        return ts_refuse(node, TS_ERROR_SHAPE, "axis %d of a tensor of rank %d", axis, shape->rank);
    *number = axis < 0 ? axis + shape->rank : axis;
    return TS_OK;
}

ts_axis ts_axis_of(const ts_shape *shape, int axis) {
    const int at = axis < 0 && axis != TS_ALL_AXES ? axis + shape->rank : axis;
    ts_axis a = {.outer = 1, .n = 1, .inner = 1};
    for (int i = 0; i < shape->rank; i++) {
        if (axis == TS_ALL_AXES || i == at)
            a.n *= shape->dim[i];
        else if (i < at)
            a.outer *= shape->dim[i];
        else
            a.inner *= shape->dim[i];
    }
    a.blocks = a.n <= TS_AXIS_BLOCK ? 1 : (a.n + TS_AXIS_BLOCK - 1) / TS_AXIS_BLOCK;
    a.strips = (a.inner + TS_AXIS_STRIP - 1) / TS_AXIS_STRIP;
    return a;
}

ts_status ts_shape_reduced(const ts_node *node, ts_shape *out) {
    const ts_reduction *r = node->attr;
    const ts_shape *x = &node->in[0]->shape;
    const bool all = r->axis == TS_ALL_AXES;
    int number = 0;
    if (!all) {
        const ts_status status = ts_axis_number(node, x, r->axis, &number);
        if (status != TS_OK) return status;
    }
    *out = TS_SCALAR;
    for (int i = 0; i < x->rank; i++) {
        const bool reduced = all || i == number;
        if (!reduced || r->keep) out->dim[out->rank++] = reduced ? 1 : x->dim[i];
    }
    return TS_OK;
}

ts_status ts_shape_reduced_filled(const ts_node *node, ts_shape *out) {
    const ts_reduction *r = node->attr;
    const ts_status status = ts_shape_reduced(node, out);
    if (status != TS_OK || ts_axis_of(&node->in[0]->shape, r->axis).n > 0) return status;
    if (r->axis == TS_ALL_AXES) return ts_refuse(node, TS_ERROR_SHAPE, "the tensor is empty");
    return ts_refuse(node, TS_ERROR_SHAPE, "axis %d is empty", r->axis);
}

int64_t ts_axis_pieces(const ts_axis *axis) {
    return axis->outer * axis->blocks * axis->strips;
}

ts_piece ts_axis_piece(const ts_axis *axis, int64_t item) {
    const int64_t row = axis->strips == 1 ? item : item / axis->strips;
    const int64_t column = (item - row * axis->strips) * TS_AXIS_STRIP;
    const int64_t outer = axis->blocks == 1 ? row : row / axis->blocks;
    const int64_t from = (row - outer * axis->blocks) * TS_AXIS_BLOCK;
    return (ts_piece){.start = (outer * axis->n + from) * axis->inner + column,
                      .count = axis->n - from < TS_AXIS_BLOCK ? axis->n - from : TS_AXIS_BLOCK,
                      .step = axis->inner,
                      .width = axis->inner - column < TS_AXIS_STRIP ? axis->inner - column : TS_AXIS_STRIP,
                      .output = outer * axis->inner + column,
                      .partial = row * axis->inner + column,
                      .total = outer * axis->blocks * axis->inner + column};
}

int64_t ts_axis_partials(const ts_axis *axis) {
    const int64_t n = axis->outer * axis->blocks * axis->inner;
    return n > 0 ? n : 1;
}

int64_t ts_axis_total(const ts_axis *axis, int64_t q) {
    return axis->blocks == 1 ? q : q / axis->inner * axis->blocks * axis->inner + q % axis->inner;
}

int64_t ts_axis_steps(const ts_axis *axis) {
    return axis->outer * axis->n * axis->inner;
}

typedef struct call {
    const ts_axis *axis;
    ts_piece_fn *reduce;
    ts_join_fn *join;
    const void *context;
    double *partial;
} call;

static void reduce_piece(const void *context, int64_t item) {
    const call *k = context;
    const ts_piece piece = ts_axis_piece(k->axis, item);
    k->reduce(&piece, k->context, k->partial + piece.partial);
}

static void join_blocks(const void *context, int64_t q) {
    const call *k = context;
    double *total = k->partial + ts_axis_total(k->axis, q);
    for (int64_t b = 1; b < k->axis->blocks; b++) *total = k->join(*total, total[b * k->axis->inner]);
}

void ts_axis_reduce(const ts_axis *axis, ts_piece_fn *reduce, const void *context, ts_join_fn *join, double *partial) {
    const call k = {axis, reduce, join, context, partial};
    const int64_t outputs = axis->outer * axis->inner;
    ts_for_each(ts_axis_pieces(axis), ts_axis_steps(axis), reduce_piece, &k);
    if (axis->blocks > 1) ts_for_each(outputs, outputs * axis->blocks, join_blocks, &k);
}
