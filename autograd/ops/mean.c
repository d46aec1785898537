/* y = (sum of x over an axis) / n, taken in double;  dx += dy / n */
#include "../kernels/sum.h"
#include "../ops.h"

static void forward(const ts_node *node) {
    const ts_reduction *attr = node->attr;
    const ts_axis axis = ts_axis_of(&node->in[0]->shape, attr->axis);
    ts_sum_forward(&axis, node->in[0]->data, (double)axis.n, node->scratch, node->out->data);
}

static void backward(const ts_node *node) {
    const ts_reduction *attr = node->attr;
    const ts_axis axis = ts_axis_of(&node->in[0]->shape, attr->axis);
    if (node->in[0]->grad != NULL) ts_sum_backward(&axis, node->out->grad, (double)axis.n, node->in[0]->grad);
}

static const ts_op_case cases[] = {
    {.label = "last axis", .n_in = 1, .in = {TS_DIMS(3, 5)}, .attr = &(const ts_reduction){-1, false}},
    {.label = "first axis, kept", .n_in = 1, .in = {TS_DIMS(7, 4)}, .attr = &(const ts_reduction){0, true}},
    {.label = "middle axis", .n_in = 1, .in = {TS_DIMS(2, 7, 3)}, .attr = &(const ts_reduction){1, false}},
    {.label = "rank 4", .n_in = 1, .in = {TS_DIMS(2, 3, 2, 3)}, .attr = &(const ts_reduction){-3, true}},
    {.label = "all", .n_in = 1, .in = {TS_DIMS(42, 3)}, .attr = &(const ts_reduction){TS_ALL_AXES, false}},
    {.label = "all, kept", .n_in = 1, .in = {TS_DIMS(2, 3)}, .attr = &(const ts_reduction){TS_ALL_AXES, true}},
    {.label = "scalar", .n_in = 1, .in = {TS_NO_DIMS}, .attr = &(const ts_reduction){TS_ALL_AXES, false}},
    {.label = "one element", .n_in = 1, .in = {TS_DIMS(1)}, .attr = &(const ts_reduction){0, false}},
    {.label = "wide", .n_in = 1, .in = {TS_DIMS(2, 150)}, .attr = &(const ts_reduction){0, false}},
    {.label = "no rows", .n_in = 1, .in = {TS_DIMS(0, 3)}, .attr = &(const ts_reduction){1, false}},
    {.label = "empty axis",
     .n_in = 1,
     .in = {TS_DIMS(3, 0)},
     .attr = &(const ts_reduction){1, false},
     .kind = TS_CASE_REFUSED},
    {.label = "empty, all",
     .n_in = 1,
     .in = {TS_DIMS(0)},
     .attr = &(const ts_reduction){TS_ALL_AXES, false},
     .kind = TS_CASE_REFUSED},
    {.label = "axis",
     .n_in = 1,
     .in = {TS_DIMS(3, 5)},
     .attr = &(const ts_reduction){2, false},
     .kind = TS_CASE_REFUSED},
    {.label = NULL}};

const ts_op ts_op_mean = {.name = "mean",
                          .min_in = 1,
                          .max_in = 1,
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
