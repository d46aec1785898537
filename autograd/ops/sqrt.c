/* y = sqrt(x);  dx += dy / (2 y) */
#include "../ops.h"
#include "shared/unary.h"

TS_UNARY_FORWARD(forward, r_sqrt(x), int)
TS_UNARY_BACKWARD(backward, dy / (2 * y), int)

static const ts_op_case cases[] = {TS_UNARY_CASES(0.5, 2, NULL),
                                   {.label = "row of 42", .n_in = 1, .in = {TS_DIMS(42)}, .low = 0.5, .high = 2},
                                   {.label = NULL}};

TS_UNARY_OP(sqrt, 0, ts_shape_same)

ts_tensor *ts_sqrt(ts_tape *tape, ts_tensor *x) {
    return ts_apply(tape, &ts_op_sqrt, NULL, 1, &x);
}
