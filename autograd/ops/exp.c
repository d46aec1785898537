/* y = e^x;  dx += y dy */
#include "../kernels/unary.h"
#include "../ops.h"

TS_UNARY_FORWARD(forward, r_exp(x), int)
TS_UNARY_BACKWARD(backward, y *dy, int)

static const ts_op_case cases[] = {{.label = "matrix", .n_in = 1, .in = {TS_DIMS(3, 5)}},
                                   {.label = "scalar", .n_in = 1, .in = {TS_NO_DIMS}},
                                   {.label = NULL}};

const ts_op ts_op_exp = {.name = "exp",
                         .min_in = 1,
                         .max_in = 1,
                         .shape = ts_shape_same,
                         .forward = forward,
                         .backward = backward,
                         .cases = cases};

ts_tensor *ts_exp(ts_tape *tape, ts_tensor *x) {
    return ts_apply(tape, &ts_op_exp, NULL, 1, &x);
}
