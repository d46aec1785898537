/* y = x^3;  dx += 3 x^2 dy */
#include "cube_op.h"

static ts_status shape(const ts_node *node, ts_shape *out) {
    *out = node->in[0]->shape;
    return TS_OK;
}

static void forward(const ts_node *node) {
    const ts_real *x = node->in[0]->data;
    for (int64_t i = 0; i < ts_shape_size(&node->out->shape); i++) node->out->data[i] = x[i] * x[i] * x[i];
}

static void backward(const ts_node *node) {
    const ts_real *x = node->in[0]->data, *dy = node->out->grad;
    ts_real *dx = ts_grad_of(node, 0);
    if (dx == NULL) return;
    for (int64_t i = 0; i < ts_shape_size(&node->out->shape); i++)
        dx[i] += TS_IF_NONZERO(dy[i], 3 * x[i] * x[i] * dy[i]);
}

static const ts_op_case cases[] = {{.label = "matrix", .n_in = 1, .in = {TS_DIMS(3, 4)}},
                                   {.label = "scalar", .n_in = 1, .in = {TS_NO_DIMS}},
                                   {.label = NULL}};

const ts_op cube_op = {
    .name = "cube", .min_in = 1, .max_in = 1, .shape = shape, .forward = forward, .backward = backward, .cases = cases};

ts_tensor *cube(ts_tape *tape, ts_tensor *x) {
    return ts_apply(tape, &cube_op, NULL, 1, &x);
}
