/* y = x_1, x_2, .. joined along an axis;  each dx_i += its part of dy */
#include "../kernels/rows.h"
#include "../ops.h"
#include "shared/axis.h"

typedef struct concat_attr {
    int axis;
} concat_attr;

static ts_status shape(const ts_node *node, ts_shape *out) {
    const concat_attr *attr = node->attr;
    int axis;
    *out = node->in[0]->shape;
    const ts_status status = ts_axis_number(node, out, attr->axis, &axis);
    if (status != TS_OK) return status;
    for (int i = 1; i < node->n_in; i++) {
        const ts_shape *x = &node->in[i]->shape;
        if (x->rank != out->rank) return ts_refuse(node, TS_ERROR_SHAPE, "ranks %d and %d differ", out->rank, x->rank);
        for (int a = 0; a < x->rank; a++)
            if (a != axis && x->dim[a] != out->dim[a])
                return ts_refuse(node, TS_ERROR_SHAPE, "lengths %lld and %lld of axis %d differ",
                                 (long long)out->dim[a], (long long)x->dim[a], a);
        if (x->dim[axis] > INT64_MAX - out->dim[axis]) return ts_refuse(node, TS_ERROR_SHAPE, "the sum is too long");
        out->dim[axis] += x->dim[axis];
    }
    return TS_OK;
}

static void forward(const ts_node *node) {
    const concat_attr *attr = node->attr;
    const ts_axis y = ts_axis_of(&node->out->shape, attr->axis);
    ts_real *to = node->out->data;
    for (int i = 0; i < node->n_in; i++) {
        const int64_t width = ts_axis_of(&node->in[i]->shape, attr->axis).n * y.inner;
        const ts_rectangle part = {.rows = y.outer, .width = width, .src_step = width, .dst_step = y.n * y.inner};
        ts_copy_rows(&part, node->in[i]->data, to);
        to += width;
    }
}

static void backward(const ts_node *node) {
    const concat_attr *attr = node->attr;
    const ts_axis y = ts_axis_of(&node->out->shape, attr->axis);
    const ts_real *from = node->out->grad;
    for (int i = 0; i < node->n_in; i++) {
        const int64_t width = ts_axis_of(&node->in[i]->shape, attr->axis).n * y.inner;
        const ts_rectangle part = {.rows = y.outer, .width = width, .src_step = y.n * y.inner, .dst_step = width};
        if (node->in[i]->grad != NULL)
            (node->fresh >> i & 1u ? ts_copy_rows : ts_add_rows)(&part, from, node->in[i]->grad);
        from += width;
    }
}

static const concat_attr first = {0}, middle = {1}, last = {-1}, beyond = {2};
static const ts_op_case cases[] = {
    {.label = "columns", .n_in = 2, .in = {TS_DIMS(3, 2), TS_DIMS(3, 5)}, .attr = &last},
    {.label = "rows", .n_in = 3, .in = {TS_DIMS(1, 4), TS_DIMS(7, 4), TS_DIMS(1, 4)}, .attr = &first},
    {.label = "equal", .n_in = 3, .in = {TS_DIMS(2, 3), TS_DIMS(2, 3), TS_DIMS(2, 3)}, .attr = &last},
    {.label = "middle", .n_in = 2, .in = {TS_DIMS(2, 1, 3), TS_DIMS(2, 4, 3)}, .attr = &middle},
    {.label = "rank 4", .n_in = 2, .in = {TS_DIMS(2, 3, 1, 2), TS_DIMS(2, 2, 1, 2)}, .attr = &middle},
    {.label = "one", .n_in = 1, .in = {TS_DIMS(42)}, .attr = &first},
    {.label = "with an empty one", .n_in = 2, .in = {TS_DIMS(2, 0), TS_DIMS(2, 3)}, .attr = &last},
    {.label = "empty", .n_in = 2, .in = {TS_DIMS(0, 2), TS_DIMS(0, 3)}, .attr = &last},
    {.label = "lengths", .n_in = 2, .in = {TS_DIMS(2, 3), TS_DIMS(3, 3)}, .attr = &last, .kind = TS_CASE_REFUSED},
    {.label = "ranks", .n_in = 2, .in = {TS_DIMS(2, 3), TS_DIMS(3)}, .attr = &last, .kind = TS_CASE_REFUSED},
    {.label = "axis", .n_in = 2, .in = {TS_DIMS(2, 3), TS_DIMS(2, 3)}, .attr = &beyond, .kind = TS_CASE_REFUSED},
    {.label = "scalars", .n_in = 2, .in = {TS_NO_DIMS, TS_NO_DIMS}, .attr = &first, .kind = TS_CASE_REFUSED},
    {.label = NULL}};

const ts_op ts_op_concat = {.name = "concat",
                            .min_in = 1,
                            .max_in = TS_MAX_CONCAT,
                            .assigns_in = ~0u,
                            .attr_size = sizeof(concat_attr),
                            .shape = shape,
                            .forward = forward,
                            .backward = backward,
                            .cases = cases};

ts_tensor *ts_concat(ts_tape *tape, int n, ts_tensor *const x[], int axis) {
    const concat_attr attr = {axis};
    return ts_apply(tape, &ts_op_concat, &attr, n, x);
}
