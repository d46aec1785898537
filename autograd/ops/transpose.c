/* y = x with two axes swapped;  dx += dy with the same axes swapped */
#include "../ops.h"
#include "../parallel.h"
#include "shared/axis.h"

typedef struct transpose_attr {
    int axis1, axis2;
} transpose_attr;

static ts_status shape(const ts_node *node, ts_shape *out) {
    const transpose_attr *attr = node->attr;
    const ts_shape *x = &node->in[0]->shape;
    int a, b;
    *out = *x;
    ts_status status = ts_axis_number(node, x, attr->axis1, &a);
    if (status == TS_OK) status = ts_axis_number(node, x, attr->axis2, &b);
    if (status != TS_OK) return status;
    out->dim[a] = x->dim[b];
    out->dim[b] = x->dim[a];
    return TS_OK;
}

/* [outer, n, middle, k, inner] becomes [outer, k, middle, n, inner]. */
typedef struct swap {
    int64_t outer, n, middle, k, inner;
} swap;

static swap swap_of(const ts_shape *shape, const transpose_attr *attr) {
    const int a = attr->axis1 < 0 ? attr->axis1 + shape->rank : attr->axis1;
    const int b = attr->axis2 < 0 ? attr->axis2 + shape->rank : attr->axis2, low = a < b ? a : b, high = a < b ? b : a;
    if (a == b) return (swap){1, 1, 1, ts_shape_size(shape), 1};
    swap s = {1, shape->dim[low], 1, shape->dim[high], 1};
    for (int i = 0; i < shape->rank; i++) {
        if (i < low) s.outer *= shape->dim[i];
        if (i > low && i < high) s.middle *= shape->dim[i];
        if (i > high) s.inner *= shape->dim[i];
    }
    return s;
}

enum { TILE = 32 };

/* Moves the tile of at most TILE x TILE positions at (i, j) of one [n,k] plane. */
static void move_tile(const swap *s, int64_t i, int64_t j, bool add, const ts_real *src, ts_real *dst) {
    const int64_t to_i = s->n - i < TILE ? s->n : i + TILE, to_j = s->k - j < TILE ? s->k : j + TILE;
    const int64_t src_step = s->middle * s->k * s->inner, dst_step = s->middle * s->n * s->inner;
    for (int64_t q = j; q < to_j; q++)
        for (int64_t p = i; p < to_i; p++) {
            const ts_real *from = src + p * src_step + q * s->inner;
            ts_real *to = dst + q * dst_step + p * s->inner;
            if (add)
                for (int64_t c = 0; c < s->inner; c++) to[c] += from[c];
            else
                for (int64_t c = 0; c < s->inner; c++) to[c] = from[c];
        }
}

static void move(const swap *s, bool add, const ts_real *src, ts_real *dst) {
    const int64_t down = (s->n + TILE - 1) / TILE, across = (s->k + TILE - 1) / TILE, tiles = down * across;
    const int64_t planes = s->outer * s->middle, size = planes * s->n * s->k * s->inner;
    if (size == 0) return;
#pragma omp parallel for if (ts_worth_parallel(size))
    for (int64_t item = 0; item < planes * tiles; item++) {
        const int64_t plane = item / tiles, o = plane / s->middle, m = plane % s->middle;
        const int64_t i = item % tiles / across * TILE, j = item % across * TILE, all = s->n * s->middle * s->k;
        move_tile(s, i, j, add, src + (o * all + m * s->k) * s->inner, dst + (o * all + m * s->n) * s->inner);
    }
}

static void forward(const ts_node *node) {
    const swap s = swap_of(&node->in[0]->shape, node->attr);
    move(&s, false, node->in[0]->data, node->out->data);
}

static void backward(const ts_node *node) {
    const swap s = swap_of(&node->out->shape, node->attr);
    if (node->in[0]->grad != NULL) move(&s, true, node->out->grad, node->in[0]->grad);
}

static const transpose_attr last_two = {-2, -1}, ends = {0, -1}, inner = {2, 1}, same = {1, 1}, outer = {0, 1},
                            beyond = {0, 2};
static const ts_op_case cases[] = {
    {.label = "matrix", .n_in = 1, .in = {TS_DIMS(3, 5)}, .attr = &last_two},
    {.label = "odd sizes", .n_in = 1, .in = {TS_DIMS(42, 7)}, .attr = &outer},
    {.label = "rank 3", .n_in = 1, .in = {TS_DIMS(2, 3, 4)}, .attr = &ends},
    {.label = "rank 4", .n_in = 1, .in = {TS_DIMS(2, 3, 4, 2)}, .attr = &inner},
    {.label = "rank 4, ends", .n_in = 1, .in = {TS_DIMS(3, 2, 2, 4)}, .attr = &ends},
    {.label = "rank 4, first two", .n_in = 1, .in = {TS_DIMS(3, 4, 2, 2)}, .attr = &outer},
    {.label = "the same axis", .n_in = 1, .in = {TS_DIMS(2, 3)}, .attr = &same},
    {.label = "vector", .n_in = 1, .in = {TS_DIMS(7)}, .attr = &ends},
    {.label = "empty", .n_in = 1, .in = {TS_DIMS(3, 0)}, .attr = &last_two},
    {.label = "axis", .n_in = 1, .in = {TS_DIMS(3, 5)}, .attr = &beyond, .kind = TS_CASE_REFUSED},
    {.label = "scalar", .n_in = 1, .in = {TS_NO_DIMS}, .attr = &ends, .kind = TS_CASE_REFUSED},
    {.label = NULL}};

const ts_op ts_op_transpose = {.name = "transpose",
                               .min_in = 1,
                               .max_in = 1,
                               .attr_size = sizeof(transpose_attr),
                               .shape = shape,
                               .forward = forward,
                               .backward = backward,
                               .cases = cases};

ts_tensor *ts_transpose(ts_tape *tape, ts_tensor *x, int axis1, int axis2) {
    const transpose_attr attr = {axis1, axis2};
    return ts_apply(tape, &ts_op_transpose, &attr, 1, &x);
}
