/* y = max(x, 0), NaN where x is NaN;  dx += dy where x > 0 */
#include "../ops.h"
#include "shared/unary.h"

TS_UNARY_FORWARD(forward, x <= 0 ? 0 : x, int)
TS_UNARY_BACKWARD(backward, x > 0 ? dy : 0, int)

static const ts_op_case cases[] = {
    {.label = "matrix", .n_in = 1, .in = {TS_DIMS(3, 5)}},       {.label = "scalar", .n_in = 1, .in = {TS_NO_DIMS}},
    {.label = "rank 4", .n_in = 1, .in = {TS_DIMS(2, 1, 3, 7)}}, {.label = "row of 42", .n_in = 1, .in = {TS_DIMS(42)}},
    {.label = "empty", .n_in = 1, .in = {TS_DIMS(3, 0)}},        {.label = NULL}};

TS_UNARY_OP(relu, 0, ts_shape_same)

ts_tensor *ts_relu(ts_tape *tape, ts_tensor *x) {
    return ts_apply(tape, &ts_op_relu, NULL, 1, &x);
}
