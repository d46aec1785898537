/* y = a b + bias for every matrix of the last two axes, leading axes broadcast;  da += dy b^T,  db += a^T dy,
 * dbias += the sum of dy's rows
 *
 * With its transpose flag set, a (or b) stands for its transpose; gradients are those of the tensors as given. */
#include "../kernels/gemm.h"
#include "../ops.h"
#include "shared/broadcast.h"

enum { BIAS = 2 }; /* its index among the inputs */

typedef struct matmul_attr {
    bool transpose_a, transpose_b;
} matmul_attr;

static int64_t length(const ts_shape *shape, int from_end) {
    return shape->dim[shape->rank - from_end];
}

static ts_status shape(const ts_node *node, ts_shape *out) {
    const matmul_attr *attr = node->attr;
    const ts_shape *a = &node->in[0]->shape, *b = &node->in[1]->shape;
    if (a->rank < 2 || b->rank < 2) return ts_refuse(node, TS_ERROR_SHAPE, "both must have rank 2 or more");
    const int64_t ka = length(a, attr->transpose_a ? 2 : 1), kb = length(b, attr->transpose_b ? 1 : 2);
    if (ka != kb)
        return ts_refuse(node, TS_ERROR_SHAPE, "inner lengths %lld and %lld differ", (long long)ka, (long long)kb);
    const int64_t n = length(b, attr->transpose_b ? 2 : 1);
    if (node->n_in > BIAS && !(node->in[BIAS]->shape.rank == 1 && node->in[BIAS]->shape.dim[0] == n))
        return ts_refuse(node, TS_ERROR_SHAPE, "the bias must be [%lld]", (long long)n);
    return ts_shape_batched(node, length(a, attr->transpose_a ? 1 : 2), n, out);
}

/* The node's tensors as grids of matrices a [m,k], b [k,n] and dy [m,n]; `full` is the grid of the output. */
typedef struct parts {
    int64_t m, n, k;
    ts_grid full;
    ts_matrices a, b, dy;
} parts;

static ts_matrices transposed(ts_matrices x) {
    const int64_t row = x.row;
    x.row = x.col;
    x.col = row;
    return x;
}

static parts parts_of(const ts_node *node) {
    const matmul_attr *attr = node->attr;
    const ts_shape *a = &node->in[0]->shape, *b = &node->in[1]->shape, *y = &node->out->shape;
    parts p = {.m = length(y, 2), .n = length(y, 1), .k = length(a, attr->transpose_a ? 2 : 1), .full = ts_grid_of(y)};
    p.a = (ts_matrices){node->in[0]->data, ts_grid_of(a), p.m * p.k, ts_shape_cols(a), 1};
    p.b = (ts_matrices){node->in[1]->data, ts_grid_of(b), p.k * p.n, ts_shape_cols(b), 1};
    p.dy = (ts_matrices){node->out->grad, p.full, p.m * p.n, p.n, 1};
    if (attr->transpose_a) p.a = transposed(p.a);
    if (attr->transpose_b) p.b = transposed(p.b);
    if (!attr->transpose_a && ts_grid_count(p.b.grid) == 1) { /* one b: the batches of a form a tall matrix */
        const ts_grid one = {{1, 1}};
        p.m *= ts_grid_count(p.full);
        p.full = p.a.grid = p.b.grid = p.dy.grid = one;
    }
    return p;
}

static void forward(const ts_node *node) {
    const parts p = parts_of(node);
    const ts_product y = {.m = p.m,
                          .n = p.n,
                          .k = p.k,
                          .full = p.full,
                          .c_grid = p.full,
                          .a = p.a,
                          .b = p.b,
                          .bias = node->n_in > BIAS ? node->in[BIAS]->data : NULL,
                          .c = node->out->data};
    ts_product_compute(&y);
}

/* The gradient of input i, a or b, is x [m,k] times z [k,n] with size = {m, n, k}, or the transpose of that. x is dy
 * for a, and z is dy for b. */
static void gradient(const ts_node *node, int i, const parts *p, ts_grid grid, const int64_t size[3], ts_matrices x,
                     ts_matrices z, bool transpose) {
    const ts_product straight = {
        .m = size[0], .n = size[1], .k = size[2], .full = p->full, .c_grid = grid, .a = x, .b = z};
    ts_product d = straight;
    if (transpose) d.m = size[1], d.n = size[0], d.a = transposed(z), d.b = transposed(x);
    d.dy_a = (i == 0) != transpose, d.dy_b = !d.dy_a;
    d.c = node->in[i]->grad;
    d.add = !(node->fresh >> i & 1u);
    if (d.c != NULL) ts_product_compute(&d);
}

static void backward(const ts_node *node) {
    const matmul_attr *attr = node->attr;
    const parts p = parts_of(node);
    gradient(node, 0, &p, p.a.grid, (int64_t[]){p.m, p.k, p.n}, p.dy, transposed(p.b), attr->transpose_a);
    gradient(node, 1, &p, p.b.grid, (int64_t[]){p.k, p.n, p.m}, transposed(p.a), p.dy, attr->transpose_b);
    if (node->n_in > BIAS && node->in[BIAS]->grad != NULL)
        ts_sum_to_shape(&node->out->shape, node->out->grad, &node->in[BIAS]->shape, node->in[BIAS]->grad);
}

static const matmul_attr nn = {false, false}, tn = {true, false}, nt = {false, true}, tt = {true, true};
static const ts_op_case cases[] = {
    {.label = "plain", .n_in = 2, .in = {TS_DIMS(3, 5), TS_DIMS(5, 4)}, .attr = &nn},
    {.label = "square", .n_in = 2, .in = {TS_DIMS(4, 4), TS_DIMS(4, 4)}, .attr = &nn},
    {.label = "square, a transposed", .n_in = 2, .in = {TS_DIMS(4, 4), TS_DIMS(4, 4)}, .attr = &tn},
    {.label = "a transposed", .n_in = 2, .in = {TS_DIMS(5, 3), TS_DIMS(5, 4)}, .attr = &tn},
    {.label = "b transposed", .n_in = 2, .in = {TS_DIMS(3, 5), TS_DIMS(4, 5)}, .attr = &nt},
    {.label = "both transposed", .n_in = 2, .in = {TS_DIMS(5, 3), TS_DIMS(4, 5)}, .attr = &tt},
    {.label = "one element", .n_in = 2, .in = {TS_DIMS(1, 1), TS_DIMS(1, 1)}, .attr = &nn},
    {.label = "odd sizes", .n_in = 2, .in = {TS_DIMS(7, 42), TS_DIMS(42, 17)}, .attr = &nn},
    {.label = "one b for all", .n_in = 2, .in = {TS_DIMS(3, 2, 5), TS_DIMS(5, 4)}, .attr = &nn},
    {.label = "one b for all, a transposed", .n_in = 2, .in = {TS_DIMS(3, 5, 2), TS_DIMS(4, 5)}, .attr = &tt},
    {.label = "one a for all", .n_in = 2, .in = {TS_DIMS(2, 5), TS_DIMS(2, 3, 5, 4)}, .attr = &nn},
    {.label = "both stretch", .n_in = 2, .in = {TS_DIMS(2, 1, 3, 5), TS_DIMS(3, 4, 5)}, .attr = &nt},
    {.label = "batches", .n_in = 2, .in = {TS_DIMS(2, 2, 3, 2), TS_DIMS(2, 2, 2, 3)}, .attr = &nn},
    {.label = "bias", .n_in = 3, .in = {TS_DIMS(2, 3, 5), TS_DIMS(5, 4), TS_DIMS(4)}, .attr = &nn},
    {.label = "bias, batches of b", .n_in = 3, .in = {TS_DIMS(3, 5), TS_DIMS(2, 4, 5), TS_DIMS(4)}, .attr = &nt},
    {.label = "bias, no inner length", .n_in = 3, .in = {TS_DIMS(2, 0), TS_DIMS(0, 3), TS_DIMS(3)}, .attr = &nn},
    {.label = "more than one block", .n_in = 2, .in = {TS_DIMS(50, 3), TS_DIMS(3, 101)}, .attr = &nn},
    {.label = "more than one run", .n_in = 2, .in = {TS_DIMS(3, 259), TS_DIMS(259, 2)}, .attr = &nn},
    {.label = "aliasing strides", .n_in = 2, .in = {TS_DIMS(9, 64), TS_DIMS(64, 3)}, .attr = &nn},
    {.label = "no inner length", .n_in = 2, .in = {TS_DIMS(2, 0), TS_DIMS(0, 3)}, .attr = &nn},
    {.label = "no rows", .n_in = 2, .in = {TS_DIMS(0, 2), TS_DIMS(2, 3)}, .attr = &nn},
    {.label = "no batches", .n_in = 2, .in = {TS_DIMS(0, 2, 2), TS_DIMS(2, 3)}, .attr = &tn},
    {.label = "inner lengths", .n_in = 2, .in = {TS_DIMS(3, 4), TS_DIMS(5, 2)}, .attr = &nn, .kind = TS_CASE_REFUSED},
    {.label = "with a flag", .n_in = 2, .in = {TS_DIMS(3, 4), TS_DIMS(4, 2)}, .attr = &nt, .kind = TS_CASE_REFUSED},
    {.label = "rank 1", .n_in = 2, .in = {TS_DIMS(4), TS_DIMS(4, 2)}, .attr = &nn, .kind = TS_CASE_REFUSED},
    {.label = "axes", .n_in = 2, .in = {TS_DIMS(2, 3, 4), TS_DIMS(3, 4, 2)}, .attr = &nn, .kind = TS_CASE_REFUSED},
    {.label = "bias",
     .n_in = 3,
     .in = {TS_DIMS(3, 4), TS_DIMS(4, 2), TS_DIMS(3)},
     .kind = TS_CASE_REFUSED,
     .attr = &nn},
    {.label = NULL}};

const ts_op ts_op_matmul = {.name = "matmul",
                            .min_in = 2,
                            .max_in = 3,
                            .assigns_in = 3,
                            .attr_size = sizeof(matmul_attr),
                            .shape = shape,
                            .forward = forward,
                            .backward = backward,
                            .cases = cases};

ts_tensor *ts_matmul(ts_tape *tape, ts_tensor *a, ts_tensor *b, bool transpose_a, bool transpose_b) {
    const matmul_attr attr = {transpose_a, transpose_b};
    return ts_apply(tape, &ts_op_matmul, &attr, 2, (ts_tensor *[]){a, b});
}

ts_tensor *ts_affine(ts_tape *tape, ts_tensor *x, ts_tensor *w, ts_tensor *bias) {
    const matmul_attr attr = {false, false};
    return ts_apply(tape, &ts_op_matmul, &attr, 3, (ts_tensor *[]){x, w, bias});
}
