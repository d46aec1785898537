/* y = gain h,  h = x / sqrt(mean(x^2) + eps) = x / sigma;  with g = gain dy:
 *     dx += (g - h mean(g h)) / sigma          dgain += dy h, summed over rows */
#include "../ops.h"
#include "shared/norm_rows.h"

static void forward(const ts_node *node) {
    ts_norm_forward(node, false);
}

static void backward(const ts_node *node) {
    ts_norm_backward(node, false);
}

#define RANGE(f, n, e)                   \
    &(const ts_norm_range) {             \
        .first = f, .count = n, .eps = e \
    }

static const ts_op_case cases[] = {
    {"whole rows", 2, {TS_DIMS(3, 5), TS_DIMS(5)}, RANGE(0, 5, 1e-5), 0, 0, 0, 0},
    {"first coordinates", 2, {TS_DIMS(3, 5), TS_DIMS(3)}, RANGE(0, 3, 1e-5), 0, 0, 0, 0},
    {"middle coordinates", 2, {TS_DIMS(2, 2, 6), TS_DIMS(3)}, RANGE(2, 3, 0.1), 0, 0, 0, 0},
    {"last coordinates", 2, {TS_DIMS(2, 1, 2, 4), TS_DIMS(2)}, RANGE(2, 2, 1e-3), 0, 0, 0, 0},
    {"one coordinate", 2, {TS_DIMS(3, 4), TS_DIMS(1)}, RANGE(1, 1, 0.5), 0, 0, 0, 0},
    {"a vector, its own gain", 2, {TS_DIMS(4), TS_DIMS(4)}, RANGE(0, 4, 1e-5), 0, 0, 0, 0},
    {"no eps", 2, {TS_DIMS(3, 5), TS_DIMS(5)}, RANGE(0, 5, 0), 0.5, 2, 0, 0},
    {"many rows", 2, {TS_DIMS(70, 3), TS_DIMS(3)}, RANGE(0, 3, 1e-2), 0, 0, 0, 0},
    {"no rows", 2, {TS_DIMS(0, 3), TS_DIMS(3)}, RANGE(0, 3, 1e-5), 0, 0, 0, 0},
    {"past the end", 2, {TS_DIMS(3, 5), TS_DIMS(3)}, RANGE(3, 3, 1e-5), 0, 0, TS_CASE_REFUSED, 0},
    {"before the start", 2, {TS_DIMS(3, 5), TS_DIMS(3)}, RANGE(-1, 3, 1e-5), 0, 0, TS_CASE_REFUSED, 0},
    {"no coordinates", 2, {TS_DIMS(3, 5), TS_DIMS(0)}, RANGE(0, 0, 1e-5), 0, 0, TS_CASE_REFUSED, 0},
    {"gain's shape", 2, {TS_DIMS(3, 5), TS_DIMS(4)}, RANGE(0, 5, 1e-5), 0, 0, TS_CASE_REFUSED, 0},
    {"negative eps", 2, {TS_DIMS(3, 5), TS_DIMS(5)}, RANGE(0, 5, -1e-5), 0, 0, TS_CASE_REFUSED, 0},
    {"scalar", 2, {TS_NO_DIMS, TS_DIMS(1)}, RANGE(0, 1, 1e-5), 0, 0, TS_CASE_REFUSED, 0},
    {.label = NULL}};

const ts_op ts_op_rms_norm = {.name = "rms_norm",
                              .min_in = 2,
                              .max_in = 2,
                              .attr_size = sizeof(ts_norm_range),
                              .shape = ts_norm_shape,
                              .scratch = ts_norm_scratch,
                              .forward = forward,
                              .backward = backward,
                              .cases = cases};

ts_tensor *ts_rms_norm(ts_tape *tape, ts_tensor *x, ts_tensor *gain, int64_t first, int64_t count, double eps) {
    const ts_norm_range range = {.first = first, .count = count, .eps = eps};
    return ts_apply(tape, &ts_op_rms_norm, &range, 2, (ts_tensor *[]){x, gain});
}
