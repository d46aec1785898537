/* y = e^x;  dx += y dy */
#include "../ops.h"
#include "shared/unary.h"

TS_UNARY_FORWARD(forward, r_exp(x), int)
TS_UNARY_BACKWARD(backward, y *dy, int)

static const ts_op_case cases[] = {TS_UNARY_CASES(0, 0, NULL), {.label = NULL}};

TS_UNARY_OP(exp, 0, ts_shape_same)

ts_tensor *ts_exp(ts_tape *tape, ts_tensor *x) {
    return ts_apply(tape, &ts_op_exp, NULL, 1, &x);
}
