#include "extreme.h"

#include <math.h>

#include "parallel.h"
#include "sum.h"

double ts_join_largest(double a, double b) {
    return b > a || isnan(b) ? b : a;
}

double ts_join_smallest(double a, double b) {
    return b < a || isnan(b) ? b : a;
}

void ts_largest_piece(const ts_piece *piece, const void *context, double *into) {
    const ts_real *x = (const ts_real *)context + piece->start;
    for (int64_t c = 0; c < piece->width; c++) into[c] = -INFINITY;
    for (int64_t j = 0; j < piece->count; j++)
        for (int64_t c = 0; c < piece->width; c++) {
            const double value = (double)x[j * piece->step + c];
            into[c] = value > into[c] || isnan(value) ? value : into[c];
        }
}

void ts_smallest_piece(const ts_piece *piece, const void *context, double *into) {
    const ts_real *x = (const ts_real *)context + piece->start;
    for (int64_t c = 0; c < piece->width; c++) into[c] = INFINITY;
    for (int64_t j = 0; j < piece->count; j++)
        for (int64_t c = 0; c < piece->width; c++) {
            const double value = (double)x[j * piece->step + c];
            into[c] = value < into[c] || isnan(value) ? value : into[c];
        }
}

static void forward(const ts_node *node, ts_piece_fn *reduce, ts_join_fn *join) {
    const ts_reduction *r = node->attr;
    const ts_axis axis = ts_axis_of(&node->in[0]->shape, r->axis);
    const int64_t outputs = axis.outer * axis.inner;
    double *partial = node->scratch;
    ts_axis_reduce(&axis, reduce, node->in[0]->data, join, partial);
    for (int64_t q = 0; q < outputs; q++) node->out->data[q] = (ts_real)partial[ts_axis_total(&axis, q)];
}

void ts_largest_forward(const ts_node *node) {
    forward(node, ts_largest_piece, ts_join_largest);
}

void ts_smallest_forward(const ts_node *node) {
    forward(node, ts_smallest_piece, ts_join_smallest);
}

typedef struct tie_context {
    const ts_real *x, *y;
} tie_context;

static inline bool is_tie(ts_real x, ts_real y) {
    return x == y || (isnan(x) && isnan(y));
}

static void count_ties(const ts_piece *piece, const void *context, double *into) {
    const tie_context *t = context;
    const ts_real *x = t->x + piece->start, *y = t->y + piece->output;
    for (int64_t c = 0; c < piece->width; c++) into[c] = 0;
    for (int64_t j = 0; j < piece->count; j++)
        for (int64_t c = 0; c < piece->width; c++) into[c] += is_tie(x[j * piece->step + c], y[c]) ? 1 : 0;
}

void ts_extreme_backward(const ts_node *node) {
    const ts_reduction *r = node->attr;
    const ts_axis axis = ts_axis_of(&node->in[0]->shape, r->axis);
    const tie_context ties = {node->in[0]->data, node->out->data};
    const int64_t pieces = ts_axis_pieces(&axis);
    double *count = node->scratch;
    if (node->in[0]->grad == NULL) return;
    ts_axis_reduce(&axis, count_ties, &ties, ts_join_sums, count);
#pragma omp parallel for if (ts_axis_is_large(&axis))
    for (int64_t item = 0; item < pieces; item++) {
        const ts_piece piece = ts_axis_piece(&axis, item);
        const ts_real *x = ties.x + piece.start, *y = ties.y + piece.output, *dy = node->out->grad + piece.output;
        ts_real share[TS_AXIS_STRIP], *dx = node->in[0]->grad + piece.start;
        for (int64_t c = 0; c < piece.width; c++) share[c] = (ts_real)((double)dy[c] / count[piece.total + c]);
        for (int64_t j = 0; j < piece.count; j++)
            for (int64_t c = 0; c < piece.width; c++)
                if (is_tie(x[j * piece.step + c], y[c])) dx[j * piece.step + c] += share[c];
    }
}
