/* y = a + b, broadcast;  da += dy,  db += dy */
#include "../kernels/binary.h"
#include "../ops.h"

TS_BINARY_FORWARD(forward, a + b)
TS_BINARY_BACKWARD(backward, dy, dy)

static const ts_op_case cases[] = {TS_BROADCAST_CASES(-2, 2), {.label = NULL}};

const ts_op ts_op_add = {.name = "add",
                         .min_in = 2,
                         .max_in = 2,
                         .shape = ts_shape_broadcast,
                         .scratch = ts_binary_scratch,
                         .forward = forward,
                         .backward = backward,
                         .cases = cases};

ts_tensor *ts_add(ts_tape *tape, ts_tensor *a, ts_tensor *b) {
    return ts_apply(tape, &ts_op_add, NULL, 2, (ts_tensor *[]){a, b});
}
