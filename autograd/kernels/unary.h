/* unary.h: y_i = f(x_i), as two functions of a node.
 *
 * TS_UNARY_FORWARD(name, f) writes f, an expression in x and *attr, to every element of the output.
 * TS_UNARY_BACKWARD(name, g) adds g, an expression in x, y, dy and *attr, to every element of the input's gradient.
 * The type of *attr is the one named last (int when the op has none). */
#ifndef TS_UNARY_H
#define TS_UNARY_H

#include "../op.h"
#include "parallel.h"
#include "real_math.h"

static inline ts_status ts_shape_same(const ts_node *node, ts_shape *out) {
    *out = node->in[0]->shape;
    return TS_OK;
}

#define TS_UNARY_FORWARD(name, f, attr_type)                                                                 \
    static void name(const ts_node *node) {                                                                  \
        const int64_t size = ts_size(&node->out->shape);                                                     \
        const ts_real *in = node->in[0]->data;                                                               \
        ts_real *out = node->out->data;                                                                      \
        const attr_type *attr = node->attr;                                                                  \
        (void)attr;                                                                                          \
        _Pragma("omp parallel for simd if (size > TS_PARALLEL_CUTOFF)") for (int64_t i = 0; i < size; i++) { \
            const ts_real x = in[i];                                                                         \
            out[i] = (ts_real)(f);                                                                           \
        }                                                                                                    \
    }

#define TS_UNARY_BACKWARD(name, g, attr_type)                                                                \
    static void name(const ts_node *node) {                                                                  \
        const int64_t size = ts_size(&node->out->shape);                                                     \
        const ts_real *in = node->in[0]->data, *out = node->out->data, *dout = node->out->grad;              \
        ts_real *din = node->in[0]->grad;                                                                    \
        const attr_type *attr = node->attr;                                                                  \
        (void)attr;                                                                                          \
        const bool fresh = node->fresh != 0;                                                                 \
        if (din == NULL) return;                                                                             \
        _Pragma("omp parallel for simd if (size > TS_PARALLEL_CUTOFF)") for (int64_t i = 0; i < size; i++) { \
            const ts_real x = in[i], y = out[i], dy = dout[i];                                               \
            (void)x, (void)y;                                                                                \
            din[i] = (fresh ? 0 : din[i]) + (ts_real)(g);                                                    \
        }                                                                                                    \
    }

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
