/* P_i = simplex(S_i),  S_ij = gamma q_i.k_j  or  -gamma ||q_i - k_j||^2: the weights of attention, before dropout
 *
 *     dS_i = (dP_i/dS_i)^T dP_i        dq, dk from dS as in attention.c
 *
 * The rows are those of attention (shared/attention_rows.c), divided by their normalisers and rounded once. */
#include <string.h>

#include "shared/attention_rows.h"

enum { MASK = 2 }; /* its index among the inputs */

static ts_status shape(const ts_node *node, ts_shape *out) {
    const ts_shape *q = &node->in[0]->shape, *k = &node->in[1]->shape;
    const ts_status status = ts_attention_check(node, MASK);
    if (status != TS_OK) return status;
    *out = *q;
    out->dim[q->rank - 1] = k->dim[k->rank - 2];
    return TS_OK;
}

static size_t scratch(const ts_node *node) {
    const ts_attention_rows a = ts_attention_rows_of(node, MASK, 0);
    return ts_attention_scratch(&a);
}

static void forward_row(const ts_node *node, const ts_attention_rows *a, const ts_attention_workspace *w,
                        const ts_attention_row *row) {
    ts_real *p = node->out->data + row->at * a->m;
    if (row->count < a->m) memset(p, 0, (size_t)a->m * sizeof *p);
    for (int64_t l = 0; l < row->count; l++) p[ts_attention_key(w, l)] = (ts_real)(w->weights[l] / row->z);
}

static void forward(const ts_node *node) {
    const ts_attention_rows a = ts_attention_rows_of(node, MASK, 0);
    ts_attention_each_row(node, &a, a.batches * a.n * a.m * (a.e + 1), forward_row);
}

static void backward_row(const ts_node *node, const ts_attention_rows *a, const ts_attention_workspace *w,
                         const ts_attention_row *row) {
    const ts_real *dp = node->out->grad + row->at * a->m;
    for (int64_t l = 0; l < row->count; l++) w->dp[l] = (double)dp[ts_attention_key(w, l)];
}

static void backward(const ts_node *node) {
    const ts_attention_rows a = ts_attention_rows_of(node, MASK, 0);
    if (a.spec->simplex.map->backward != NULL) ts_attention_each_row_back(node, &a, backward_row);
}

/* ---- cases --------------------------------------------------------------------------------------------------- */

#define SPEC(s, m, p, g)                                                                                       \
    &(const ts_attention_spec) {                                                                               \
        .score = TS_SCORE_##s, .simplex = {.map = &ts_##m##_map, .parameter = p, .rng = {7, 8, 9}}, .gamma = g \
    }
#define QK(n, m, e) \
    { TS_DIMS(2, n, e), TS_DIMS(2, m, e) }
#define QK_MASK(n, m, e, rows, columns) \
    { TS_DIMS(2, n, e), TS_DIMS(2, m, e), TS_DIMS(2, rows, columns) }

static const ts_op_case cases[] = {
    {"dot softmax", 2, QK(3, 4, 5), SPEC(DOT, softmax, 0, 0.5), 0, 0, 0, 0},
    {"euclidean softmax", 2, QK(3, 4, 5), SPEC(EUCLIDEAN, softmax, 0, 0.3), 0, 0, 0, 0},
    {"euclidean sparsemax", 2, QK(4, 6, 3), SPEC(EUCLIDEAN, sparsemax, 0, 0.2), 0, 0, 0, 0},
    {"euclidean entmax", 2, QK(4, 6, 3), SPEC(EUCLIDEAN, entmax15, 0, 0.3), 0, 0, 0, 0},
    {"euclidean fuzzy", 2, QK(4, 5, 3), SPEC(EUCLIDEAN, fuzzy, 2, 0.7), 0, 0, 0, 0},
    {"dot power", 2, QK(3, 5, 2), SPEC(DOT, power, 2, 1), 0.1, 2, 0, 0},
    {"dot linear", 2, QK(3, 5, 2), SPEC(DOT, linear, 0, 1), 0.1, 2, 0, 0},
    {"euclidean hardmax", 2, QK(5, 3, 2), SPEC(EUCLIDEAN, hardmax, 0, 1), 0, 0, 0, 0},
    {"euclidean top-m", 2, QK(5, 7, 2), SPEC(EUCLIDEAN, top_m, 0.3, 1), 0, 0, 0, 0},
    {"gumbel", 2, QK(3, 4, 2), SPEC(DOT, gumbel_softmax, 0.7, 1), 0, 0, 0, 0},
    {"straight through", 2, QK(3, 4, 2), SPEC(DOT, gumbel_hardmax, 0.7, 1), 0, 0, TS_CASE_SURROGATE, 0},
    {"rank 2", 2, {TS_DIMS(17, 3), TS_DIMS(19, 3)}, SPEC(DOT, softmax, 0, 1), 0, 0, 0, 0},
    {"rank 4", 2, {TS_DIMS(2, 2, 2, 3), TS_DIMS(2, 2, 2, 3)}, SPEC(DOT, softmax, 0, 1), 0, 0, 0, 0},
    {"no keys", 2, QK(3, 0, 2), SPEC(DOT, softmax, 0, 1), 0, 0, 0, 0},
    {"no queries", 2, QK(0, 3, 2), SPEC(DOT, softmax, 0, 1), 0, 0, 0, 0},
    {"mask of ones", 3, QK_MASK(3, 4, 2, 3, 4), SPEC(EUCLIDEAN, softmax, 0, 1), 0.5, 2, 0, 0},
    {"a vector", 2, {TS_DIMS(3), TS_DIMS(3)}, SPEC(DOT, softmax, 0, 1), 0, 0, TS_CASE_REFUSED, 0},
    {"ranks differ", 2, {TS_DIMS(3, 2), TS_DIMS(1, 3, 2)}, SPEC(DOT, softmax, 0, 1), 0, 0, TS_CASE_REFUSED, 0},
    {"widths differ", 2, {TS_DIMS(3, 2), TS_DIMS(4, 3)}, SPEC(DOT, softmax, 0, 1), 0, 0, TS_CASE_REFUSED, 0},
    {"batches differ", 2, {TS_DIMS(2, 3, 2), TS_DIMS(3, 4, 2)}, SPEC(DOT, softmax, 0, 1), 0, 0, TS_CASE_REFUSED, 0},
    {"mask's shape", 3, QK_MASK(3, 4, 2, 4, 3), SPEC(DOT, softmax, 0, 1), 0, 0, TS_CASE_REFUSED, 0},
    {"gamma", 2, QK(3, 4, 2), SPEC(DOT, softmax, 0, 0), 0, 0, TS_CASE_REFUSED, 0},
    {"alpha", 2, QK(3, 4, 2), SPEC(DOT, normmax, 1, 1), 0, 0, TS_CASE_REFUSED, 0},
    {.label = NULL}};

const ts_op ts_op_attention_weights = {.name = "attention_weights",
                                       .min_in = 2,
                                       .max_in = 3,
                                       .attr_size = sizeof(ts_attention_spec),
                                       .constant_in = 1u << MASK,
                                       .shape = shape,
                                       .scratch = scratch,
                                       .forward = forward,
                                       .backward = backward,
                                       .cases = cases};

ts_tensor *ts_attention_weights(ts_tape *tape, ts_tensor *q, ts_tensor *k, ts_tensor *mask,
                                const ts_attention_spec *spec) {
    return ts_apply(tape, &ts_op_attention_weights, spec, mask == NULL ? 2 : 3, (ts_tensor *[]){q, k, mask});
}
