/* y = 1 / (1 + e^-x), from e = e^-|x|: 1 / (1 + e) if x >= 0, else e / (1 + e);  dx += y (1 - y) dy */
#include "../ops.h"
#include "shared/unary.h"

static inline ts_real r_sigmoid(ts_real x) {
    const ts_real e = r_exp(x < 0 ? x : -x);
    return (x < 0 ? e : 1) / (1 + e);
}

TS_UNARY_FORWARD(forward, r_sigmoid(x), int)
TS_UNARY_BACKWARD(backward, y *(1 - y) * dy, int)

static const ts_op_case cases[] = {{.label = "matrix", .n_in = 1, .in = {TS_DIMS(3, 5)}},
                                   {.label = "scalar", .n_in = 1, .in = {TS_NO_DIMS}},
                                   {.label = "rank 4", .n_in = 1, .in = {TS_DIMS(2, 1, 3, 7)}},
                                   {.label = "row of 42", .n_in = 1, .in = {TS_DIMS(42)}},
                                   {.label = "empty", .n_in = 1, .in = {TS_DIMS(3, 0)}},
                                   {.label = "far", .n_in = 1, .in = {TS_DIMS(7)}, .low = -9, .high = 9},
                                   {.label = NULL}};

TS_UNARY_OP(sigmoid, 0, ts_shape_same)

ts_tensor *ts_sigmoid(ts_tape *tape, ts_tensor *x) {
    return ts_apply(tape, &ts_op_sigmoid, NULL, 1, &x);
}
