/* y = min(max(x, low), high), NaN where x is NaN;  dx += dy where low <= x <= high */
#include "../ops.h"
#include "shared/unary.h"

typedef struct clamp_attr {
    double low, high;
} clamp_attr;

static inline ts_real clamped(ts_real x, const clamp_attr *attr) {
    const ts_real low = (ts_real)attr->low, high = (ts_real)attr->high;
    return x < low ? low : x > high ? high : x;
}

static inline bool is_inside(ts_real x, const clamp_attr *attr) {
    return x >= (ts_real)attr->low && x <= (ts_real)attr->high;
}

TS_UNARY_FORWARD(forward, clamped(x, attr), clamp_attr)
TS_UNARY_BACKWARD(backward, is_inside(x, attr) ? dy : 0, clamp_attr)

static ts_status shape(const ts_node *node, ts_shape *out) {
    const clamp_attr *attr = node->attr;
    *out = node->in[0]->shape;
    if (attr->low <= attr->high) return TS_OK;
    return ts_refuse(node, TS_ERROR_VALUE, "the lower bound %g is not at most the upper bound %g", attr->low,
                     attr->high);
}

static const clamp_attr unit = {-1, 1}, below_one = {-INFINITY, 1}, crossed = {1, -1}, undefined = {0, NAN};

static const ts_op_case cases[] = {
    {.label = "matrix", .n_in = 1, .in = {TS_DIMS(3, 5)}, .attr = &unit},
    {.label = "scalar", .n_in = 1, .in = {TS_NO_DIMS}, .attr = &unit},
    {.label = "rank 4", .n_in = 1, .in = {TS_DIMS(2, 1, 3, 7)}, .attr = &unit},
    {.label = "row of 42", .n_in = 1, .in = {TS_DIMS(42)}, .attr = &unit},
    {.label = "empty", .n_in = 1, .in = {TS_DIMS(3, 0)}, .attr = &unit},
    {.label = "one side", .n_in = 1, .in = {TS_DIMS(7, 6)}, .attr = &below_one},
    {.label = "bounds crossed", .n_in = 1, .in = {TS_DIMS(2)}, .attr = &crossed, .kind = TS_CASE_REFUSED},
    {.label = "bound NaN", .n_in = 1, .in = {TS_DIMS(2)}, .attr = &undefined, .kind = TS_CASE_REFUSED},
    {.label = NULL}};

const ts_op ts_op_clamp = {.name = "clamp",
                           .min_in = 1,
                           .max_in = 1,
                           .attr_size = sizeof(clamp_attr),
                           .shape = shape,
                           .forward = forward,
                           .backward = backward,
                           .cases = cases};

ts_tensor *ts_clamp(ts_tape *tape, ts_tensor *x, double low, double high) {
    const clamp_attr attr = {low, high};
    return ts_apply(tape, &ts_op_clamp, &attr, 1, &x);
}
