/* y_i = 0 with probability p, else x_i / (1 - p);  dx_i += dy_i / (1 - p) where x_i was kept
 *
 * x_i is dropped when the uniform of element i (rng.h) is below p. Both passes draw it; nothing is saved. */
#include "../ops.h"
#include "../parallel.h"
#include "shared/unary.h"

typedef struct dropout_attr {
    double p;
    ts_rng rng;
} dropout_attr;

static ts_status shape(const ts_node *node, ts_shape *out) {
    const dropout_attr *attr = node->attr;
    *out = node->in[0]->shape;
    if (attr->p >= 0 && attr->p <= 1) return TS_OK;
    return ts_refuse(node, TS_ERROR_VALUE, "the probability must be in [0,1], not %g", attr->p);
}

/* The `value` of element i after dropout. Uniforms are in (0,1), so p = 0 keeps all elements and p = 1 none. */
static inline double keep(const dropout_attr *attr, int64_t i, double value) {
    return ts_rng_uniform(attr->rng, (uint64_t)i) < attr->p ? 0 : value / (1 - attr->p);
}

static void forward(const ts_node *node) {
    const dropout_attr *attr = node->attr;
    const int64_t size = ts_shape_size(&node->out->shape);
    const ts_real *x = node->in[0]->data;
    ts_real *y = node->out->data;
#pragma omp parallel for if (ts_worth_parallel(size))
    for (int64_t i = 0; i < size; i++) y[i] = (ts_real)keep(attr, i, (double)x[i]);
}

static void backward(const ts_node *node) {
    const dropout_attr *attr = node->attr;
    const int64_t size = ts_shape_size(&node->out->shape);
    const ts_real *dy = node->out->grad;
    ts_real *dx = node->in[0]->grad;
    if (dx == NULL) return;
#pragma omp parallel for if (ts_worth_parallel(size))
    for (int64_t i = 0; i < size; i++) dx[i] += (ts_real)keep(attr, i, (double)dy[i]);
}

static const dropout_attr third = {1. / 3, {1, 2, 3}}, none = {0, {4, 5, 6}}, every = {1, {7, 8, 9}};
static const dropout_attr above = {1.5, {1, 2, 3}}, below = {-0.1, {1, 2, 3}}, undefined = {NAN, {1, 2, 3}};
static const ts_op_case cases[] = {
    {.label = "matrix", .n_in = 1, .in = {TS_DIMS(7, 6)}, .attr = &third},
    {.label = "scalar", .n_in = 1, .in = {TS_NO_DIMS}, .attr = &third},
    {.label = "rank 4", .n_in = 1, .in = {TS_DIMS(2, 3, 1, 7)}, .attr = &third},
    {.label = "none dropped", .n_in = 1, .in = {TS_DIMS(42)}, .attr = &none},
    {.label = "all dropped", .n_in = 1, .in = {TS_DIMS(7)}, .attr = &every},
    {.label = "empty", .n_in = 1, .in = {TS_DIMS(0, 3)}, .attr = &third},
    {.label = "above 1", .n_in = 1, .in = {TS_DIMS(2)}, .attr = &above, .kind = TS_CASE_REFUSED},
    {.label = "below 0", .n_in = 1, .in = {TS_DIMS(2)}, .attr = &below, .kind = TS_CASE_REFUSED},
    {.label = "NaN", .n_in = 1, .in = {TS_DIMS(2)}, .attr = &undefined, .kind = TS_CASE_REFUSED},
    {.label = NULL}};

const ts_op ts_op_dropout = {.name = "dropout",
                             .min_in = 1,
                             .max_in = 1,
                             .attr_size = sizeof(dropout_attr),
                             .shape = shape,
                             .forward = forward,
                             .backward = backward,
                             .cases = cases};

ts_tensor *ts_dropout(ts_tape *tape, ts_tensor *x, double p, ts_rng rng) {
    const dropout_attr attr = {p, rng};
    return ts_apply(tape, &ts_op_dropout, &attr, 1, &x);
}
