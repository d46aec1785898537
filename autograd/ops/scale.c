/* y = factor x, multiplied in double;  dx += factor dy */
#include "../ops.h"
#include "shared/unary.h"

typedef struct scale_attr {
    double factor;
} scale_attr;

TS_UNARY_FORWARD(forward, attr->factor *(double)x, scale_attr)
TS_UNARY_BACKWARD(backward, attr->factor *(double)dy, scale_attr)

static const scale_attr minus_half = {-0.5}, zero = {0};

static const ts_op_case cases[] = {{.label = "matrix", .n_in = 1, .in = {TS_DIMS(3, 5)}, .attr = &minus_half},
                                   {.label = "scalar", .n_in = 1, .in = {TS_NO_DIMS}, .attr = &minus_half},
                                   {.label = "rank 4", .n_in = 1, .in = {TS_DIMS(2, 1, 3, 7)}, .attr = &minus_half},
                                   {.label = "row of 42", .n_in = 1, .in = {TS_DIMS(42)}, .attr = &minus_half},
                                   {.label = "empty", .n_in = 1, .in = {TS_DIMS(3, 0)}, .attr = &minus_half},
                                   {.label = "by zero", .n_in = 1, .in = {TS_DIMS(7)}, .attr = &zero},
                                   {.label = NULL}};

const ts_op ts_op_scale = {.name = "scale",
                           .min_in = 1,
                           .max_in = 1,
                           .attr_size = sizeof(scale_attr),
                           .shape = ts_shape_same,
                           .forward = forward,
                           .backward = backward,
                           .cases = cases};

ts_tensor *ts_scale(ts_tape *tape, ts_tensor *x, double factor) {
    const scale_attr attr = {factor};
    return ts_apply(tape, &ts_op_scale, &attr, 1, &x);
}
