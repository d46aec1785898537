/* broadcast.c: common shapes, and sums over stretched axes (broadcast.h). */
#include "broadcast.h"

#include "../../parallel.h"
#include "sum.h"

bool ts_broadcast_shapes(const ts_shape *a, const ts_shape *b, ts_shape *out) {
    out->rank = a->rank > b->rank ? a->rank : b->rank;
    for (int i = 1; i <= out->rank; i++) {
        const int64_t m = i <= a->rank ? a->dim[a->rank - i] : 1, n = i <= b->rank ? b->dim[b->rank - i] : 1;
        if (m != n && m != 1 && n != 1) return false;
        out->dim[out->rank - i] = m == 1 ? n : m;
    }
    return true;
}

ts_status ts_shape_broadcast(const ts_node *node, ts_shape *out) {
    if (ts_broadcast_shapes(&node->in[0]->shape, &node->in[1]->shape, out)) return TS_OK;
    return ts_refuse(node, TS_ERROR_SHAPE, "the shapes do not broadcast");
}

ts_status ts_shape_batched(const ts_node *node, int64_t m, int64_t n, ts_shape *out) {
    ts_shape a = node->in[0]->shape, b = node->in[1]->shape;
    a.rank -= 2;
    b.rank -= 2;
    if (!ts_broadcast_shapes(&a, &b, out))
        return ts_refuse(node, TS_ERROR_SHAPE, "the axes before the last two do not broadcast");
    out->dim[out->rank++] = m;
    out->dim[out->rank++] = n;
    return TS_OK;
}

void ts_padded_dims(const ts_shape *shape, int64_t dim[TS_MAX_RANK]) {
    const int pad = TS_MAX_RANK - shape->rank;
    for (int a = 0; a < TS_MAX_RANK; a++) dim[a] = a < pad ? 1 : shape->dim[a - pad];
}

void ts_broadcast_strides(const ts_shape *operand, const ts_shape *out, int64_t stride[TS_MAX_RANK]) {
    int64_t dim[TS_MAX_RANK], full[TS_MAX_RANK], step = 1;
    ts_padded_dims(operand, dim);
    ts_padded_dims(out, full);
    for (int a = TS_MAX_RANK - 1; a >= 0; a--) {
        stride[a] = dim[a] == 1 && full[a] != 1 ? 0 : step;
        step *= dim[a];
    }
}

enum { STRIP = 64 };

/* acc[0 .. width-1] += the rows of src that have the indices `at` along the kept axes, for all indices along the
 * reduced axes before the last. If the last axis is reduced, all of a row goes to acc[0]; else the strip from `column`
 * on. */
TS_CLONES static void sum_strip(const int64_t dim[TS_MAX_RANK], const bool reduced[TS_MAX_RANK], const int64_t at[3],
                                const ts_real *src, int64_t column, int64_t width, double *acc) {
    int64_t from[3], to[3];
    for (int a = 0; a < 3; a++) from[a] = reduced[a] ? 0 : at[a], to[a] = reduced[a] ? dim[a] : at[a] + 1;
    for (int64_t i = from[0]; i < to[0]; i++)
        for (int64_t j = from[1]; j < to[1]; j++)
            for (int64_t k = from[2]; k < to[2]; k++) {
                const ts_real *row = src + ((i * dim[1] + j) * dim[2] + k) * dim[3];
                if (reduced[3])
                    acc[0] += ts_sum_row(row, dim[3]);
                else
                    for (int64_t c = 0; c < width; c++) acc[c] += (double)row[column + c];
            }
}

typedef struct call {
    int64_t dim[TS_MAX_RANK], kept[TS_MAX_RANK], strips;
    bool reduced[TS_MAX_RANK];
    const ts_real *src;
    ts_real *dst;
} call;

/* Computes a strip of one row of the result. */
static void sum_item(const void *context, int64_t item) {
    const call *k = context;
    const int64_t *kept = k->kept, row = item / k->strips, column = item % k->strips * STRIP;
    const int64_t at[3] = {row / kept[2] / kept[1], row / kept[2] % kept[1], row % kept[2]};
    const int64_t width = kept[3] - column < STRIP ? kept[3] - column : STRIP;
    double acc[STRIP] = {0};
    sum_strip(k->dim, k->reduced, at, k->src, column, width, acc);
    ts_real *into = k->dst + row * kept[3] + column;
    for (int64_t c = 0; c < width; c++) into[c] = (ts_real)((double)into[c] + acc[c]);
}

void ts_sum_to_shape(const ts_shape *from, const ts_real *src, const ts_shape *to, ts_real *dst) {
    call k = {.src = src, .dst = dst};
    ts_padded_dims(from, k.dim);
    ts_padded_dims(to, k.kept);
    for (int a = 0; a < TS_MAX_RANK; a++) k.reduced[a] = k.kept[a] == 1;
    k.strips = (k.kept[3] + STRIP - 1) / STRIP;
    if (ts_shape_size(from) > 0)
        ts_for_each(k.kept[0] * k.kept[1] * k.kept[2] * k.strips, ts_shape_size(from), sum_item, &k);
}
