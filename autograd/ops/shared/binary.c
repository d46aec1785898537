/* binary.c: the rows and runs of an elementwise op with broadcasting (binary.h). */
#include "binary.h"

#include <string.h>

enum { LAST = TS_MAX_RANK - 1 };

/* Appends an axis of length n to the walk, merged with the axis before it if both operands continue without a jump. */
static void add_axis(ts_runs *runs, int *axes, const int64_t n, const int64_t step_a, const int64_t step_b) {
    const int64_t step[2] = {step_a, step_b};
    if (n == 1) return;
    bool merges = *axes > 0;
    for (int i = 0; i < 2 && merges; i++) merges = runs->step[i][*axes - 1] == n * step[i];
    if (merges) (*axes)--;
    runs->dim[*axes] = merges ? runs->dim[*axes] * n : n;
    for (int i = 0; i < 2; i++) runs->step[i][*axes] = step[i];
    (*axes)++;
}

/* Moves the axes to the end of the arrays, padding with 1 in front. */
static void align_right(ts_runs *runs, int axes) {
    for (int a = LAST; a >= 0; a--) {
        const int from = a - (TS_MAX_RANK - axes);
        runs->dim[a] = from >= 0 ? runs->dim[from] : 1;
        for (int i = 0; i < 2; i++) runs->step[i][a] = from >= 0 ? runs->step[i][from] : 0;
    }
}

ts_runs ts_runs_of(const ts_node *node) {
    ts_runs runs = {0};
    int64_t dim[TS_MAX_RANK], step[2][TS_MAX_RANK];
    int axes = 0;
    ts_padded_dims(&node->out->shape, dim);
    for (int i = 0; i < 2; i++) ts_broadcast_strides(&node->in[i]->shape, &node->out->shape, step[i]);
    for (int a = 0; a < TS_MAX_RANK; a++) add_axis(&runs, &axes, dim[a], step[0][a], step[1][a]);
    align_right(&runs, axes);
    runs.length = runs.dim[LAST];
    runs.rows = runs.dim[0] * runs.dim[1] * runs.dim[2];
    runs.runs_per_row = (runs.length + TS_RUN - 1) / TS_RUN;
    return runs;
}

int64_t ts_row_start(const ts_runs *runs, int i, int64_t row) {
    int64_t start = 0;
    if (runs->dim[0] * runs->dim[1] == 1) return row * runs->step[i][LAST - 1]; /* saves the divisions */
    for (int a = LAST - 1; a >= 0; a--) {
        start += row % runs->dim[a] * runs->step[i][a];
        row /= runs->dim[a];
    }
    return start;
}

size_t ts_binary_scratch(const ts_node *node) {
    const ts_shape *out = &node->out->shape;
    const bool stretched = !ts_shape_equal(&node->in[0]->shape, out) || !ts_shape_equal(&node->in[1]->shape, out);
    return stretched && node->out->wants_grad ? (size_t)ts_shape_size(out) * sizeof(ts_real) : 0;
}

void ts_binary_each(const ts_node *node, ts_real *out, ts_item_fn *run) {
    const ts_binary_call call = {
        .runs = ts_runs_of(node), .a = node->in[0]->data, .b = node->in[1]->data, .dy = node->out->grad, .out = out};
    ts_for_each(call.runs.rows * call.runs.runs_per_row, ts_shape_size(&node->out->shape), run, &call);
}

void ts_binary_gradient(const ts_node *node, int i, ts_item_fn *assign, ts_item_fn *add) {
    const ts_tensor *in = node->in[i];
    const bool fresh = node->fresh >> i & 1u;
    if (in->grad == NULL) return;
    if (ts_shape_equal(&in->shape, &node->out->shape)) {
        ts_binary_each(node, in->grad, fresh ? assign : add);
        return;
    }
    if (fresh) memset(in->grad, 0, (size_t)ts_shape_size(&in->shape) * sizeof *in->grad);
    ts_binary_each(node, node->scratch, assign);
    ts_sum_to_shape(&node->out->shape, node->scratch, &in->shape, in->grad);
}
