/* distance.h: Euclidean distances between all pairs of rows, which ts_squared_distances and ts_distances share.
 * y_ij is the sum over coordinates, in order and in double, of (a_ic - b_jc)^2, or (root) its square root, rounded
 * once.
 */
#ifndef TS_DISTANCE_H
#define TS_DISTANCE_H

#include "../../op.h"

ts_status ts_shape_distances(const ts_node *node, ts_shape *out);
void ts_distances_forward(const ts_node *node, bool root);
void ts_distances_backward(const ts_node *node, bool root);

/* Cases that both ops are tested on. */
#define TS_DISTANCE_CASES                                                                                \
    {.label = "matrices", .n_in = 2, .in = {TS_DIMS(5, 3), TS_DIMS(4, 3)}},                              \
        {.label = "equal shapes", .n_in = 2, .in = {TS_DIMS(4, 3), TS_DIMS(4, 3)}},                      \
        {.label = "odd sizes", .n_in = 2, .in = {TS_DIMS(42, 7), TS_DIMS(7, 7)}},                        \
        {.label = "one of each", .n_in = 2, .in = {TS_DIMS(1, 1), TS_DIMS(1, 1)}},                       \
        {.label = "wide", .n_in = 2, .in = {TS_DIMS(3, 150), TS_DIMS(2, 150)}},                          \
        {.label = "batches", .n_in = 2, .in = {TS_DIMS(3, 2, 2), TS_DIMS(3, 4, 2)}},                     \
        {.label = "one for all batches", .n_in = 2, .in = {TS_DIMS(3, 4, 2), TS_DIMS(5, 2)}},            \
        {.label = "both stretch", .n_in = 2, .in = {TS_DIMS(2, 1, 3, 2), TS_DIMS(3, 9, 2)}},             \
        {.label = "no rows", .n_in = 2, .in = {TS_DIMS(0, 3), TS_DIMS(4, 3)}},                           \
        {.label = "no batches", .n_in = 2, .in = {TS_DIMS(0, 2, 3), TS_DIMS(4, 3)}},                     \
        {.label = "no coordinates", .n_in = 2, .in = {TS_DIMS(2, 0), TS_DIMS(3, 0)}},                    \
        {.label = "rank 1", .n_in = 2, .in = {TS_DIMS(3), TS_DIMS(4, 3)}, .kind = TS_CASE_REFUSED},      \
        {.label = "widths", .n_in = 2, .in = {TS_DIMS(2, 3), TS_DIMS(4, 2)}, .kind = TS_CASE_REFUSED}, { \
        .label = "axes", .n_in = 2, .in = {TS_DIMS(2, 4, 3), TS_DIMS(3, 4, 3)}, .kind = TS_CASE_REFUSED  \
    }

/* The descriptor, passes and function of one of the two; `root`: y is the root. */
#define TS_DISTANCE_OP(op_name, root)                                            \
    static void forward(const ts_node *node) {                                   \
        ts_distances_forward(node, root);                                        \
    }                                                                            \
    static void backward(const ts_node *node) {                                  \
        ts_distances_backward(node, root);                                       \
    }                                                                            \
    static const ts_op_case cases[] = {TS_DISTANCE_CASES, {.label = NULL}};      \
    const ts_op ts_op_##op_name = {.name = #op_name,                             \
                                   .min_in = 2,                                  \
                                   .max_in = 2,                                  \
                                   .assigns_in = 3,                              \
                                   .shape = ts_shape_distances,                  \
                                   .forward = forward,                           \
                                   .backward = backward,                         \
                                   .cases = cases};                              \
    ts_tensor *ts_##op_name(ts_tape *tape, ts_tensor *a, ts_tensor *b) {         \
        return ts_apply(tape, &ts_op_##op_name, NULL, 2, (ts_tensor *[]){a, b}); \
    }

#endif
