/* y = gain h + bias,  h = (x - mean(x)) / sqrt(var(x) + eps) = (x - mean(x)) / sigma;  with g = gain dy:
 *     dx += (g - mean(g) - h mean(g h)) / sigma          dgain += dy h and dbias += dy, summed over rows
 *
 * If eps = 0, a constant row gives the bias, and x gets no gradient. */
#include "../ops.h"
#include "shared/norm_rows.h"

static void forward(const ts_node *node) {
    ts_norm_forward(node, true);
}

static void backward(const ts_node *node) {
    ts_norm_backward(node, true);
}

#define RANGE(f, n, e)                   \
    &(const ts_norm_range) {             \
        .first = f, .count = n, .eps = e \
    }
#define INPUTS(n, ...) \
    { TS_DIMS(__VA_ARGS__), TS_DIMS(n), TS_DIMS(n) }

static const ts_op_case cases[] = {
    {"whole rows", 3, INPUTS(5, 3, 5), RANGE(0, 5, 1e-5), 0, 0, 0, 0},
    {"first coordinates", 3, INPUTS(3, 3, 5), RANGE(0, 3, 1e-3), 0, 0, 0, 0},
    {"middle coordinates", 3, INPUTS(3, 2, 2, 6), RANGE(2, 3, 0.1), 0, 0, 0, 0},
    {"last coordinates", 3, INPUTS(3, 2, 1, 2, 4), RANGE(1, 3, 1e-2), 0, 0, 0, 0},
    {"one coordinate", 3, INPUTS(1, 3, 4), RANGE(1, 1, 0.5), 0, 0, 0, 0},
    {"a vector, its own gain", 3, INPUTS(4, 4), RANGE(0, 4, 1e-2), 0, 0, 0, 0},
    {"no eps", 3, INPUTS(6, 3, 6), RANGE(0, 6, 0), 0, 0, 0, 0},
    {"many rows", 3, INPUTS(3, 70, 3), RANGE(0, 3, 0.1), 0, 0, 0, 0},
    {"no rows", 3, INPUTS(3, 0, 3), RANGE(0, 3, 1e-5), 0, 0, 0, 0},
    {"past the end", 3, INPUTS(3, 3, 5), RANGE(3, 3, 1e-5), 0, 0, TS_CASE_REFUSED, 0},
    {"before the start", 3, INPUTS(3, 3, 5), RANGE(-1, 3, 1e-5), 0, 0, TS_CASE_REFUSED, 0},
    {"gain's shape", 3, INPUTS(4, 3, 5), RANGE(0, 5, 1e-5), 0, 0, TS_CASE_REFUSED, 0},
    {"bias's shape", 3, {TS_DIMS(3, 5), TS_DIMS(5), TS_DIMS(1)}, RANGE(0, 5, 1e-5), 0, 0, TS_CASE_REFUSED, 0},
    {"negative eps", 3, INPUTS(5, 3, 5), RANGE(0, 5, -1e-5), 0, 0, TS_CASE_REFUSED, 0},
    {.label = NULL}};

const ts_op ts_op_layer_norm = {.name = "layer_norm",
                                .min_in = 3,
                                .max_in = 3,
                                .attr_size = sizeof(ts_norm_range),
                                .shape = ts_norm_shape,
                                .scratch = ts_norm_scratch,
                                .forward = forward,
                                .backward = backward,
                                .cases = cases};

ts_tensor *ts_layer_norm(ts_tape *tape, ts_tensor *x, ts_tensor *gain, ts_tensor *bias, int64_t first, int64_t count,
                         double eps) {
    const ts_norm_range range = {.first = first, .count = count, .eps = eps};
    return ts_apply(tape, &ts_op_layer_norm, &range, 3, (ts_tensor *[]){x, gain, bias});
}
