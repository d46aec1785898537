/* extreme.c: both passes of max and min (extreme.h). */
#include "extreme.h"

#include <math.h>

#include "../../parallel.h"
#include "sum.h"

double ts_join_largest(double a, double b) {
    return b > a || isnan(b) ? b : a;
}

double ts_join_smallest(double a, double b) {
    return b < a || isnan(b) ? b : a;
}

/* The largest sign * x[i]; NaN if any is NaN. */
static double largest_of_row(const ts_real *x, int64_t n, ts_real sign) {
    ts_real largest = -(ts_real)INFINITY;
    bool nan = false;
    for (int64_t i = 0; i < n; i++) {
        const ts_real value = sign * x[i];
        nan = nan || isnan(value);
        largest = value > largest ? value : largest;
    }
    return nan ? NAN : (double)largest;
}

void ts_largest_piece(const ts_piece *piece, const void *context, double *into) {
    const ts_real *x = (const ts_real *)context + piece->start;
    if (piece->step == 1) {
        *into = largest_of_row(x, piece->count, 1);
        return;
    }
    for (int64_t c = 0; c < piece->width; c++) into[c] = -INFINITY;
    for (int64_t j = 0; j < piece->count; j++)
        for (int64_t c = 0; c < piece->width; c++) {
            const double value = (double)x[j * piece->step + c];
            into[c] = value > into[c] || isnan(value) ? value : into[c];
        }
}

void ts_smallest_piece(const ts_piece *piece, const void *context, double *into) {
    const ts_real *x = (const ts_real *)context + piece->start;
    if (piece->step == 1) {
        *into = -largest_of_row(x, piece->count, -1);
        return;
    }
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

typedef struct call {
    tie_context ties;
    ts_axis axis;
    const double *count;
    const ts_real *dy;
    ts_real *dx;
} call;

static void share_piece(const void *context, int64_t item) {
    const call *k = context;
    const ts_piece piece = ts_axis_piece(&k->axis, item);
    const ts_real *x = k->ties.x + piece.start, *y = k->ties.y + piece.output, *dy = k->dy + piece.output;
    ts_real share[TS_AXIS_STRIP], *dx = k->dx + piece.start;
    for (int64_t c = 0; c < piece.width; c++) share[c] = (ts_real)((double)dy[c] / k->count[piece.total + c]);
    for (int64_t j = 0; j < piece.count; j++)
        for (int64_t c = 0; c < piece.width; c++)
            if (is_tie(x[j * piece.step + c], y[c])) dx[j * piece.step + c] += share[c];
}

void ts_extreme_backward(const ts_node *node) {
    const ts_reduction *r = node->attr;
    const call k = {.ties = {node->in[0]->data, node->out->data},
                    .axis = ts_axis_of(&node->in[0]->shape, r->axis),
                    .count = node->scratch,
                    .dy = node->out->grad,
                    .dx = node->in[0]->grad};
    if (k.dx == NULL) return;
    ts_axis_reduce(&k.axis, count_ties, &k.ties, ts_join_sums, node->scratch);
    ts_for_each(ts_axis_pieces(&k.axis), ts_axis_steps(&k.axis), share_piece, &k);
}
