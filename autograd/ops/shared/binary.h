/* binary.h: the passes of elementwise ops y = f(a, b) with broadcasting.
 *
 * TS_BINARY_FORWARD(name, f) defines a forward pass from f, an expression in a and b.
 * TS_BINARY_BACKWARD(name, ga, gb) defines a backward pass that adds TS_IF_NONZERO(dy, ga) and TS_IF_NONZERO(dy, gb) to
 * the gradients of a and b; ga and gb are expressions in a, b and dy. The gradient of an operand that was stretched is
 * summed over the stretched axes, so it always has the operand's own shape. */
#ifndef TS_BINARY_H
#define TS_BINARY_H

#include "../../kernels/real_math.h"
#include "../../parallel.h"
#include "broadcast.h"

/* The output is walked in rows along which each operand either advances by 1 or stands still. Rows are cut into runs of
 * at most TS_RUN elements, so that threads can divide even a single row. */
enum { TS_RUN = 8192 };
typedef struct ts_runs {
    int64_t rows, length, runs_per_row;
    int64_t dim[TS_MAX_RANK]; /* of the output, with adjacent axes merged if both operands allow; the last is a row */
    int64_t step[2][TS_MAX_RANK]; /* of the operands along these axes */
} ts_runs;

ts_runs ts_runs_of(const ts_node *node);

/* Where row `row` starts in operand i. */
int64_t ts_row_start(const ts_runs *runs, int i, int64_t row);

/* Room for one gradient of the output's size if an operand was stretched, else 0. */
size_t ts_binary_scratch(const ts_node *node);

typedef struct ts_binary_call {
    ts_runs runs;
    const ts_real *a, *b, *dy;
    ts_real *out; /* y, or a gradient */
} ts_binary_call;

/* Calls `run`, a function that TS_BINARY_RUN defines, for every run of a node. */
void ts_binary_each(const ts_node *node, ts_real *out, ts_item_fn *run);

/* Computes the gradient of input i, with `assign` if it is fresh, else with `add`. If the operand was stretched, its
 * gradient is made in scratch at the output's size and then summed. */
void ts_binary_gradient(const ts_node *node, int i, ts_item_fn *assign, ts_item_fn *add);

/* Defines a function that executes `body` for every element of a run: i is its index in the output, a and b are the
 * values of the operands. */
#define TS_BINARY_LOOP(value_a, value_b, body)                \
    _Pragma("omp simd") for (int64_t c = from; c < to; c++) { \
        const ts_real a = value_a, b = value_b;               \
        const int64_t i = first + c;                          \
        (void)a, (void)b;                                     \
        body;                                                 \
    }
#define TS_BINARY_RUN(name, body)                                                                             \
    static void name(const void *context, int64_t run) {                                                      \
        const ts_binary_call *call = context;                                                                 \
        const ts_runs *runs = &call->runs;                                                                    \
        const int64_t row = run / runs->runs_per_row, from = run % runs->runs_per_row * TS_RUN;               \
        const int64_t to = runs->length - from < TS_RUN ? runs->length : from + TS_RUN;                       \
        const int64_t step_a = runs->step[0][TS_MAX_RANK - 1], step_b = runs->step[1][TS_MAX_RANK - 1];       \
        const int64_t first = row * runs->length;                                                             \
        const ts_real *pa = call->a + ts_row_start(runs, 0, row), *pb = call->b + ts_row_start(runs, 1, row); \
        const ts_real *dout = call->dy;                                                                       \
        ts_real *out = call->out;                                                                             \
        (void)dout;                                                                                           \
        if (step_a == 1 && step_b == 1)                                                                       \
            TS_BINARY_LOOP(pa[c], pb[c], body)                                                                \
        else if (step_a == 1 && step_b == 0)                                                                  \
            TS_BINARY_LOOP(pa[c], *pb, body)                                                                  \
        else                                                                                                  \
            TS_BINARY_LOOP(pa[c * step_a], pb[c * step_b], body)                                              \
    }

#define TS_BINARY_FORWARD(name, f)                         \
    TS_BINARY_RUN(name##_run, out[i] = (ts_real)(f))       \
    static void name(const ts_node *node) {                \
        ts_binary_each(node, node->out->data, name##_run); \
    }

#define TS_BINARY_GRADIENT(name, g)                                                                    \
    TS_BINARY_RUN(name##_assign, const ts_real dy = dout[i]; out[i] = TS_IF_NONZERO(dy, (ts_real)(g))) \
    TS_BINARY_RUN(name##_add, const ts_real dy = dout[i]; out[i] += TS_IF_NONZERO(dy, (ts_real)(g)))

#define TS_BINARY_BACKWARD(name, ga, gb)                            \
    TS_BINARY_GRADIENT(name##_a, ga)                                \
    TS_BINARY_GRADIENT(name##_b, gb)                                \
    static void name(const ts_node *node) {                         \
        ts_binary_gradient(node, 0, name##_a_assign, name##_a_add); \
        ts_binary_gradient(node, 1, name##_b_assign, name##_b_add); \
    }

/* The descriptor of a broadcasting op whose file defines forward, backward and cases. */
#define TS_BINARY_OP(op_name)                                    \
    const ts_op ts_op_##op_name = {.name = #op_name,             \
                                   .min_in = 2,                  \
                                   .max_in = 2,                  \
                                   .assigns_in = 3,              \
                                   .shape = ts_shape_broadcast,  \
                                   .scratch = ts_binary_scratch, \
                                   .forward = forward,           \
                                   .backward = backward,         \
                                   .cases = cases};

/* Cases that every broadcasting op is tested on. */
#define TS_BROADCAST_CASES(low, high)                                                       \
    {"same", 2, {TS_DIMS(3, 4), TS_DIMS(3, 4)}, NULL, low, high, 0, 0},                     \
        {"scalars", 2, {TS_NO_DIMS, TS_NO_DIMS}, NULL, low, high, 0, 0},                    \
        {"row", 2, {TS_DIMS(3, 4), TS_DIMS(1, 4)}, NULL, low, high, 0, 0},                  \
        {"lower rank", 2, {TS_DIMS(4), TS_DIMS(2, 3, 4)}, NULL, low, high, 0, 0},           \
        {"both stretch", 2, {TS_DIMS(2, 1, 3), TS_DIMS(4, 1)}, NULL, low, high, 0, 0},      \
        {"scalar and tensor", 2, {TS_NO_DIMS, TS_DIMS(2, 2, 2, 3)}, NULL, low, high, 0, 0}, \
        {"rank 4", 2, {TS_DIMS(2, 1, 3, 1), TS_DIMS(1, 4, 1, 5)}, NULL, low, high, 0, 0},   \
        {"wide", 2, {TS_DIMS(3, 150), TS_DIMS(150)}, NULL, low, high, 0, 0},                \
        {"empty", 2, {TS_DIMS(1, 3), TS_DIMS(0, 3)}, NULL, low, high, 0, 0}, {              \
        "mismatch", 2, {TS_DIMS(2, 3), TS_DIMS(2, 4)}, NULL, low, high, TS_CASE_REFUSED, 0  \
    }

#endif
