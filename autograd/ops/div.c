/* y = a / b, broadcast;  da += dy / b,  db -= (a / b) (dy / b) */
#include "../ops.h"
#include "shared/binary.h"

TS_BINARY_FORWARD(forward, a / b)
TS_BINARY_BACKWARD(backward, dy / b, -(a / b) * (dy / b))

static const ts_op_case cases[] = {TS_BROADCAST_CASES(0.5, 2), {.label = NULL}};

TS_BINARY_OP(div)

ts_tensor *ts_div(ts_tape *tape, ts_tensor *a, ts_tensor *b) {
    return ts_apply(tape, &ts_op_div, NULL, 2, (ts_tensor *[]){a, b});
}
