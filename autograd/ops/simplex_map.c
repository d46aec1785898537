/* y = map(x) along an axis;  dx += (dy/dx)^T dy, row by row (simplex.h)
 *
 * A row is gathered into doubles, mapped and rounded once. Nothing is saved: the backward pass uses the weights in y,
 * or computes them again if the map needs more (simplex.h). */
#include <math.h>
#include <string.h>

#include "../ops.h"
#include "../parallel.h"

typedef struct attributes {
    ts_simplex_spec spec;
    int axis;
} attributes;

/* A row has n elements, `stride` apart; rows are numbered in the order of their first elements. */
typedef struct layout {
    int64_t rows, n, stride;
} layout;

enum { ROW_BUFFERS = 4, STEPS_PER_ELEMENT = 8 };

/* One thread's workspace. */
typedef struct buffers {
    double *s, *w, *dp, *ds, *work;
} buffers;

static int axis_of(const ts_node *node) {
    const attributes *attr = node->attr;
    return attr->axis < 0 ? attr->axis + node->in[0]->shape.rank : attr->axis;
}

static ts_status shape(const ts_node *node, ts_shape *out) {
    const attributes *attr = node->attr;
    const ts_shape *x = &node->in[0]->shape;
    if (axis_of(node) < 0 || axis_of(node) >= x->rank)
        return ts_refuse(node, TS_ERROR_SHAPE, "there is no axis %d", attr->axis);
    ts_error error = {.status = TS_OK};
    if (ts_simplex_check(&attr->spec, &error) != TS_OK) return ts_refuse(node, error.status, "%s", error.text);
    *out = *x;
    return TS_OK;
}

static layout layout_of(const ts_node *node) {
    const ts_shape *x = &node->in[0]->shape;
    const int axis = axis_of(node);
    layout l = {.n = x->dim[axis], .rows = 1, .stride = 1};
    for (int a = 0; a < x->rank; a++)
        if (a != axis) l.rows *= x->dim[a];
    for (int a = axis + 1; a < x->rank; a++) l.stride *= x->dim[a];
    return l;
}

static size_t buffer_doubles(const ts_node *node, int64_t n) {
    const attributes *attr = node->attr;
    return (size_t)(ROW_BUFFERS + attr->spec.map->work_rows) * (size_t)n;
}

static size_t scratch(const ts_node *node) {
    return buffer_doubles(node, layout_of(node).n) * sizeof(double) * (size_t)ts_max_threads();
}

static buffers buffers_of(const ts_node *node, int64_t n) {
    double *at = (double *)node->scratch + buffer_doubles(node, n) * (size_t)ts_thread();
    return (buffers){.s = at, .w = at + n, .dp = at + 2 * n, .ds = at + 3 * n, .work = at + ROW_BUFFERS * n};
}

static void gather(const layout *l, const ts_real *from, double *to) {
    if (l->stride == 1)
        for (int64_t j = 0; j < l->n; j++) to[j] = (double)from[j];
    else
        for (int64_t j = 0; j < l->n; j++) to[j] = (double)from[j * l->stride];
}

static int64_t row_start(const layout *l, int64_t r) {
    return r / l->stride * l->stride * l->n + r % l->stride;
}

/* Gathers row r into b->s and maps it to b->w; returns z. */
static double map_row(const ts_node *node, const layout *l, int64_t r, const buffers *b, ts_simplex_row *row) {
    const attributes *attr = node->attr;
    *row = (ts_simplex_row){.parameter = attr->spec.parameter,
                            .rng = attr->spec.rng,
                            .first = (uint64_t)r * (uint64_t)l->n,
                            .n = l->n,
                            .work = b->work};
    gather(l, node->in[0]->data + row_start(l, r), b->s);
    return attr->spec.map->forward(row, b->s, b->w);
}

typedef struct call {
    const ts_node *node;
    layout l;
} call;

static void forward_row(const void *context, int64_t r) {
    const call *k = context;
    const buffers b = buffers_of(k->node, k->l.n);
    ts_simplex_row row;
    const double z = map_row(k->node, &k->l, r, &b, &row);
    ts_real *y = k->node->out->data + row_start(&k->l, r);
    if (k->l.stride == 1)
        for (int64_t j = 0; j < k->l.n; j++) y[j] = (ts_real)(b.w[j] / z);
    else
        for (int64_t j = 0; j < k->l.n; j++) y[j * k->l.stride] = (ts_real)(b.w[j] / z);
}

static void backward_row(const void *context, int64_t r) {
    const call *k = context;
    const ts_node *node = k->node;
    const attributes *attr = node->attr;
    const buffers b = buffers_of(node, k->l.n);
    ts_simplex_row row = {.n = k->l.n};
    double z = 1;
    if (attr->spec.map->backward_of_weights) {
        gather(&k->l, node->out->data + row_start(&k->l, r), b.w);
        z = isnan(b.w[0]) ? NAN : 1; /* a row with a NaN score has NaN weights only */
    } else
        z = map_row(node, &k->l, r, &b, &row);
    gather(&k->l, node->out->grad + row_start(&k->l, r), b.dp);
    ts_simplex_backward(attr->spec.map, &row, b.s, b.w, z, b.dp, b.ds);
    ts_real *dx = node->in[0]->grad + row_start(&k->l, r);
    const bool fresh = node->fresh != 0;
    for (int64_t j = 0; j < k->l.n; j++) dx[j * k->l.stride] = (fresh ? 0 : dx[j * k->l.stride]) + (ts_real)b.ds[j];
}

static void each_row(const ts_node *node, ts_item_fn *run) {
    const call k = {node, layout_of(node)};
    if (k.l.n > 0) ts_for_each(k.l.rows, k.l.rows * k.l.n * STEPS_PER_ELEMENT, run, &k);
}

static void forward(const ts_node *node) {
    each_row(node, forward_row);
}

static void backward(const ts_node *node) {
    const attributes *attr = node->attr;
    if (node->in[0]->grad == NULL) return;
    if (attr->spec.map->backward != NULL)
        each_row(node, backward_row);
    else if (node->fresh != 0)
        memset(node->in[0]->grad, 0, (size_t)ts_shape_size(&node->in[0]->shape) * sizeof(ts_real));
}

/* ---- cases --------------------------------------------------------------------------------------------------- */

#define ATTR(m, p, a)                                                               \
    &(const attributes) {                                                           \
        .spec = {.map = &ts_##m##_map, .parameter = p, .rng = {7, 8, 9}}, .axis = a \
    }
#define NO_MAP            \
    &(const attributes) { \
        .axis = 0         \
    }

static const ts_op_case cases[] = {
    {"softmax, last axis", 1, {TS_DIMS(3, 5)}, ATTR(softmax, 0, -1), 0, 0, 0, 0},
    {"softmax, first axis", 1, {TS_DIMS(5, 2, 3)}, ATTR(softmax, 0, 0), 0, 0, 0, 0},
    {"softmax, middle axis", 1, {TS_DIMS(2, 4, 3)}, ATTR(softmax, 0, 1), 0, 0, 0, 0},
    {"softmax, axis from the end", 1, {TS_DIMS(2, 3, 4, 2)}, ATTR(softmax, 0, -3), 0, 0, 0, 0},
    {"softmax of a vector", 1, {TS_DIMS(7)}, ATTR(softmax, 0, 0), 0, 0, 0, 0},
    {"softmax of single entries", 1, {TS_DIMS(4, 1)}, ATTR(softmax, 0, 1), 0, 0, 0, 0},
    {"softmax of a long row", 1, {TS_DIMS(2, 150)}, ATTR(softmax, 0, -1), 0, 0, 0, 0},
    {"hardmax", 1, {TS_DIMS(3, 5)}, ATTR(hardmax, 0, -1), 0, 0, 0, 0},
    {"argmax", 1, {TS_DIMS(3, 5)}, ATTR(argmax, 0, -1), 0, 0, 0, 0},
    {"sparsemax", 1, {TS_DIMS(4, 6)}, ATTR(sparsemax, 0, -1), 0, 0, 0, 0},
    {"sparsemax, middle axis", 1, {TS_DIMS(2, 5, 3)}, ATTR(sparsemax, 0, 1), 0, 0, 0, 0},
    {"sparsemax of single entries", 1, {TS_DIMS(4, 1)}, ATTR(sparsemax, 0, -1), 0, 0, 0, 0},
    {"normmax 1.01", 1, {TS_DIMS(3, 5)}, ATTR(normmax, 1.01, -1), -0.02, 0.02, 0, 0},
    {"normmax 1.5", 1, {TS_DIMS(3, 5)}, ATTR(normmax, 1.5, -1), 0, 0, 0, 0},
    {"normmax 2", 1, {TS_DIMS(3, 5)}, ATTR(normmax, 2, -1), 0, 0, 0, 0},
    /* For alpha > 2 derivatives are unbounded where an entry leaves the support; in this range of scores none does. */
    {"normmax 3, first axis", 1, {TS_DIMS(5, 4)}, ATTR(normmax, 3, 0), 0.01, 0.16, 0, 0},
    {"normmax 100", 1, {TS_DIMS(3, 5)}, ATTR(normmax, 100, -1), 0.01, 0.16, 0, 0},
    {"normmax of single entries", 1, {TS_DIMS(4, 1)}, ATTR(normmax, 1.5, -1), 0, 0, 0, 0},
    {"normmax-inf", 1, {TS_DIMS(3, 5)}, ATTR(normmax_inf, 0, -1), 0, 0, 0, 0},
    {"linear", 1, {TS_DIMS(3, 5)}, ATTR(linear, 0, -1), 0.1, 2, 0, 0},
    {"linear, first axis", 1, {TS_DIMS(3, 5)}, ATTR(linear, 0, -2), 0.1, 2, 0, 0},
    {"gumbel-softmax", 1, {TS_DIMS(3, 5)}, ATTR(gumbel_softmax, 0.7, -1), 0, 0, 0, 0},
    {"gumbel-softmax, first axis", 1, {TS_DIMS(3, 5)}, ATTR(gumbel_softmax, 2, 0), 0, 0, 0, 0},
    {"gumbel-hardmax", 1, {TS_DIMS(3, 5)}, ATTR(gumbel_hardmax, 0.7, -1), 0, 0, TS_CASE_SURROGATE, 0},
    {"top-m", 1, {TS_DIMS(3, 7)}, ATTR(top_m, 0.3, -1), 0, 0, 0, 0},
    {"top-m, first axis", 1, {TS_DIMS(10, 2)}, ATTR(top_m, 0.29, 0), 0, 0, 0, 0},
    {"entmax-1.5", 1, {TS_DIMS(4, 6)}, ATTR(entmax15, 0, -1), 0, 0, 0, 0},
    {"entmax-1.5, middle axis", 1, {TS_DIMS(2, 5, 3)}, ATTR(entmax15, 0, 1), 0, 0, 0, 0},
    {"power 1", 1, {TS_DIMS(3, 5)}, ATTR(power, 1, -1), 0.1, 2, 0, 0},
    {"power 2.5, first axis", 1, {TS_DIMS(5, 3)}, ATTR(power, 2.5, 0), 0.1, 2, 0, 0},
    {"fuzzy 1.5", 1, {TS_DIMS(3, 5)}, ATTR(fuzzy, 1.5, -1), -2, -0.1, 0, 0},
    {"fuzzy 2, first axis", 1, {TS_DIMS(5, 3)}, ATTR(fuzzy, 2, 0), -2, -0.1, 0, 0},
    {"fuzzy at distance zero", 1, {TS_DIMS(3, 5)}, ATTR(fuzzy, 2, -1), 0.1, 2, 0, 0},
    {"no rows", 1, {TS_DIMS(0, 3)}, ATTR(sparsemax, 0, -1), 0, 0, 0, 0},
    {"rows of nothing", 1, {TS_DIMS(3, 0)}, ATTR(gumbel_hardmax, 1, -1), 0, 0, 0, 0},
    {"axis too large", 1, {TS_DIMS(3, 5)}, ATTR(softmax, 0, 2), 0, 0, TS_CASE_REFUSED, 0},
    {"axis too negative", 1, {TS_DIMS(3, 5)}, ATTR(softmax, 0, -3), 0, 0, TS_CASE_REFUSED, 0},
    {"scalar", 1, {TS_NO_DIMS}, ATTR(softmax, 0, -1), 0, 0, TS_CASE_REFUSED, 0},
    {"alpha", 1, {TS_DIMS(3)}, ATTR(normmax, 1, -1), 0, 0, TS_CASE_REFUSED, 0},
    {"tau", 1, {TS_DIMS(3)}, ATTR(gumbel_softmax, 0, -1), 0, 0, TS_CASE_REFUSED, 0},
    {"trimmed share", 1, {TS_DIMS(3)}, ATTR(top_m, 1, -1), 0, 0, TS_CASE_REFUSED, 0},
    {"power", 1, {TS_DIMS(3)}, ATTR(power, 0.9, -1), 0, 0, TS_CASE_REFUSED, 0},
    {"fuzzifier", 1, {TS_DIMS(3)}, ATTR(fuzzy, 1, -1), 0, 0, TS_CASE_REFUSED, 0},
    {"no map", 1, {TS_DIMS(3)}, NO_MAP, 0, 0, TS_CASE_REFUSED, 0},
    {.label = NULL}};

const ts_op ts_op_simplex_map = {.name = "simplex_map",
                                 .min_in = 1,
                                 .max_in = 1,
                                 .assigns_in = 1,
                                 .attr_size = sizeof(attributes),
                                 .shape = shape,
                                 .scratch = scratch,
                                 .forward = forward,
                                 .backward = backward,
                                 .cases = cases};

ts_tensor *ts_simplex_apply(ts_tape *tape, ts_tensor *x, int axis, const ts_simplex_spec *spec) {
    if (spec == NULL) return ts_fail(tape, TS_ERROR_USAGE, "simplex_map: the spec is NULL");
    const attributes attr = {.spec = *spec, .axis = axis};
    return ts_apply(tape, &ts_op_simplex_map, &attr, 1, &x);
}

ts_tensor *ts_softmax(ts_tape *tape, ts_tensor *x, int axis) {
    return ts_simplex_apply(tape, x, axis, &(ts_simplex_spec){.map = &ts_softmax_map});
}

ts_tensor *ts_hardmax(ts_tape *tape, ts_tensor *x, int axis) {
    return ts_simplex_apply(tape, x, axis, &(ts_simplex_spec){.map = &ts_hardmax_map});
}

ts_tensor *ts_sparsemax(ts_tape *tape, ts_tensor *x, int axis) {
    return ts_simplex_apply(tape, x, axis, &(ts_simplex_spec){.map = &ts_sparsemax_map});
}

ts_tensor *ts_normmax(ts_tape *tape, ts_tensor *x, int axis, double alpha) {
    const ts_simplex *map = alpha == INFINITY ? &ts_normmax_inf_map : &ts_normmax_map;
    return ts_simplex_apply(tape, x, axis, &(ts_simplex_spec){.map = map, .parameter = alpha});
}

ts_tensor *ts_linear_normalise(ts_tape *tape, ts_tensor *x, int axis) {
    return ts_simplex_apply(tape, x, axis, &(ts_simplex_spec){.map = &ts_linear_map});
}

ts_tensor *ts_gumbel_softmax(ts_tape *tape, ts_tensor *x, int axis, double tau, bool hard, ts_rng rng) {
    const ts_simplex *map = hard ? &ts_gumbel_hardmax_map : &ts_gumbel_softmax_map;
    return ts_simplex_apply(tape, x, axis, &(ts_simplex_spec){.map = map, .parameter = tau, .rng = rng});
}
