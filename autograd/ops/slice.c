/* y = elements first .. first+count-1 of x along an axis;  dx += dy at these elements */
#include "../kernels/rows.h"
#include "../ops.h"
#include "shared/axis.h"

typedef struct slice_attr {
    int axis;
    int64_t first, count;
} slice_attr;

static ts_status shape(const ts_node *node, ts_shape *out) {
    const slice_attr *attr = node->attr;
    int axis;
    *out = node->in[0]->shape;
    const ts_status status = ts_axis_number(node, out, attr->axis, &axis);
    if (status != TS_OK) return status;
    if (attr->first < 0 || attr->count < 0 || attr->first > out->dim[axis] ||
        attr->count > out->dim[axis] - attr->first)
        return ts_refuse(node, TS_ERROR_VALUE, "%lld from %lld on of axis %d, which has length %lld",
                         (long long)attr->count, (long long)attr->first, axis, (long long)out->dim[axis]);
    out->dim[axis] = attr->count;
    return TS_OK;
}

static void forward(const ts_node *node) {
    const slice_attr *attr = node->attr;
    const ts_axis x = ts_axis_of(&node->in[0]->shape, attr->axis);
    const int64_t width = attr->count * x.inner;
    const ts_rectangle part = {.rows = x.outer, .width = width, .src_step = x.n * x.inner, .dst_step = width};
    ts_copy_rows(&part, node->in[0]->data + attr->first * x.inner, node->out->data);
}

static void backward(const ts_node *node) {
    const slice_attr *attr = node->attr;
    const ts_axis x = ts_axis_of(&node->in[0]->shape, attr->axis);
    const int64_t width = attr->count * x.inner;
    const ts_rectangle part = {.rows = x.outer, .width = width, .src_step = width, .dst_step = x.n * x.inner};
    if (node->in[0]->grad != NULL) ts_add_rows(&part, node->out->grad, node->in[0]->grad + attr->first * x.inner);
}

static const slice_attr middle = {1, 2, 3}, from_end = {-1, 1, 2}, rows = {0, 0, 2}, nothing = {0, 2, 0},
                        all = {0, 0, 42};
static const slice_attr too_far = {1, 5, 3}, negative = {0, -1, 2}, minus_one = {0, 1, -1}, beyond = {2, 0, 1};
static const ts_op_case cases[] = {
    {.label = "columns", .n_in = 1, .in = {TS_DIMS(3, 7)}, .attr = &middle},
    {.label = "rows", .n_in = 1, .in = {TS_DIMS(3, 5)}, .attr = &rows},
    {.label = "middle axis", .n_in = 1, .in = {TS_DIMS(2, 6, 3)}, .attr = &middle},
    {.label = "rank 4", .n_in = 1, .in = {TS_DIMS(2, 2, 2, 3)}, .attr = &from_end},
    {.label = "all", .n_in = 1, .in = {TS_DIMS(42)}, .attr = &all},
    {.label = "nothing", .n_in = 1, .in = {TS_DIMS(2, 3)}, .attr = &nothing},
    {.label = "empty", .n_in = 1, .in = {TS_DIMS(0, 6)}, .attr = &middle},
    {.label = "too far", .n_in = 1, .in = {TS_DIMS(3, 7)}, .attr = &too_far, .kind = TS_CASE_REFUSED},
    {.label = "negative", .n_in = 1, .in = {TS_DIMS(3, 7)}, .attr = &negative, .kind = TS_CASE_REFUSED},
    {.label = "count", .n_in = 1, .in = {TS_DIMS(3, 7)}, .attr = &minus_one, .kind = TS_CASE_REFUSED},
    {.label = "axis", .n_in = 1, .in = {TS_DIMS(3, 7)}, .attr = &beyond, .kind = TS_CASE_REFUSED},
    {.label = NULL}};

const ts_op ts_op_slice = {.name = "slice",
                           .min_in = 1,
                           .max_in = 1,
                           .attr_size = sizeof(slice_attr),
                           .shape = shape,
                           .forward = forward,
                           .backward = backward,
                           .cases = cases};

ts_tensor *ts_slice(ts_tape *tape, ts_tensor *x, int axis, int64_t first, int64_t count) {
    const slice_attr attr = {axis, first, count};
    return ts_apply(tape, &ts_op_slice, &attr, 1, &x);
}
