/* S_ij = gamma q_i.k_j  or  -gamma ||q_i - k_j||^2;   P_i = simplex(S_i);   y_i = sum_j P_ij v_j
 *
 *     dv_j += sum_i P_ij dy_i          dP_ij = dy_i.v_j          dS_i = (dP_i/dS_i)^T dP_i
 *     dq_i += gamma sum_j dS_ij k_j                    dk_j += gamma sum_i dS_ij q_i                    (dot)
 *     dq_i -= 2 gamma sum_j dS_ij (q_i - k_j)          dk_j += 2 gamma sum_i dS_ij (q_i - k_j)          (euclidean)
 *
 * shared/attention_rows.c has scores, weights and the gradients from dS on; kernels/fast_attention.h is the fast path.
 */
#include <string.h>

#include "../kernels/fast_attention.h"
#include "shared/attention_rows.h"

enum { MASK = 3 }; /* its index among the inputs */

static ts_attention_rows rows_of(const ts_node *node) {
    return ts_attention_rows_of(node, MASK, ts_shape_cols(&node->in[2]->shape));
}

static ts_status shape(const ts_node *node, ts_shape *out) {
    const ts_shape *q = &node->in[0]->shape, *k = &node->in[1]->shape, *v = &node->in[2]->shape;
    const int r = q->rank;
    const ts_status status = ts_attention_check(node, MASK);
    if (status != TS_OK) return status;
    if (v->rank != r) return ts_refuse(node, TS_ERROR_SHAPE, "values must have the rank of queries and keys");
    for (int a = 0; a + 2 < r; a++)
        if (q->dim[a] != v->dim[a]) return ts_refuse(node, TS_ERROR_SHAPE, "leading axis %d differs", a);
    if (k->dim[r - 2] != v->dim[r - 2]) return ts_refuse(node, TS_ERROR_SHAPE, "keys and values differ in number");
    *out = *q;
    out->dim[r - 1] = v->dim[r - 1];
    return TS_OK;
}

/* ---- the fast path ------------------------------------------------------------------------------------------- */

static ts_fast_attention fast_of(const ts_node *node) {
    const ts_attention_rows a = rows_of(node);
    const bool backward = node->out->grad != NULL;
    return (ts_fast_attention){.batches = a.batches,
                               .n = a.n,
                               .m = a.m,
                               .e = a.e,
                               .f = a.f,
                               .map = a.spec->simplex.map->fast,
                               .euclidean = a.spec->score == TS_SCORE_EUCLIDEAN,
                               .gamma = a.spec->gamma,
                               .dropout = a.spec->dropout,
                               .rng = a.spec->dropout_rng,
                               .q = node->in[0]->data,
                               .k = node->in[1]->data,
                               .v = node->in[2]->data,
                               .mask = a.mask == NULL ? NULL : a.mask->data,
                               .y = node->out->data,
                               .stats = node->saved,
                               .wants_grad = a.wants_grad,
                               .dy = node->out->grad,
                               .dq = backward ? node->in[0]->grad : NULL,
                               .dk = backward ? node->in[1]->grad : NULL,
                               .dv = backward ? node->in[2]->grad : NULL,
                               .fresh = {node->fresh & 1u, node->fresh & 2u, node->fresh & 4u}};
}

static bool is_fast(const ts_node *node) {
    const ts_attention_spec *spec = node->attr;
    if (!spec->fast || spec->simplex.map->fast == TS_NO_FAST_MAP ||
        !ts_fast_attention_takes(spec->gamma, spec->dropout))
        return false;
    const ts_attention_rows a = rows_of(node);
    return a.batches > 0 && a.n > 0 && a.m > 0 && a.e > 0 && a.f > 0;
}

static size_t saved(const ts_node *node) {
    return is_fast(node) ? 2 * (size_t)ts_shape_rows(&node->out->shape) * sizeof(ts_real) : 0;
}

static size_t scratch(const ts_node *node) {
    const ts_attention_rows a = rows_of(node);
    if (!is_fast(node)) return ts_attention_scratch(&a);
    const ts_fast_attention fast = fast_of(node);
    return ts_fast_attention_scratch(&fast);
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* The factor of dropout on the weight of key j in row `at`: 0 when it is dropped. */
static double kept_share(const ts_attention_rows *a, int64_t at, int64_t j) {
    const ts_attention_spec *spec = a->spec;
    if (spec->dropout <= 0) return 1;
    if (spec->dropout >= 1) return 0;
    const bool dropped = ts_rng_uniform(spec->dropout_rng, (uint64_t)(at * a->m + j)) < spec->dropout;
    return dropped ? 0 : 1 / (1 - spec->dropout);
}

/* sum += weight * v */
TS_CLONES static void add_scaled(int64_t n, double weight, const ts_real *v, double *sum) {
    for (int64_t c = 0; c < n; c++) sum[c] += weight * (double)v[c];
}

static void forward_row(const ts_node *node, const ts_attention_rows *a, const ts_attention_workspace *w,
                        const ts_attention_row *row) {
    const ts_real *v = node->in[2]->data + row->at / a->n * a->m * a->f;
    ts_real *y = node->out->data + row->at * a->f;
    memset(w->sum, 0, (size_t)a->f * sizeof(double));
    for (int64_t l = 0; l < row->count; l++) {
        const int64_t j = ts_attention_key(w, l);
        if (w->weights[l] == 0) continue; /* a weight of 0 adds 0, whatever the value */
        const double share = kept_share(a, row->at, j);
        if (share != 0) add_scaled(a->f, share * w->weights[l], v + j * a->f, w->sum);
    }
    for (int64_t c = 0; c < a->f; c++) y[c] = (ts_real)(w->sum[c] / row->z);
}

static void forward_exact(const ts_node *node) {
    const ts_attention_rows a = rows_of(node);
    ts_attention_each_row(node, &a, a.batches * a.n * a.m * (a.e + a.f), forward_row);
}

static void forward(const ts_node *node) {
    if (!is_fast(node)) {
        forward_exact(node);
        return;
    }
    const ts_fast_attention fast = fast_of(node);
    ts_fast_attention_forward(&fast, node->scratch);
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

/* Adds to dv, and computes w->dp, the gradient of the weights before dropout. */
static void backward_values(const ts_node *node, const ts_attention_rows *a, const ts_attention_workspace *w,
                            const ts_attention_row *row) {
    const int64_t batch = row->at / a->n;
    const ts_real *v = node->in[2]->data + batch * a->m * a->f, *dy = node->out->grad + row->at * a->f;
    ts_real *dv = node->in[2]->grad == NULL ? NULL : node->in[2]->grad + batch * a->m * a->f;
    for (int64_t l = 0; l < row->count; l++) {
        const int64_t j = ts_attention_key(w, l);
        const double share = kept_share(a, row->at, j), p = share * w->weights[l] / row->z;
        double dp = 0;
        if (share != 0)
            for (int64_t c = 0; c < a->f; c++) dp += TS_IF_NONZERO(dy[c], (double)dy[c] * (double)v[j * a->f + c]);
        w->dp[l] = share * dp;
        if (dv != NULL && p != 0)
            for (int64_t c = 0; c < a->f; c++) dv[j * a->f + c] += (ts_real)TS_IF_NONZERO(dy[c], p * (double)dy[c]);
    }
}

static void backward_exact(const ts_node *node) {
    const ts_attention_rows a = rows_of(node);
    for (int i = 0; i < 3; i++)
        if (node->fresh >> i & 1u)
            memset(node->in[i]->grad, 0, (size_t)ts_shape_size(&node->in[i]->shape) * sizeof(ts_real));
    ts_attention_each_row_back(node, &a, backward_values);
}

static void backward(const ts_node *node) {
    if (!is_fast(node)) {
        backward_exact(node);
        return;
    }
    const ts_fast_attention fast = fast_of(node);
    ts_fast_attention_backward(&fast, node->scratch);
}

/* ---- cases --------------------------------------------------------------------------------------------------- */

#define SPEC(s, m, p, g, d)                                                                                     \
    &(const ts_attention_spec) {                                                                                \
        .score = TS_SCORE_##s, .simplex = {.map = &ts_##m##_map, .parameter = p, .rng = {7, 8, 9}}, .gamma = g, \
        .dropout = d, .dropout_rng = {                                                                          \
            1,                                                                                                  \
            2,                                                                                                  \
            3                                                                                                   \
        }                                                                                                       \
    }
#define FAST_MAP(s, m, g, d)                                                                                          \
    &(const ts_attention_spec) {                                                                                      \
        .score = TS_SCORE_##s, .simplex = {.map = &ts_##m##_map}, .gamma = g, .dropout = d, .dropout_rng = {1, 2, 3}, \
        .fast = true                                                                                                  \
    }
#define FAST(s, g, d) FAST_MAP(s, softmax, g, d)
#define QKV(n, m, e, f) \
    { TS_DIMS(2, n, e), TS_DIMS(2, m, e), TS_DIMS(2, m, f) }

static const ts_op_case cases[] = {
    {"dot softmax", 3, QKV(3, 4, 5, 2), SPEC(DOT, softmax, 0, 0.5, 0), 0, 0, 0, 0},
    {"euclidean softmax", 3, QKV(3, 4, 5, 2), SPEC(EUCLIDEAN, softmax, 0, 0.3, 0), 0, 0, 0, 0},
    {"euclidean sparsemax", 3, QKV(4, 6, 3, 2), SPEC(EUCLIDEAN, sparsemax, 0, 0.2, 0), 0, 0, 0, 0},
    {"dot normmax", 3, QKV(3, 5, 2, 2), SPEC(DOT, normmax, 2, 0.5, 0), 0, 0, 0, 0},
    {"euclidean entmax", 3, QKV(4, 6, 3, 2), SPEC(EUCLIDEAN, entmax15, 0, 0.3, 0), 0, 0, 0, 0},
    {"dot entmax", 3, QKV(3, 5, 2, 2), SPEC(DOT, entmax15, 0, 0.5, 0), 0, 0, 0, 0},
    {"euclidean fuzzy", 3, QKV(4, 5, 3, 2), SPEC(EUCLIDEAN, fuzzy, 2, 0.7, 0), 0, 0, 0, 0},
    {"euclidean fuzzy 1.3", 3, QKV(3, 4, 4, 2), SPEC(EUCLIDEAN, fuzzy, 1.3, 1, 0), 0, 0, 0, 0},
    {"dot power", 3, QKV(3, 5, 2, 4), SPEC(DOT, power, 2.5, 1, 0), 0.1, 2, 0, 0},
    {"euclidean top-m", 3, QKV(5, 7, 2, 2), SPEC(EUCLIDEAN, top_m, 0.3, 1, 0), 0, 0, 0, 0},
    {"dot linear", 3, QKV(3, 5, 2, 4), SPEC(DOT, linear, 0, 1, 0), 0.1, 2, 0, 0},
    {"euclidean hardmax", 3, QKV(5, 3, 2, 2), SPEC(EUCLIDEAN, hardmax, 0, 1, 0), 0, 0, 0, 0},
    {"gumbel", 3, QKV(3, 4, 2, 2), SPEC(DOT, gumbel_softmax, 0.7, 1, 0), 0, 0, 0, 0},
    {"straight through", 3, QKV(3, 4, 2, 2), SPEC(DOT, gumbel_hardmax, 0.7, 1, 0), 0, 0, TS_CASE_SURROGATE, 0},
    {"dropout", 3, QKV(3, 40, 5, 2), SPEC(EUCLIDEAN, softmax, 0, 0.3, 0.4), 0, 0, 0, 0},
    {"rank 2", 3, {TS_DIMS(17, 3), TS_DIMS(19, 3), TS_DIMS(19, 1)}, SPEC(DOT, softmax, 0, 1, 0), 0, 0, 0, 0},
    {"rank 4",
     3,
     {TS_DIMS(2, 2, 1, 3), TS_DIMS(2, 2, 2, 3), TS_DIMS(2, 2, 2, 2)},
     SPEC(DOT, softmax, 0, 1, 0),
     0,
     0,
     0,
     0},
    {"no keys", 3, QKV(3, 0, 2, 2), SPEC(DOT, softmax, 0, 1, 0), 0, 0, 0, 0},
    {"mask of ones",
     4,
     {TS_DIMS(3, 2), TS_DIMS(4, 2), TS_DIMS(4, 2), TS_DIMS(3, 4)},
     SPEC(DOT, softmax, 0, 1, 0),
     0.5,
     2,
     0,
     0},
    {"fast dot", 3, QKV(3, 4, 5, 2), FAST(DOT, 0.5, 0), 0, 0, 0, 0},
    {"fast euclidean", 3, QKV(3, 4, 5, 2), FAST(EUCLIDEAN, 0.3, 0), 0, 0, 0, 0},
    {"fast, one of each", 3, QKV(1, 1, 1, 1), FAST(EUCLIDEAN, 1, 0), 0, 0, 0, 0},
    {"fast, equal shapes", 3, QKV(9, 9, 3, 3), FAST(EUCLIDEAN, 0.3, 0), 0, 0, 0, 0},
    {"fast, many rows", 3, QKV(53, 3, 2, 3), FAST(EUCLIDEAN, 0.3, 0), 0, 0, 0, 0},
    {"fast, many keys", 3, QKV(2, 141, 3, 2), FAST(DOT, 1, 0), 0, 0, 0, 0},
    {"fast, wide", 3, QKV(2, 3, 33, 19), FAST(EUCLIDEAN, 0.05, 0), 0, 0, 0, 0},
    {"fast dropout", 3, QKV(3, 40, 5, 2), FAST(EUCLIDEAN, 0.3, 0.4), 0, 0, 0, 0},
    {"fast dot dropout", 3, QKV(17, 9, 3, 4), FAST(DOT, 0.3, 0.1), 0, 0, 0, 0},
    {"fast with a mask",
     4,
     {TS_DIMS(3, 2), TS_DIMS(4, 2), TS_DIMS(4, 2), TS_DIMS(3, 4)},
     FAST(DOT, 1, 0),
     0.5,
     2,
     0,
     0},
    {"fast, no keys", 3, QKV(3, 0, 2, 2), FAST(DOT, 1, 0), 0, 0, 0, 0},
    {"fast dot sparsemax", 3, QKV(3, 5, 2, 2), FAST_MAP(DOT, sparsemax, 0.5, 0), 0, 0, 0, 0},
    {"fast euclidean sparsemax", 3, QKV(17, 6, 3, 2), FAST_MAP(EUCLIDEAN, sparsemax, 0.2, 0), 0, 0, 0, 0},
    {"fast sparsemax, many keys", 3, QKV(2, 141, 3, 2), FAST_MAP(EUCLIDEAN, sparsemax, 0.1, 0), 0, 0, 0, 0},
    {"fast sparsemax dropout", 3, QKV(3, 40, 5, 2), FAST_MAP(DOT, sparsemax, 0.1, 0.4), 0, 0, 0, 0},
    {"fast dot hardmax", 3, QKV(17, 5, 3, 2), FAST_MAP(DOT, hardmax, 1, 0), 0, 0, 0, 0},
    {"fast euclidean hardmax", 3, QKV(5, 70, 2, 2), FAST_MAP(EUCLIDEAN, hardmax, 1, 0.2), 0, 0, 0, 0},
    {"fast dot linear", 3, QKV(3, 5, 2, 4), FAST_MAP(DOT, linear, 1, 0), 0.1, 2, 0, 0},
    {"fast euclidean linear", 3, QKV(17, 70, 3, 2), FAST_MAP(EUCLIDEAN, linear, 0.3, 0), 0, 0, 0, 0},
    {"fast linear dropout", 3, QKV(3, 40, 5, 2), FAST_MAP(DOT, linear, 0.3, 0.4), 0.1, 2, 0, 0},
    {"fast sparsemax with a mask",
     4,
     {TS_DIMS(3, 2), TS_DIMS(4, 2), TS_DIMS(4, 2), TS_DIMS(3, 4)},
     FAST_MAP(EUCLIDEAN, sparsemax, 0.5, 0),
     0.5,
     2,
     0,
     0},
    {"widths differ",
     3,
     {TS_DIMS(3, 2), TS_DIMS(4, 3), TS_DIMS(4, 2)},
     SPEC(DOT, softmax, 0, 1, 0),
     0,
     0,
     TS_CASE_REFUSED,
     0},
    {"numbers differ",
     3,
     {TS_DIMS(3, 2), TS_DIMS(4, 2), TS_DIMS(5, 2)},
     SPEC(DOT, softmax, 0, 1, 0),
     0,
     0,
     TS_CASE_REFUSED,
     0},
    {"batches differ",
     3,
     {TS_DIMS(2, 3, 2), TS_DIMS(3, 4, 2), TS_DIMS(3, 4, 2)},
     SPEC(DOT, softmax, 0, 1, 0),
     0,
     0,
     TS_CASE_REFUSED,
     0},
    {"mask's shape",
     4,
     {TS_DIMS(3, 2), TS_DIMS(4, 2), TS_DIMS(4, 2), TS_DIMS(4, 3)},
     SPEC(DOT, softmax, 0, 1, 0),
     0,
     0,
     TS_CASE_REFUSED,
     0},
    {"gamma", 3, QKV(3, 4, 2, 2), SPEC(DOT, softmax, 0, -1, 0), 0, 0, TS_CASE_REFUSED, 0},
    {"alpha", 3, QKV(3, 4, 2, 2), SPEC(DOT, normmax, 1, 1, 0), 0, 0, TS_CASE_REFUSED, 0},
    {"fuzzifier", 3, QKV(3, 4, 2, 2), SPEC(EUCLIDEAN, fuzzy, 1, 1, 0), 0, 0, TS_CASE_REFUSED, 0},
    {"power", 3, QKV(3, 4, 2, 2), SPEC(DOT, power, 0.5, 1, 0), 0, 0, TS_CASE_REFUSED, 0},
    {"trimmed share", 3, QKV(3, 4, 2, 2), SPEC(DOT, top_m, 1, 1, 0), 0, 0, TS_CASE_REFUSED, 0},
    {"values' rank",
     3,
     {TS_DIMS(3, 2), TS_DIMS(4, 2), TS_DIMS(1, 4, 2)},
     SPEC(DOT, softmax, 0, 1, 0),
     0,
     0,
     TS_CASE_REFUSED,
     0},
    {"probability", 3, QKV(3, 4, 2, 2), SPEC(DOT, softmax, 0, 1, 1.5), 0, 0, TS_CASE_REFUSED, 0},
    {.label = NULL}};

const ts_op ts_op_attention = {.name = "attention",
                               .min_in = 3,
                               .max_in = 4,
                               .attr_size = sizeof(ts_attention_spec),
                               .constant_in = 1u << MASK,
                               .assigns_in = 7,
                               .shape = shape,
                               .saved = saved,
                               .scratch = scratch,
                               .forward = forward,
                               .backward = backward,
                               .cases = cases};

ts_tensor *ts_attention(ts_tape *tape, ts_tensor *q, ts_tensor *k, ts_tensor *v, ts_tensor *mask,
                        const ts_attention_spec *spec) {
    return ts_apply(tape, &ts_op_attention, spec, mask == NULL ? 3 : 4, (ts_tensor *[]){q, k, v, mask});
}
