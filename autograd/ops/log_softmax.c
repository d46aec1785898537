/* y_j = x_j - m - log sum_i e^(x_i - m), m the largest x along the axis;  dx_j += dy_j - e^(y_j) sum_i dy_i
 *
 * Elements with y = -inf get no gradient. Several x of +inf share the weight, as in logsumexp; if all x are -inf, so is
 * y. */
#include "../ops.h"
#include "../parallel.h"
#include "shared/exp_sum.h"
#include "shared/sum.h"

typedef struct log_softmax_attr {
    int axis;
} log_softmax_attr;

static ts_axis axis_of(const ts_node *node) {
    const log_softmax_attr *attr = node->attr;
    return ts_axis_of(&node->in[0]->shape, attr->axis);
}

static ts_status shape(const ts_node *node, ts_shape *out) {
    const log_softmax_attr *attr = node->attr;
    int number;
    *out = node->in[0]->shape;
    return attr->axis == TS_ALL_AXES ? TS_OK : ts_axis_number(node, out, attr->axis, &number);
}

static size_t scratch(const ts_node *node) {
    const ts_axis axis = axis_of(node);
    return ts_exp_sum_scratch(&axis);
}

static void forward(const ts_node *node) {
    const ts_axis axis = axis_of(node);
    const int64_t pieces = ts_axis_pieces(&axis);
    const ts_real *x = node->in[0]->data;
    double *shift = node->scratch, *sum = shift + ts_axis_partials(&axis);
    ts_largest_along(&axis, x, shift);
    ts_exp_sum_along(&axis, x, shift, sum);
#pragma omp parallel for if (ts_worth_parallel(ts_axis_steps(&axis)))
    for (int64_t item = 0; item < pieces; item++) {
        const ts_piece piece = ts_axis_piece(&axis, item);
        double log_sum[TS_AXIS_STRIP];
        for (int64_t c = 0; c < piece.width; c++) log_sum[c] = log(sum[piece.total + c]);
        for (int64_t j = 0; j < piece.count; j++)
            for (int64_t c = 0; c < piece.width; c++) {
                const int64_t i = piece.start + j * piece.step + c;
                const double m = shift[piece.total + c],
                             above = m == INFINITY && (double)x[i] == m ? 0 : (double)x[i] - m;
                node->out->data[i] = (ts_real)(m == -INFINITY ? m : above - log_sum[c]);
            }
    }
}

static void backward(const ts_node *node) {
    const ts_axis axis = axis_of(node);
    const int64_t pieces = ts_axis_pieces(&axis);
    const ts_real *y = node->out->data, *dy = node->out->grad;
    ts_real *dx = node->in[0]->grad;
    double *sum = node->scratch;
    if (dx == NULL) return;
    ts_axis_reduce(&axis, ts_sum_piece, dy, ts_join_sums, sum);
#pragma omp parallel for if (ts_worth_parallel(ts_axis_steps(&axis)))
    for (int64_t item = 0; item < pieces; item++) {
        const ts_piece piece = ts_axis_piece(&axis, item);
        for (int64_t j = 0; j < piece.count; j++)
            for (int64_t c = 0; c < piece.width; c++) {
                const int64_t i = piece.start + j * piece.step + c;
                const double all = sum[piece.total + c]; /* dy of the logsumexp, which y subtracts */
                if ((double)y[i] == -INFINITY) continue;
                dx[i] += (ts_real)((double)dy[i] - TS_IF_NONZERO(all, exp((double)y[i]) * all));
            }
    }
}

static const log_softmax_attr first = {0}, middle = {1}, last = {-1}, all = {TS_ALL_AXES}, beyond = {2};
static const ts_op_case cases[] = {
    {.label = "last axis", .n_in = 1, .in = {TS_DIMS(3, 5)}, .attr = &last},
    {.label = "first axis", .n_in = 1, .in = {TS_DIMS(7, 3)}, .attr = &first},
    {.label = "middle axis", .n_in = 1, .in = {TS_DIMS(2, 4, 3)}, .attr = &middle},
    {.label = "rank 4", .n_in = 1, .in = {TS_DIMS(2, 3, 2, 2)}, .attr = &middle},
    {.label = "all", .n_in = 1, .in = {TS_DIMS(6, 7)}, .attr = &all},
    {.label = "scalar", .n_in = 1, .in = {TS_NO_DIMS}, .attr = &all},
    {.label = "length 1", .n_in = 1, .in = {TS_DIMS(3, 1)}, .attr = &last},
    {.label = "far", .n_in = 1, .in = {TS_DIMS(42)}, .attr = &last, .low = -9, .high = 9},
    {.label = "empty", .n_in = 1, .in = {TS_DIMS(2, 0)}, .attr = &last},
    {.label = "no rows", .n_in = 1, .in = {TS_DIMS(0, 2)}, .attr = &last},
    {.label = "axis", .n_in = 1, .in = {TS_DIMS(2, 3)}, .attr = &beyond, .kind = TS_CASE_REFUSED},
    {.label = NULL}};

const ts_op ts_op_log_softmax = {.name = "log_softmax",
                                 .min_in = 1,
                                 .max_in = 1,
                                 .attr_size = sizeof(log_softmax_attr),
                                 .shape = shape,
                                 .scratch = scratch,
                                 .forward = forward,
                                 .backward = backward,
                                 .cases = cases};

ts_tensor *ts_log_softmax(ts_tape *tape, ts_tensor *x, int axis) {
    const log_softmax_attr attr = {axis};
    return ts_apply(tape, &ts_op_log_softmax, &attr, 1, &x);
}
