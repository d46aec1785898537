/* y = tanh(x);  dx += (1 - y^2) dy */
#include "../ops.h"
#include "shared/unary.h"

TS_UNARY_FORWARD(forward, r_tanh(x), int)
TS_UNARY_BACKWARD(backward, (1 - y * y) * dy, int)

static const ts_op_case cases[] = {
    {.label = "matrix", .n_in = 1, .in = {TS_DIMS(3, 5)}},       {.label = "scalar", .n_in = 1, .in = {TS_NO_DIMS}},
    {.label = "rank 4", .n_in = 1, .in = {TS_DIMS(2, 1, 3, 7)}}, {.label = "row of 42", .n_in = 1, .in = {TS_DIMS(42)}},
    {.label = "empty", .n_in = 1, .in = {TS_DIMS(3, 0)}},        {.label = NULL}};

TS_UNARY_OP(tanh, 0, ts_shape_same)

ts_tensor *ts_tanh(ts_tape *tape, ts_tensor *x) {
    return ts_apply(tape, &ts_op_tanh, NULL, 1, &x);
}
