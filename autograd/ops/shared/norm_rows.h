/* norm_rows.h: y = gain (x - mean) / sqrt(mean((x - mean)^2) + eps) + bias over coordinates first .. first+count-1 of
 * each row, with mean = 0 if rows are not centred; the other coordinates pass unchanged.
 *
 * With h = (x - mean)/sigma and g = gain dy:  dx += (g - mean(g) - h mean(g h)) / sigma (no mean(g) if not centred),
 * dgain += dy h and dbias += dy, summed over rows.
 *
 * Nothing overflows: deviations are those of x/2, taken from the row's first entry if centred (so they are exactly 0 in
 * a constant row), and are squared only after division by the larger of the largest deviation and sqrt(eps)/2. */
#ifndef TS_NORM_ROWS_H
#define TS_NORM_ROWS_H

#include <float.h>
#include <math.h>

#include "../../op.h"
#include "../../parallel.h"

typedef struct ts_norm_range {
    int64_t first, count;
    double eps;
} ts_norm_range;

/* Inputs: x, gain, and bias when there are three. */
static inline ts_status ts_norm_shape(const ts_node *node, ts_shape *out) {
    static const char *const names[] = {"x", "gain", "bias"};
    const ts_norm_range *range = node->attr;
    const ts_shape *x = &node->in[0]->shape, wanted = TS_SHAPE(range->count);
    char text[TS_SHAPE_TEXT];
    if (x->rank == 0) return ts_refuse(node, TS_ERROR_SHAPE, "a scalar has no coordinates");
    const int64_t width = ts_shape_cols(x);
    if (range->count < 1)
        return ts_refuse(node, TS_ERROR_SHAPE, "%lld coordinates: at least 1 is normalised", (long long)range->count);
    if (range->first < 0 || range->first > width || range->count > width - range->first)
        return ts_refuse(node, TS_ERROR_SHAPE, "%lld coordinates from %lld on do not lie in the last axis, 0 to %lld",
                         (long long)range->count, (long long)range->first, (long long)width - 1);
    for (int i = 1; i < node->n_in; i++)
        if (!ts_shape_equal(&node->in[i]->shape, &wanted))
            return ts_refuse(node, TS_ERROR_SHAPE, "the %s must have shape %s", names[i], ts_shape_text(&wanted, text));
    if (!(range->eps >= 0 && range->eps <= DBL_MAX))
        return ts_refuse(node, TS_ERROR_VALUE, "eps must be >= 0 and finite, not %g", range->eps);
    *out = *x;
    return TS_OK;
}

/* A row's entry x is normalised to (x/2 - origin - shift) / scale / spread; sigma = 2 scale spread. */
typedef struct ts_norm_row {
    double origin, shift, scale, spread;
} ts_norm_row;

static inline double ts_norm_deviation(const ts_norm_row *row, ts_real x) {
    return 0.5 * (double)x - row->origin - row->shift;
}

static inline double ts_norm_value(const ts_norm_row *row, ts_real x) {
    return ts_norm_deviation(row, x) / row->scale / row->spread;
}

static inline ts_norm_row ts_norm_row_of(const ts_real *x, int64_t count, double eps, bool centred) {
    ts_norm_row row = {.origin = centred ? 0.5 * (double)x[0] : 0};
    double shift = 0, squares = 0;
    for (int64_t c = 0; c < count && centred; c++) shift += ts_norm_deviation(&row, x[c]) / (double)count;
    row.shift = shift;
    const double floor = 0.5 * sqrt(eps);
    row.scale = floor;
    for (int64_t c = 0; c < count; c++) row.scale = fmax(row.scale, fabs(ts_norm_deviation(&row, x[c])));
    if (row.scale == 0) { /* no deviation from the mean and eps = 0: h = 0, dx = 0 */
        row.scale = 1;
        row.spread = INFINITY;
        return row;
    }
    for (int64_t c = 0; c < count; c++) {
        const double d = ts_norm_deviation(&row, x[c]) / row.scale;
        squares += d * d;
    }
    row.spread = sqrt(squares / (double)count + floor / row.scale * (floor / row.scale));
    return row;
}

static inline void ts_norm_forward(const ts_node *node, bool centred) {
    const ts_norm_range *range = node->attr;
    const ts_shape *shape = &node->out->shape;
    const int64_t rows = ts_shape_rows(shape), width = ts_shape_cols(shape), first = range->first, count = range->count;
    const ts_real *gain = node->in[1]->data, *bias = node->n_in > 2 ? node->in[2]->data : NULL;
#pragma omp parallel for if (ts_worth_parallel(rows * width))
    for (int64_t r = 0; r < rows; r++) {
        const ts_real *x = node->in[0]->data + r * width;
        ts_real *y = node->out->data + r * width;
        const ts_norm_row row = ts_norm_row_of(x + first, count, range->eps, centred);
        for (int64_t c = 0; c < width; c++) {
            const int64_t k = c - first;
            y[c] = x[c];
            if (k < 0 || k >= count) continue;
            y[c] = (ts_real)((double)gain[k] * ts_norm_value(&row, x[c]) + (bias == NULL ? 0 : (double)bias[k]));
        }
    }
}

/* Rows are cut into blocks, whose number depends on the shape only; each block has its own sums for gain and bias,
 * which are added in order. */
enum { TS_NORM_BLOCKS = 64 };

static inline int64_t ts_norm_blocks(const ts_node *node) {
    const int64_t rows = ts_shape_rows(&node->in[0]->shape);
    return rows < TS_NORM_BLOCKS ? rows : TS_NORM_BLOCKS;
}

static inline size_t ts_norm_scratch(const ts_node *node) {
    const ts_norm_range *range = node->attr;
    return (size_t)ts_norm_blocks(node) * (size_t)range->count * 2 * sizeof(double);
}

/* Adds the gradients of one row to dx and to the sums dgain and dbias [count]. */
static inline void ts_norm_backward_row(const ts_node *node, bool centred, int64_t r, double *dgain, double *dbias) {
    const ts_norm_range *range = node->attr;
    const int64_t width = ts_shape_cols(&node->out->shape), first = range->first, count = range->count;
    const ts_real *x = node->in[0]->data + r * width, *dy = node->out->grad + r * width, *gain = node->in[1]->data;
    const ts_norm_row row = ts_norm_row_of(x + first, count, range->eps, centred);
    const bool asked = ts_any_nonzero(dy + first, count);
    double sum = 0, product = 0;
    for (int64_t k = 0; k < count && asked; k++) {
        const double d = (double)dy[first + k], h = ts_norm_value(&row, x[first + k]);
        const double g = TS_IF_NONZERO(d, (double)gain[k] * d);
        dgain[k] += TS_IF_NONZERO(d, d * h);
        dbias[k] += d;
        sum += g;
        product += TS_IF_NONZERO(g, g * h);
    }
    if (node->in[0]->grad == NULL) return;
    ts_real *dx = node->in[0]->grad + r * width;
    const double mean = centred ? sum / (double)count : 0, slope = product / (double)count;
    for (int64_t c = 0; c < width; c++) {
        const int64_t k = c - first;
        double d = (double)dy[c];
        if (asked && k >= 0 && k < count) {
            const double g = TS_IF_NONZERO(d, (double)gain[k] * d);
            d = 0.5 * (g - mean - ts_norm_value(&row, x[c]) * slope) / row.scale / row.spread;
        }
        dx[c] += (ts_real)d;
    }
}

static inline void ts_norm_backward(const ts_node *node, bool centred) {
    const ts_norm_range *range = node->attr;
    const int64_t rows = ts_shape_rows(&node->out->shape), count = range->count;
    const int64_t blocks = ts_norm_blocks(node);
    double *const sums = node->scratch;
#pragma omp parallel for if (ts_worth_parallel(ts_shape_size(&node->out->shape)))
    for (int64_t b = 0; b < blocks; b++) {
        double *dgain = sums + 2 * b * count, *dbias = dgain + count;
        for (int64_t k = 0; k < 2 * count; k++) dgain[k] = 0;
        for (int64_t r = rows * b / blocks; r < rows * (b + 1) / blocks; r++)
            ts_norm_backward_row(node, centred, r, dgain, dbias);
    }
    for (int i = 1; i < node->n_in; i++) {
        ts_real *into = node->in[i]->grad;
        for (int64_t k = 0; k < count && into != NULL; k++) {
            double total = 0;
            for (int64_t b = 0; b < blocks; b++) total += sums[(2 * b + i - 1) * count + k];
            into[k] += (ts_real)total;
        }
    }
}

#endif
