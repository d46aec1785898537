/* y_ij = sqrt(sum_c (a_ic - b_jc)^2);  da_i += sum_j dy_ij (a_i - b_j) / y_ij,  db_j -= sum_i of the same; a term is 0
 * where y_ij = 0 */
#include "../ops.h"
#include "shared/distance.h"

static void forward(const ts_node *node) {
    ts_distances_forward(node, true);
}

static void backward(const ts_node *node) {
    ts_distances_backward(node, true);
}

static const ts_op_case cases[] = {TS_DISTANCE_CASES, {.label = NULL}};

const ts_op ts_op_distances = {.name = "distances",
                               .min_in = 2,
                               .max_in = 2,
                               .assigns_in = 3,
                               .shape = ts_shape_distances,
                               .forward = forward,
                               .backward = backward,
                               .cases = cases};

ts_tensor *ts_distances(ts_tape *tape, ts_tensor *a, ts_tensor *b) {
    return ts_apply(tape, &ts_op_distances, NULL, 2, (ts_tensor *[]){a, b});
}
