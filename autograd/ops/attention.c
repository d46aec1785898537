/* S_ij = gamma q_i.k_j  or  -gamma ||q_i - k_j||^2;   P_i = simplex(S_i);   y_i = sum_j P_ij v_j
 *
 *     dv_j += sum_i P_ij dy_i          dP_ij = dy_i.v_j          dS_i = (dP_i/dS_i)^T dP_i
 *     dq_i += gamma sum_j dS_ij k_j                    dk_j += gamma sum_i dS_ij q_i                    (dot)
 *     dq_i -= 2 gamma sum_j dS_ij (q_i - k_j)          dk_j += 2 gamma sum_i dS_ij (q_i - k_j)          (euclidean)
 *
 * This is the plain form, exact before fast: rows of scores in double, each product summed in index order, so that the
 * hard maps decide near ties as an algorithm written by hand would. A strip of rows is in memory at a time. */
#include <string.h>

#include "../kernels/parallel.h"
#include "../ops.h"

enum { PANEL = 16, STRIP_ROWS = 64, STRIP_SCORES = 1 << 21 };

typedef struct sizes {
    int64_t batches, n, m, e, f; /* q [batches,n,e], k [batches,m,e], v [batches,m,f] */
    int64_t strip, strips;       /* rows in memory at a time, and how many strips cover n */
} sizes;

/* One thread's workspace. */
typedef struct workspace {
    double *scores;  /* [strip, m] */
    double *weights; /* [m] */
    double *work;    /* [work_rows, m] */
    double *sum;     /* [max(e, f)] */
    double *panel;   /* [e, PANEL] */
    double *left;    /* [m] the scores that the mask leaves, and */
    int64_t *index;  /* [m] the keys they belong to; both only with a mask */
    double *dp, *ds; /* [m] only when a gradient may be asked */
} workspace;

static sizes sizes_of(const ts_node *node) {
    const ts_shape *q = &node->in[0]->shape, *v = &node->in[2]->shape;
    sizes z = {.batches = 1, .n = q->dim[q->rank - 2], .m = v->dim[v->rank - 2], .e = ts_cols(q), .f = ts_cols(v)};
    for (int a = 0; a + 2 < q->rank; a++) z.batches *= q->dim[a];
    z.strip = z.m == 0 ? STRIP_ROWS : STRIP_SCORES / z.m;
    /* Few queries are cut into strips all the same: threads share them. */
    if (z.strip > (z.n + 7) / 8) z.strip = (z.n + 7) / 8;
    if (z.strip < 1) z.strip = 1;
    if (z.strip > STRIP_ROWS) z.strip = STRIP_ROWS;
    z.strips = (z.n + z.strip - 1) / z.strip;
    return z;
}

static bool has_mask(const ts_node *node) {
    return node->n_in == 4;
}

static size_t workspace_doubles(const ts_node *node, const sizes *z) {
    const ts_attention_spec *spec = node->attr;
    const int64_t rows =
        z->strip + 1 + spec->simplex.map->work_rows + (has_mask(node) ? 2 : 0) + (node->out->wants_grad ? 2 : 0);
    return (size_t)(rows * z->m + (z->e > z->f ? z->e : z->f) + z->e * PANEL);
}

static size_t scratch(const ts_node *node) {
    const sizes z = sizes_of(node);
    return workspace_doubles(node, &z) * sizeof(double) * (size_t)ts_max_threads();
}

static workspace workspace_of(const ts_node *node, const sizes *z) {
    const ts_attention_spec *spec = node->attr;
    workspace w = {.scores = (double *)node->scratch + workspace_doubles(node, z) * (size_t)ts_thread()};
    w.weights = w.scores + z->strip * z->m;
    w.work = w.weights + z->m;
    w.sum = w.work + spec->simplex.map->work_rows * z->m;
    w.panel = w.sum + (z->e > z->f ? z->e : z->f);
    double *end = w.panel + z->e * PANEL;
    if (has_mask(node)) {
        w.left = end;
        w.index = (int64_t *)(end + z->m);
        end += 2 * z->m;
    }
    if (node->out->wants_grad) w.dp = end, w.ds = end + z->m;
    return w;
}

/* ---- shape --------------------------------------------------------------------------------------------------- */

static ts_status check_spec(const ts_node *node) {
    const ts_attention_spec *spec = node->attr;
    ts_error error = {.status = TS_OK};
    if (spec->simplex.map == NULL) return ts_refuse(node, TS_ERROR_VALUE, "no simplex map is given");
    if (ts_simplex_check(&spec->simplex, &error) != TS_OK) return ts_refuse(node, error.status, "%s", error.text);
    if (!(spec->gamma > 0) || spec->gamma > 1e300)
        return ts_refuse(node, TS_ERROR_VALUE, "gamma must be positive and finite, not %g", spec->gamma);
    if (!(spec->dropout >= 0 && spec->dropout <= 1))
        return ts_refuse(node, TS_ERROR_VALUE, "dropout must be in [0,1], not %g", spec->dropout);
    return TS_OK;
}

static ts_status shape(const ts_node *node, ts_shape *out) {
    const ts_shape *q = &node->in[0]->shape, *k = &node->in[1]->shape, *v = &node->in[2]->shape;
    const int r = q->rank;
    if (r < 2 || k->rank != r || v->rank != r)
        return ts_refuse(node, TS_ERROR_SHAPE, "queries, keys and values must have one rank of at least 2");
    for (int a = 0; a + 2 < r; a++)
        if (q->dim[a] != k->dim[a] || q->dim[a] != v->dim[a])
            return ts_refuse(node, TS_ERROR_SHAPE, "leading axis %d differs", a);
    if (q->dim[r - 1] != k->dim[r - 1]) return ts_refuse(node, TS_ERROR_SHAPE, "queries and keys differ in width");
    if (k->dim[r - 2] != v->dim[r - 2]) return ts_refuse(node, TS_ERROR_SHAPE, "keys and values differ in number");
    if (node->n_in == 4) {
        ts_shape mask = *q;
        mask.dim[r - 1] = k->dim[r - 2];
        if (!ts_shape_equal(&mask, &node->in[3]->shape))
            return ts_refuse(node, TS_ERROR_SHAPE, "the mask must hold one entry for each query and key");
    }
    *out = *q;
    out->dim[r - 1] = v->dim[r - 1];
    return check_spec(node);
}

/* ---- rows of scores and weights ---------------------------------------------------------------------------------- */

/* scores[r, column + l] for the keys l of one panel; every sum runs over the coordinates in order. */
TS_CLONES static void score_panel(ts_score score, double gamma, int64_t rows, int64_t e, const ts_real *q,
                                  const double *panel, int64_t width, double *scores, int64_t stride) {
    for (int64_t r = 0; r < rows; r++) {
        double sum[PANEL] = {0};
        for (int64_t c = 0; c < e; c++) {
            const double x = (double)q[r * e + c];
            const double *key = panel + c * PANEL;
            if (score == TS_SCORE_EUCLIDEAN)
                for (int l = 0; l < PANEL; l++) sum[l] += (x - key[l]) * (x - key[l]);
            else
                for (int l = 0; l < PANEL; l++) sum[l] += x * key[l];
        }
        for (int64_t l = 0; l < width; l++)
            scores[r * stride + l] = score == TS_SCORE_EUCLIDEAN ? -gamma * sum[l] : gamma * sum[l];
    }
}

static void score_strip(const ts_node *node, const sizes *z, const workspace *w, int64_t batch, int64_t first,
                        int64_t rows) {
    const ts_attention_spec *spec = node->attr;
    const ts_real *q = node->in[0]->data + (batch * z->n + first) * z->e, *k = node->in[1]->data + batch * z->m * z->e;
    for (int64_t j = 0; j < z->m; j += PANEL) {
        const int64_t width = z->m - j < PANEL ? z->m - j : PANEL;
        for (int64_t c = 0; c < z->e; c++)
            for (int64_t l = 0; l < PANEL; l++) w->panel[c * PANEL + l] = l < width ? (double)k[(j + l) * z->e + c] : 0;
        score_panel(spec->score, spec->gamma, rows, z->e, q, w->panel, width, w->scores + j, z->m);
    }
}

/* A row of attention: its l-th key, of `count`, is key_of(w, l) and has the weight weights[l]/z. */
typedef struct attention_row {
    int64_t at; /* batch * n + i */
    int64_t count;
    const double *scores;
    double z;
    ts_simplex_row simplex;
} attention_row;

static inline int64_t key_of(const workspace *w, int64_t l) {
    return w->index == NULL ? l : w->index[l];
}

static int64_t keep_unmasked(const workspace *w, int64_t m, const ts_real *mask, const double *scores) {
    int64_t count = 0;
    for (int64_t j = 0; j < m; j++)
        if (mask[j] != 0) {
            w->index[count] = j;
            w->left[count++] = scores[j];
        }
    return count;
}

static attention_row weigh_row(const ts_node *node, const sizes *z, const workspace *w, int64_t at,
                               const double *scores) {
    const ts_attention_spec *spec = node->attr;
    attention_row row = {.at = at, .count = z->m, .scores = scores, .z = 1};
    if (has_mask(node)) {
        row.count = keep_unmasked(w, z->m, node->in[3]->data + at * z->m, scores);
        row.scores = w->left;
    }
    row.simplex = (ts_simplex_row){.parameter = spec->simplex.parameter,
                                   .rng = spec->simplex.rng,
                                   .first = (uint64_t)(at * z->m),
                                   .n = row.count,
                                   .work = w->work};
    if (row.count > 0) row.z = spec->simplex.map->forward(&row.simplex, row.scores, w->weights);
    return row;
}

/* What the weight of key j in row `at` is multiplied by: 0 when it is dropped. */
static double kept_share(const ts_attention_spec *spec, const sizes *z, int64_t at, int64_t j) {
    if (spec->dropout <= 0) return 1;
    if (spec->dropout >= 1) return 0;
    const bool dropped = ts_rng_uniform(spec->dropout_rng, (uint64_t)(at * z->m + j)) < spec->dropout;
    return dropped ? 0 : 1 / (1 - spec->dropout);
}

/* sum += weight * v */
TS_CLONES static void add_scaled(int64_t n, double weight, const ts_real *v, double *sum) {
    for (int64_t c = 0; c < n; c++) sum[c] += weight * (double)v[c];
}

static void forward_row(const ts_node *node, const sizes *z, const workspace *w, const attention_row *row) {
    const ts_attention_spec *spec = node->attr;
    const ts_real *v = node->in[2]->data + row->at / z->n * z->m * z->f;
    ts_real *y = node->out->data + row->at * z->f;
    memset(w->sum, 0, (size_t)z->f * sizeof(double));
    for (int64_t l = 0; l < row->count; l++) {
        const int64_t j = key_of(w, l);
        if (w->weights[l] == 0) continue; /* excluded keys add nothing, whatever their values */
        const double share = kept_share(spec, z, row->at, j);
        if (share != 0) add_scaled(z->f, share * w->weights[l], v + j * z->f, w->sum);
    }
    for (int64_t c = 0; c < z->f; c++) y[c] = (ts_real)(w->sum[c] / row->z);
}

static void forward(const ts_node *node) {
    const sizes z = sizes_of(node);
    const int64_t work = z.batches * z.n * z.m * (z.e + z.f);
#pragma omp parallel for schedule(dynamic) if (work > TS_PARALLEL_CUTOFF)
    for (int64_t item = 0; item < z.batches * z.strips; item++) {
        const workspace w = workspace_of(node, &z);
        const int64_t batch = item / z.strips, first = item % z.strips * z.strip;
        const int64_t rows = z.n - first < z.strip ? z.n - first : z.strip;
        score_strip(node, &z, &w, batch, first, rows);
        for (int64_t r = 0; r < rows; r++) {
            const attention_row row = weigh_row(node, &z, &w, batch * z.n + first + r, w.scores + r * z.m);
            forward_row(node, &z, &w, &row);
        }
    }
}

/* ---- backward ------------------------------------------------------------------------------------------------ */

/* dv, and dp: the gradient of the weights before dropout. */
static void backward_values(const ts_node *node, const sizes *z, const workspace *w, const attention_row *row) {
    const ts_attention_spec *spec = node->attr;
    const int64_t batch = row->at / z->n;
    const ts_real *v = node->in[2]->data + batch * z->m * z->f, *dy = node->out->grad + row->at * z->f;
    ts_real *dv = node->in[2]->grad == NULL ? NULL : node->in[2]->grad + batch * z->m * z->f;
    for (int64_t l = 0; l < row->count; l++) {
        const int64_t j = key_of(w, l);
        const double share = kept_share(spec, z, row->at, j), p = share * w->weights[l] / row->z;
        double dp = 0;
        if (share != 0)
            for (int64_t c = 0; c < z->f; c++) dp += (double)dy[c] * (double)v[j * z->f + c];
        w->dp[l] = share * dp;
        if (dv != NULL && p != 0)
            for (int64_t c = 0; c < z->f; c++) dv[j * z->f + c] += (ts_real)(p * (double)dy[c]);
    }
}

static void backward_scores(const ts_node *node, const sizes *z, const workspace *w, const attention_row *row) {
    const ts_attention_spec *spec = node->attr;
    const int64_t batch = row->at / z->n;
    const ts_real *q = node->in[0]->data + row->at * z->e, *k = node->in[1]->data + batch * z->m * z->e;
    ts_real *dq = node->in[0]->grad == NULL ? NULL : node->in[0]->grad + row->at * z->e;
    ts_real *dk = node->in[1]->grad == NULL ? NULL : node->in[1]->grad + batch * z->m * z->e;
    memset(w->sum, 0, (size_t)z->e * sizeof(double));
    for (int64_t l = 0; l < row->count; l++) {
        const int64_t j = key_of(w, l);
        const double ds = w->ds[l] * spec->gamma;
        if (ds == 0) continue;
        for (int64_t c = 0; c < z->e; c++) {
            const double x = (double)q[c], y = (double)k[j * z->e + c];
            const bool dot = spec->score == TS_SCORE_DOT;
            w->sum[c] += ds * (dot ? y : 2 * (y - x));
            if (dk != NULL) dk[j * z->e + c] += (ts_real)(ds * (dot ? x : 2 * (x - y)));
        }
    }
    if (dq != NULL)
        for (int64_t c = 0; c < z->e; c++) dq[c] += (ts_real)w->sum[c];
}

/* Keys and values are shared by the rows of a batch, so a batch is one thread's. */
static void backward_batch(const ts_node *node, const sizes *z, const workspace *w, int64_t batch) {
    const ts_attention_spec *spec = node->attr;
    for (int64_t first = 0; first < z->n; first += z->strip) {
        const int64_t rows = z->n - first < z->strip ? z->n - first : z->strip;
        score_strip(node, z, w, batch, first, rows);
        for (int64_t r = 0; r < rows; r++) {
            const attention_row row = weigh_row(node, z, w, batch * z->n + first + r, w->scores + r * z->m);
            if (row.count == 0) continue;
            backward_values(node, z, w, &row);
            if (spec->simplex.map->backward == NULL || (node->in[0]->grad == NULL && node->in[1]->grad == NULL))
                continue;
            spec->simplex.map->backward(&row.simplex, row.scores, w->weights, row.z, w->dp, w->ds);
            backward_scores(node, z, w, &row);
        }
    }
}

static void backward(const ts_node *node) {
    const sizes z = sizes_of(node);
#pragma omp parallel for schedule(dynamic) if (z.batches > 1)
    for (int64_t batch = 0; batch < z.batches; batch++) {
        const workspace w = workspace_of(node, &z);
        backward_batch(node, &z, &w, batch);
    }
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
#define QKV(n, m, e, f) \
    { TS_DIMS(2, n, e), TS_DIMS(2, m, e), TS_DIMS(2, m, f) }

static const ts_op_case cases[] = {
    {"dot softmax", 3, QKV(3, 4, 5, 2), SPEC(DOT, softmax, 0, 0.5, 0), 0, 0, 0, 0},
    {"euclidean softmax", 3, QKV(3, 4, 5, 2), SPEC(EUCLIDEAN, softmax, 0, 0.3, 0), 0, 0, 0, 0},
    {"euclidean sparsemax", 3, QKV(4, 6, 3, 2), SPEC(EUCLIDEAN, sparsemax, 0, 0.2, 0), 0, 0, 0, 0},
    {"dot normmax", 3, QKV(3, 5, 2, 2), SPEC(DOT, normmax, 2, 0.5, 0), 0, 0, 0, 0},
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
    {"probability", 3, QKV(3, 4, 2, 2), SPEC(DOT, softmax, 0, 1, 1.5), 0, 0, TS_CASE_REFUSED, 0},
    {.label = NULL}};

const ts_op ts_op_attention = {.name = "attention",
                               .min_in = 3,
                               .max_in = 4,
                               .attr_size = sizeof(ts_attention_spec),
                               .constant_in = 1u << 3,
                               .shape = shape,
                               .scratch = scratch,
                               .forward = forward,
                               .backward = backward,
                               .cases = cases};

ts_tensor *ts_attention(ts_tape *tape, ts_tensor *q, ts_tensor *k, ts_tensor *v, ts_tensor *mask,
                        const ts_attention_spec *spec) {
    return ts_apply(tape, &ts_op_attention, spec, mask == NULL ? 3 : 4, (ts_tensor *[]){q, k, v, mask});
}
