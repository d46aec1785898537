/* y = (sum of x over an axis of length n) / n, taken in double;  dx += dy / n */
#include "../ops.h"
#include "shared/sum.h"

static void forward(const ts_node *node) {
    const ts_reduction *attr = node->attr;
    const ts_axis axis = ts_axis_of(&node->in[0]->shape, attr->axis);
    ts_sum_forward(&axis, node->in[0]->data, (double)axis.n, node->scratch, node->out->data);
}

static void backward(const ts_node *node) {
    const ts_reduction *attr = node->attr;
    const ts_axis axis = ts_axis_of(&node->in[0]->shape, attr->axis);
    if (node->in[0]->grad != NULL)
        ts_sum_backward(&axis, node->out->grad, (double)axis.n, node->fresh, node->in[0]->grad);
}

static const ts_op_case cases[] = {TS_REDUCTION_CASES(TS_CASE_REFUSED), {.label = NULL}};

const ts_op ts_op_mean = {.name = "mean",
                          .min_in = 1,
                          .max_in = 1,
                          .assigns_in = 1,
                          .attr_size = sizeof(ts_reduction),
                          .shape = ts_shape_reduced_filled,
                          .scratch = ts_reduction_scratch,
                          .forward = forward,
                          .backward = backward,
                          .cases = cases};

ts_tensor *ts_mean(ts_tape *tape, ts_tensor *x, int axis, bool keep) {
    const ts_reduction attr = {.axis = axis, .keep = keep};
    return ts_apply(tape, &ts_op_mean, &attr, 1, &x);
}
