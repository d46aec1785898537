/* y = log sum_j e^(x_j) = m + log sum_j e^(x_j - m), m the largest x;  dx_j += e^(x_j - y) / sum_i e^(x_i - y) dy
 *
 * The divisor is 1 up to the rounding of y. If m is infinite, y = m; then elements of -inf get no gradient, and
 * elements of +inf share it equally. An empty axis gives -inf. */
#include "../ops.h"
#include "../parallel.h"
#include "shared/exp_sum.h"

static size_t scratch(const ts_node *node) {
    const ts_reduction *attr = node->attr;
    const ts_axis axis = ts_axis_of(&node->in[0]->shape, attr->axis);
    return ts_exp_sum_scratch(&axis);
}

static void forward(const ts_node *node) {
    const ts_reduction *attr = node->attr;
    const ts_axis axis = ts_axis_of(&node->in[0]->shape, attr->axis);
    const int64_t outputs = axis.outer * axis.inner;
    double *shift = node->scratch, *sum = shift + ts_axis_partials(&axis);
    ts_largest_along(&axis, node->in[0]->data, shift);
    ts_exp_sum_along(&axis, node->in[0]->data, shift, sum);
    for (int64_t q = 0; q < outputs; q++) {
        const int64_t at = ts_axis_total(&axis, q);
        node->out->data[q] = (ts_real)(isinf(shift[at]) ? shift[at] : shift[at] + log(sum[at]));
    }
}

static void backward(const ts_node *node) {
    const ts_reduction *attr = node->attr;
    const ts_axis axis = ts_axis_of(&node->in[0]->shape, attr->axis);
    const int64_t outputs = axis.outer * axis.inner, pieces = ts_axis_pieces(&axis);
    const ts_real *x = node->in[0]->data;
    ts_real *dx = node->in[0]->grad;
    double *shift = node->scratch, *sum = shift + ts_axis_partials(&axis);
    if (dx == NULL) return;
    for (int64_t q = 0; q < outputs; q++) shift[ts_axis_total(&axis, q)] = (double)node->out->data[q];
    ts_exp_sum_along(&axis, x, shift, sum);
#pragma omp parallel for if (ts_worth_parallel(ts_axis_steps(&axis)))
    for (int64_t item = 0; item < pieces; item++) {
        const ts_piece piece = ts_axis_piece(&axis, item);
        for (int64_t j = 0; j < piece.count; j++)
            for (int64_t c = 0; c < piece.width; c++) {
                const int64_t i = piece.start + j * piece.step + c;
                const double y = shift[piece.total + c], dy = (double)node->out->grad[piece.output + c];
                if (y == -INFINITY) continue;
                const double weight = ts_exp_term(x[i], y) / sum[piece.total + c];
                dx[i] += (ts_real)TS_IF_NONZERO(dy, weight * dy);
            }
    }
}

static const ts_op_case cases[] = {TS_REDUCTION_CASES(TS_CASE_SMOOTH), {.label = NULL}};

const ts_op ts_op_logsumexp = {.name = "logsumexp",
                               .min_in = 1,
                               .max_in = 1,
                               .attr_size = sizeof(ts_reduction),
                               .shape = ts_shape_reduced,
                               .scratch = scratch,
                               .forward = forward,
                               .backward = backward,
                               .cases = cases};

ts_tensor *ts_logsumexp(ts_tape *tape, ts_tensor *x, int axis, bool keep) {
    const ts_reduction attr = {.axis = axis, .keep = keep};
    return ts_apply(tape, &ts_op_logsumexp, &attr, 1, &x);
}
