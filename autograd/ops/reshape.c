/* y = the elements of x, in order, in another shape of the same size;  dx += dy */
#include "../kernels/rows.h"
#include "../ops.h"

/* Whether the shape holds exactly `size` elements, without overflow for any shape. */
static bool holds(const ts_shape *shape, int64_t size) {
    int64_t product = 1;
    bool empty = false;
    if (shape->rank < 0 || shape->rank > TS_MAX_RANK) return false;
    for (int a = 0; a < shape->rank; a++) {
        if (shape->dim[a] < 0) return false;
        empty = empty || shape->dim[a] == 0;
    }
    if (empty) return size == 0;
    for (int a = 0; a < shape->rank; a++) {
        if (product > size / shape->dim[a]) return false;
        product *= shape->dim[a];
    }
    return product == size;
}

static ts_status shape(const ts_node *node, ts_shape *out) {
    char text[TS_SHAPE_TEXT];
    const int64_t size = ts_shape_size(&node->in[0]->shape);
    *out = *(const ts_shape *)node->attr;
    if (holds(out, size)) return TS_OK;
    return ts_refuse(node, TS_ERROR_SHAPE, "%s does not hold %lld elements", ts_shape_text(out, text), (long long)size);
}

static void forward(const ts_node *node) {
    const ts_rectangle all = {.rows = 1, .width = ts_shape_size(&node->out->shape)};
    ts_copy_rows(&all, node->in[0]->data, node->out->data);
}

static void backward(const ts_node *node) {
    const ts_rectangle all = {.rows = 1, .width = ts_shape_size(&node->out->shape)};
    if (node->in[0]->grad == NULL) return;
    (node->fresh ? ts_copy_rows : ts_add_rows)(&all, node->out->grad, node->in[0]->grad);
}

static const ts_shape six_by_seven = TS_DIMS(6, 7), cube = TS_DIMS(1, 2, 3, 7), scalar = TS_NO_DIMS,
                      none = TS_DIMS(0, 4);
static const ts_shape negative = TS_DIMS(-6, -7), huge = TS_DIMS(INT64_MAX, 2, INT64_MAX, 2), deep = {.rank = 5};
static const ts_op_case cases[] = {
    {.label = "row to matrix", .n_in = 1, .in = {TS_DIMS(42)}, .attr = &six_by_seven},
    {.label = "to rank 4", .n_in = 1, .in = {TS_DIMS(7, 6)}, .attr = &cube},
    {.label = "to scalar", .n_in = 1, .in = {TS_DIMS(1, 1)}, .attr = &scalar},
    {.label = "scalar", .n_in = 1, .in = {TS_NO_DIMS}, .attr = &scalar},
    {.label = "empty", .n_in = 1, .in = {TS_DIMS(3, 0)}, .attr = &none},
    {.label = "size", .n_in = 1, .in = {TS_DIMS(2, 3)}, .attr = &six_by_seven, .kind = TS_CASE_REFUSED},
    {.label = "negative", .n_in = 1, .in = {TS_DIMS(42)}, .attr = &negative, .kind = TS_CASE_REFUSED},
    {.label = "huge", .n_in = 1, .in = {TS_DIMS(4)}, .attr = &huge, .kind = TS_CASE_REFUSED},
    {.label = "rank 5", .n_in = 1, .in = {TS_DIMS(1)}, .attr = &deep, .kind = TS_CASE_REFUSED},
    {.label = NULL}};

const ts_op ts_op_reshape = {.name = "reshape",
                             .min_in = 1,
                             .max_in = 1,
                             .assigns_in = 1,
                             .attr_size = sizeof(ts_shape),
                             .shape = shape,
                             .forward = forward,
                             .backward = backward,
                             .cases = cases};

ts_tensor *ts_reshape(ts_tape *tape, ts_tensor *x, ts_shape wanted) {
    return ts_apply(tape, &ts_op_reshape, &wanted, 1, &x);
}
