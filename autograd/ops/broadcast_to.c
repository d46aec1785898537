/* y = x repeated along axes that are missing in x or have length 1 there;  dx += dy summed over these axes */
#include "../ops.h"
#include "../parallel.h"
#include "shared/broadcast.h"

static ts_status shape(const ts_node *node, ts_shape *out) {
    const ts_shape *wanted = node->attr;
    char text[TS_SHAPE_TEXT];
    bool fits = wanted->rank >= 0 && wanted->rank <= TS_MAX_RANK;
    for (int a = 0; fits && a < wanted->rank; a++) fits = wanted->dim[a] >= 0;
    if (fits && ts_broadcast_shapes(&node->in[0]->shape, wanted, out) && ts_shape_equal(out, wanted)) return TS_OK;
    return ts_refuse(node, TS_ERROR_SHAPE, "does not stretch to %s", ts_shape_text(wanted, text));
}

enum { CHUNK = 8192 };

static void forward(const ts_node *node) {
    int64_t dim[TS_MAX_RANK], step[TS_MAX_RANK];
    ts_padded_dims(&node->out->shape, dim);
    ts_broadcast_strides(&node->in[0]->shape, &node->out->shape, step);
    const int64_t chunks = (dim[3] + CHUNK - 1) / CHUNK, items = dim[0] * dim[1] * dim[2] * chunks;
#pragma omp parallel for if (ts_worth_parallel(items * dim[3]))
    for (int64_t item = 0; item < items; item++) {
        const int64_t row = item / chunks, from = item % chunks * CHUNK,
                      to = dim[3] - from < CHUNK ? dim[3] : from + CHUNK;
        const int64_t i = row / dim[2] / dim[1], j = row / dim[2] % dim[1], k = row % dim[2];
        const ts_real *x = node->in[0]->data + i * step[0] + j * step[1] + k * step[2];
        ts_real *y = node->out->data + row * dim[3];
        for (int64_t c = from; c < to; c++) y[c] = x[c * step[3]];
    }
}

static void backward(const ts_node *node) {
    ts_tensor *x = node->in[0];
    if (x->grad != NULL) ts_sum_to_shape(&node->out->shape, node->out->grad, &x->shape, x->grad);
}

static const ts_shape matrix = TS_DIMS(3, 7), cube = TS_DIMS(2, 3, 7), rank4 = TS_DIMS(2, 3, 2, 3), scalar = TS_NO_DIMS;
static const ts_shape none = TS_DIMS(0, 3), wide = TS_DIMS(2, 150), deep = {.rank = 5}, negative = TS_DIMS(-3);
static const ts_op_case cases[] = {
    {.label = "row", .n_in = 1, .in = {TS_DIMS(7)}, .attr = &matrix},
    {.label = "column", .n_in = 1, .in = {TS_DIMS(3, 1)}, .attr = &cube},
    {.label = "rank 4", .n_in = 1, .in = {TS_DIMS(2, 1, 2, 1)}, .attr = &rank4},
    {.label = "scalar", .n_in = 1, .in = {TS_NO_DIMS}, .attr = &cube},
    {.label = "scalar to scalar", .n_in = 1, .in = {TS_NO_DIMS}, .attr = &scalar},
    {.label = "unchanged", .n_in = 1, .in = {TS_DIMS(3, 7)}, .attr = &matrix},
    {.label = "wide", .n_in = 1, .in = {TS_DIMS(150)}, .attr = &wide},
    {.label = "to nothing", .n_in = 1, .in = {TS_DIMS(1, 3)}, .attr = &none},
    {.label = "length", .n_in = 1, .in = {TS_DIMS(6)}, .attr = &matrix, .kind = TS_CASE_REFUSED},
    {.label = "would shrink", .n_in = 1, .in = {TS_DIMS(2, 3, 7)}, .attr = &matrix, .kind = TS_CASE_REFUSED},
    {.label = "rank 5", .n_in = 1, .in = {TS_DIMS(1)}, .attr = &deep, .kind = TS_CASE_REFUSED},
    {.label = "negative", .n_in = 1, .in = {TS_DIMS(1)}, .attr = &negative, .kind = TS_CASE_REFUSED},
    {.label = NULL}};

const ts_op ts_op_broadcast_to = {.name = "broadcast_to",
                                  .min_in = 1,
                                  .max_in = 1,
                                  .attr_size = sizeof(ts_shape),
                                  .shape = shape,
                                  .forward = forward,
                                  .backward = backward,
                                  .cases = cases};

ts_tensor *ts_broadcast_to(ts_tape *tape, ts_tensor *x, ts_shape wanted) {
    return ts_apply(tape, &ts_op_broadcast_to, &wanted, 1, &x);
}
