/* y = a - b, broadcast;  da += dy,  db -= dy */
#include "../ops.h"
#include "shared/binary.h"

TS_BINARY_FORWARD(forward, a - b)
TS_BINARY_BACKWARD(backward, dy, -dy)

static const ts_op_case cases[] = {TS_BROADCAST_CASES(-2, 2), {.label = NULL}};

TS_BINARY_OP(sub)

ts_tensor *ts_sub(ts_tape *tape, ts_tensor *a, ts_tensor *b) {
    return ts_apply(tape, &ts_op_sub, NULL, 2, (ts_tensor *[]){a, b});
}
