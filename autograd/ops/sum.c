/* y = sum of x over an axis, taken in double;  dx += dy, repeated along the axis */
#include "shared/sum.h"
#include "../ops.h"

static void forward(const ts_node *node) {
    const ts_reduction *attr = node->attr;
    const ts_axis axis = ts_axis_of(&node->in[0]->shape, attr->axis);
    ts_sum_forward(&axis, node->in[0]->data, 1, node->scratch, node->out->data);
}

static void backward(const ts_node *node) {
    const ts_reduction *attr = node->attr;
    const ts_axis axis = ts_axis_of(&node->in[0]->shape, attr->axis);
    if (node->in[0]->grad != NULL) ts_sum_backward(&axis, node->out->grad, 1, node->fresh, node->in[0]->grad);
}

static const ts_op_case cases[] = {TS_REDUCTION_CASES(TS_CASE_SMOOTH), {.label = NULL}};

const ts_op ts_op_sum = {.name = "sum",
                         .min_in = 1,
                         .max_in = 1,
                         .assigns_in = 1,
                         .attr_size = sizeof(ts_reduction),
                         .shape = ts_shape_reduced,
                         .scratch = ts_reduction_scratch,
                         .forward = forward,
                         .backward = backward,
                         .cases = cases};

ts_tensor *ts_sum(ts_tape *tape, ts_tensor *x, int axis, bool keep) {
    const ts_reduction attr = {.axis = axis, .keep = keep};
    return ts_apply(tape, &ts_op_sum, &attr, 1, &x);
}
