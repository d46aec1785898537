/* y_i = row index_i of x along axis -2;  dx_(index_i) += dy_i, in the order of i */
#include <string.h>

#include "../ops.h"
#include "../parallel.h"

typedef struct gather_attr {
    const int64_t *index;
    int64_t count;
} gather_attr;

static ts_status shape(const ts_node *node, ts_shape *out) {
    const gather_attr *attr = node->attr;
    *out = node->in[0]->shape;
    if (out->rank < 2) return ts_refuse(node, TS_ERROR_SHAPE, "rank 2 or more is needed");
    const int64_t n = out->dim[out->rank - 2];
    if (attr->count < 0 || attr->count > INT64_MAX / (int64_t)sizeof(int64_t))
        return ts_refuse(node, TS_ERROR_VALUE, "%lld rows asked for", (long long)attr->count);
    for (int64_t i = 0; i < attr->count; i++)
        if (attr->index[i] < 0 || attr->index[i] >= n)
            return ts_refuse(node, TS_ERROR_VALUE, "index %lld at position %lld is outside 0..%lld",
                             (long long)attr->index[i], (long long)i, (long long)n - 1);
    out->dim[out->rank - 2] = attr->count;
    return TS_OK;
}

static void forward(const ts_node *node) {
    const gather_attr *attr = node->attr;
    const ts_shape *x = &node->in[0]->shape;
    const int64_t d = ts_shape_cols(x), n = x->dim[x->rank - 2], rows = ts_shape_rows(&node->out->shape);
#pragma omp parallel for if (ts_worth_parallel(rows * d))
    for (int64_t row = 0; row < rows; row++) {
        const int64_t from = row / attr->count * n + attr->index[row % attr->count];
        memcpy(node->out->data + row * d, node->in[0]->data + from * d, (size_t)d * sizeof(ts_real));
    }
}

/* Threads divide batches and strips of columns, not rows, as rows may repeat. */
static void backward(const ts_node *node) {
    enum { STRIP = 64 };
    const gather_attr *attr = node->attr;
    const ts_shape *x = &node->in[0]->shape;
    const int64_t d = ts_shape_cols(x), n = x->dim[x->rank - 2], strips = (d + STRIP - 1) / STRIP;
    const int64_t size = ts_shape_size(&node->out->shape);
    if (node->in[0]->grad == NULL || size == 0) return;
    const int64_t batches = size / (attr->count * d);
#pragma omp parallel for if (ts_worth_parallel(size))
    for (int64_t item = 0; item < batches * strips; item++) {
        const int64_t batch = item / strips, column = item % strips * STRIP;
        const int64_t width = d - column < STRIP ? d - column : STRIP;
        for (int64_t i = 0; i < attr->count; i++) {
            ts_real *dx = node->in[0]->grad + (batch * n + attr->index[i]) * d + column;
            const ts_real *dy = node->out->grad + (batch * attr->count + i) * d + column;
            for (int64_t c = 0; c < width; c++) dx[c] += dy[c];
        }
    }
}

static const int64_t repeated[] = {2, 0, 2, 1, 2};
static const gather_attr five = {repeated, 5}, one = {repeated, 1}, none = {NULL, 0}, negative = {NULL, -1};
static const ts_op_case cases[] = {
    {.label = "repeated", .n_in = 1, .in = {TS_DIMS(7, 6)}, .attr = &five},
    {.label = "batches", .n_in = 1, .in = {TS_DIMS(2, 3, 4)}, .attr = &five},
    {.label = "rank 4", .n_in = 1, .in = {TS_DIMS(2, 2, 3, 1)}, .attr = &one},
    {.label = "wide", .n_in = 1, .in = {TS_DIMS(3, 70)}, .attr = &five},
    {.label = "no rows", .n_in = 1, .in = {TS_DIMS(3, 2)}, .attr = &none},
    {.label = "no columns", .n_in = 1, .in = {TS_DIMS(3, 0)}, .attr = &five},
    {.label = "outside", .n_in = 1, .in = {TS_DIMS(2, 3)}, .attr = &five, .kind = TS_CASE_REFUSED},
    {.label = "rank 1", .n_in = 1, .in = {TS_DIMS(3)}, .attr = &five, .kind = TS_CASE_REFUSED},
    {.label = "count", .n_in = 1, .in = {TS_DIMS(3, 2)}, .attr = &negative, .kind = TS_CASE_REFUSED},
    {.label = NULL}};

const ts_op ts_op_gather_rows = {.name = "gather_rows",
                                 .min_in = 1,
                                 .max_in = 1,
                                 .attr_size = sizeof(gather_attr),
                                 .shape = shape,
                                 .forward = forward,
                                 .backward = backward,
                                 .cases = cases};

ts_tensor *ts_gather_rows(ts_tape *tape, ts_tensor *x, const int64_t *index, int64_t count) {
    gather_attr attr = {NULL, count};
    if (index == NULL && count > 0) return ts_fail(tape, TS_ERROR_USAGE, "gather_rows: the list of rows is NULL");
    if (count > 0 && count <= INT64_MAX / (int64_t)sizeof *index) {
        const size_t bytes = (size_t)count * sizeof *index;
        int64_t *copy = ts_tape_take(tape, bytes);
        if (copy != NULL) attr.index = memcpy(copy, index, bytes); /* NULL: the tape has failed, and ts_apply sees it */
    }
    return ts_apply(tape, &ts_op_gather_rows, &attr, 1, &x);
}
