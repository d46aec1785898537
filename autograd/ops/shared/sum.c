/* sum.c: both passes of sum and mean (sum.h). */
#include "sum.h"

#include "../../parallel.h"

double ts_join_sums(double a, double b) {
    return a + b;
}

TS_CLONES static void sum_rows(const ts_piece *piece, const ts_real *x, double *into) {
    for (int64_t c = 0; c < piece->width; c++) into[c] = 0;
    for (int64_t j = 0; j < piece->count; j++)
        for (int64_t c = 0; c < piece->width; c++) into[c] += (double)x[piece->start + j * piece->step + c];
}

void ts_sum_piece(const ts_piece *piece, const void *context, double *into) {
    const ts_real *x = context;
    if (piece->step == 1)
        *into = ts_sum_row(x + piece->start, piece->count);
    else
        sum_rows(piece, x, into);
}

void ts_sum_forward(const ts_axis *axis, const ts_real *x, double divisor, double *partial, ts_real *y) {
    const int64_t outputs = axis->outer * axis->inner;
    ts_axis_reduce(axis, ts_sum_piece, x, ts_join_sums, partial);
    for (int64_t q = 0; q < outputs; q++) y[q] = (ts_real)(partial[ts_axis_total(axis, q)] / divisor);
}

typedef struct call {
    const ts_axis *axis;
    const ts_real *dy;
    double divisor;
    bool fresh;
    ts_real *dx;
} call;

static void share_piece(const void *context, int64_t item) {
    const call *k = context;
    const ts_piece piece = ts_axis_piece(k->axis, item);
    ts_real share[TS_AXIS_STRIP], *d = k->dx + piece.start;
    for (int64_t c = 0; c < piece.width; c++) share[c] = (ts_real)((double)k->dy[piece.output + c] / k->divisor);
    if (piece.step == 1)
        for (int64_t j = 0; j < piece.count; j++) d[j] = (k->fresh ? 0 : d[j]) + share[0];
    else
        for (int64_t j = 0; j < piece.count; j++)
            for (int64_t c = 0; c < piece.width; c++)
                d[j * piece.step + c] = (k->fresh ? 0 : d[j * piece.step + c]) + share[c];
}

void ts_sum_backward(const ts_axis *axis, const ts_real *dy, double divisor, bool fresh, ts_real *dx) {
    const call k = {axis, dy, divisor, fresh, dx};
    ts_for_each(ts_axis_pieces(axis), ts_axis_steps(axis), share_piece, &k);
}

size_t ts_reduction_scratch(const ts_node *node) {
    const ts_reduction *r = node->attr;
    const ts_axis axis = ts_axis_of(&node->in[0]->shape, r->axis);
    return (size_t)ts_axis_partials(&axis) * sizeof(double);
}
