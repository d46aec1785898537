/* unary.h: the passes of elementwise ops y = f(x).
 *
 * TS_UNARY_FORWARD(name, f, attr_type) defines a forward pass from f, an expression in x and *attr.
 * TS_UNARY_BACKWARD(name, g, attr_type) defines a backward pass that adds TS_IF_NONZERO(dy, g) to the gradient of x; g
 * is an expression in x, y, dy and *attr. attr_type is the type of *attr, int if the op has no attributes. */
#ifndef TS_UNARY_H
#define TS_UNARY_H

#include "../../kernels/real_math.h"
#include "../../op.h"
#include "../../parallel.h"

static inline ts_status ts_shape_same(const ts_node *node, ts_shape *out) {
    *out = node->in[0]->shape;
    return TS_OK;
}

/* Threads divide runs of at most TS_UNARY_RUN elements. */
enum { TS_UNARY_RUN = 8192 };

static inline void ts_unary_each(const ts_node *node, ts_item_fn *run) {
    const int64_t size = ts_shape_size(&node->out->shape);
    ts_for_each((size + TS_UNARY_RUN - 1) / TS_UNARY_RUN, size, run, node);
}

#define TS_UNARY_RUN_OF(name, attr_type, ...)                                             \
    static void name(const void *context, int64_t run) {                                  \
        const ts_node *node = context;                                                    \
        const int64_t size = ts_shape_size(&node->out->shape), from = run * TS_UNARY_RUN; \
        const int64_t to = size - from < TS_UNARY_RUN ? size : from + TS_UNARY_RUN;       \
        const ts_real *in = node->in[0]->data;                                            \
        ts_real *out = node->out->data;                                                   \
        const attr_type *attr = node->attr;                                               \
        (void)attr;                                                                       \
        __VA_ARGS__                                                                       \
    }

/* clang-format off */
#define TS_UNARY_FORWARD(name, f, attr_type)                        \
    TS_UNARY_RUN_OF(                                                \
        name##_run, attr_type,                                      \
        _Pragma("omp simd") for (int64_t i = from; i < to; i++) {   \
            const ts_real x = in[i];                                \
            out[i] = (ts_real)(f);                                  \
        })                                                          \
    static void name(const ts_node *node) {                         \
        ts_unary_each(node, name##_run);                            \
    }

#define TS_UNARY_BACKWARD(name, g, attr_type)                           \
    TS_UNARY_RUN_OF(                                                    \
        name##_run, attr_type,                                          \
        const ts_real *dout = node->out->grad;                          \
        ts_real *din = node->in[0]->grad;                               \
        const bool fresh = node->fresh != 0;                            \
        _Pragma("omp simd") for (int64_t i = from; i < to; i++) {       \
            const ts_real x = in[i], y = out[i], dy = dout[i];          \
            (void)x, (void)y;                                           \
            const ts_real term = (ts_real)(g); /* avoids a branch */    \
            din[i] = (fresh ? 0 : din[i]) + TS_IF_NONZERO(dy, term);         \
        })                                                              \
    static void name(const ts_node *node) {                             \
        if (node->in[0]->grad != NULL) ts_unary_each(node, name##_run); \
    }
/* clang-format on */

/* The descriptor of an elementwise op whose file defines forward, backward and cases. */
#define TS_UNARY_OP(op_name, attr_bytes, shape_rule)        \
    const ts_op ts_op_##op_name = {.name = #op_name,        \
                                   .min_in = 1,             \
                                   .max_in = 1,             \
                                   .assigns_in = 1,         \
                                   .attr_size = attr_bytes, \
                                   .shape = shape_rule,     \
                                   .forward = forward,      \
                                   .backward = backward,    \
                                   .cases = cases};

#define TS_UNARY_CASES(low_, high_, attr_)                                                                        \
    {.label = "matrix", .n_in = 1, .in = {TS_DIMS(3, 5)}, .attr = attr_, .low = low_, .high = high_},             \
        {.label = "scalar", .n_in = 1, .in = {TS_NO_DIMS}, .attr = attr_, .low = low_, .high = high_},            \
        {.label = "rank 4", .n_in = 1, .in = {TS_DIMS(2, 1, 3, 2)}, .attr = attr_, .low = low_, .high = high_}, { \
        .label = "empty", .n_in = 1, .in = {TS_DIMS(0, 3)}, .attr = attr_, .low = low_, .high = high_             \
    }

#endif
