/* y_ij = sum_c (a_ic - b_jc)^2;  da_i += sum_j 2 dy_ij (a_i - b_j),  db_j -= sum_i 2 dy_ij (a_i - b_j) */
#include "../ops.h"
#include "shared/distance.h"

static void forward(const ts_node *node) {
    ts_distances_forward(node, false);
}

static void backward(const ts_node *node) {
    ts_distances_backward(node, false);
}

static const ts_op_case cases[] = {TS_DISTANCE_CASES, {.label = NULL}};

const ts_op ts_op_squared_distances = {.name = "squared_distances",
                                       .min_in = 2,
                                       .max_in = 2,
                                       .assigns_in = 3,
                                       .shape = ts_shape_distances,
                                       .forward = forward,
                                       .backward = backward,
                                       .cases = cases};

ts_tensor *ts_squared_distances(ts_tape *tape, ts_tensor *a, ts_tensor *b) {
    return ts_apply(tape, &ts_op_squared_distances, NULL, 2, (ts_tensor *[]){a, b});
}
