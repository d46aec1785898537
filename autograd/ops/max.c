/* y = the largest x along an axis, NaN if any is NaN;  dx += dy / (number of x = y) where x = y */
#include "../ops.h"
#include "shared/extreme.h"
#include "shared/sum.h"

static const ts_op_case cases[] = {TS_REDUCTION_CASES(TS_CASE_REFUSED), {.label = NULL}};

const ts_op ts_op_max = {.name = "max",
                         .min_in = 1,
                         .max_in = 1,
                         .attr_size = sizeof(ts_reduction),
                         .shape = ts_shape_reduced_filled,
                         .scratch = ts_reduction_scratch,
                         .forward = ts_largest_forward,
                         .backward = ts_extreme_backward,
                         .cases = cases};

ts_tensor *ts_max(ts_tape *tape, ts_tensor *x, int axis, bool keep) {
    const ts_reduction attr = {.axis = axis, .keep = keep};
    return ts_apply(tape, &ts_op_max, &attr, 1, &x);
}
