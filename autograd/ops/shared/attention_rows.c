/* attention_rows.c: scores, weights and their gradients, by strips of rows (attention_rows.h). */
#include "attention_rows.h"

#include <string.h>

enum { PANEL = 16, STRIP_ROWS = 64, STRIP_SCORES = 1 << 21 };

/* ---- shapes, sizes, workspace ------------------------------------------------------------------------------------ */

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

ts_status ts_attention_check(const ts_node *node, int mask) {
    const ts_shape *q = &node->in[0]->shape, *k = &node->in[1]->shape;
    const int r = q->rank;
    if (r < 2 || k->rank != r)
        return ts_refuse(node, TS_ERROR_SHAPE, "queries and keys must have one rank of at least 2");
    for (int a = 0; a + 2 < r; a++)
        if (q->dim[a] != k->dim[a]) return ts_refuse(node, TS_ERROR_SHAPE, "leading axis %d differs", a);
    if (q->dim[r - 1] != k->dim[r - 1]) return ts_refuse(node, TS_ERROR_SHAPE, "queries and keys differ in width");
    if (node->n_in > mask) {
        ts_shape right = *q;
        right.dim[r - 1] = k->dim[r - 2];
        if (!ts_shape_equal(&right, &node->in[mask]->shape))
            return ts_refuse(node, TS_ERROR_SHAPE, "the mask must hold one entry for each query and key");
    }
    return check_spec(node);
}

ts_attention_rows ts_attention_rows_of(const ts_node *node, int mask, int64_t f) {
    const ts_shape *q = &node->in[0]->shape, *k = &node->in[1]->shape;
    ts_attention_rows a = {.spec = node->attr,
                           .q = node->in[0],
                           .k = node->in[1],
                           .mask = node->n_in > mask ? node->in[mask] : NULL,
                           .wants_grad = node->out->wants_grad,
                           .batches = 1,
                           .n = q->dim[q->rank - 2],
                           .m = k->dim[k->rank - 2],
                           .e = ts_shape_cols(q),
                           .f = f};
    for (int i = 0; i + 2 < q->rank; i++) a.batches *= q->dim[i];
    a.strip = a.m == 0 ? STRIP_ROWS : STRIP_SCORES / a.m;
    /* Few queries are also cut into about 8 strips, which threads divide. */
    if (a.strip > (a.n + 7) / 8) a.strip = (a.n + 7) / 8;
    if (a.strip < 1) a.strip = 1;
    if (a.strip > STRIP_ROWS) a.strip = STRIP_ROWS;
    a.strips = (a.n + a.strip - 1) / a.strip;
    return a;
}

static int64_t widest(const ts_attention_rows *a) {
    return a->e > a->f ? a->e : a->f;
}

static size_t workspace_doubles(const ts_attention_rows *a) {
    const int64_t rows =
        a->strip + 1 + a->spec->simplex.map->work_rows + (a->mask != NULL ? 2 : 0) + (a->wants_grad ? 2 : 0);
    return (size_t)(rows * a->m + widest(a) + a->e * PANEL);
}

size_t ts_attention_scratch(const ts_attention_rows *a) {
    return workspace_doubles(a) * sizeof(double) * (size_t)ts_max_threads();
}

ts_attention_workspace ts_attention_workspace_of(const ts_attention_rows *a, void *scratch) {
    ts_attention_workspace w = {.scores = (double *)scratch + workspace_doubles(a) * (size_t)ts_thread()};
    w.weights = w.scores + a->strip * a->m;
    w.work = w.weights + a->m;
    w.sum = w.work + a->spec->simplex.map->work_rows * a->m;
    w.panel = w.sum + widest(a);
    double *end = w.panel + a->e * PANEL;
    if (a->mask != NULL) {
        w.left = end;
        w.index = (int64_t *)(end + a->m);
        end += 2 * a->m;
    }
    if (a->wants_grad) w.dp = end, w.ds = end + a->m;
    return w;
}

/* ---- scores and weights ------------------------------------------------------------------------------------------ */

/* scores[r,l] for the keys l of one panel; every sum runs over the coordinates in order. */
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

void ts_attention_score(const ts_attention_rows *a, const ts_attention_workspace *w, int64_t batch, int64_t first,
                        int64_t rows) {
    const ts_real *q = a->q->data + (batch * a->n + first) * a->e, *k = a->k->data + batch * a->m * a->e;
    for (int64_t j = 0; j < a->m; j += PANEL) {
        const int64_t width = a->m - j < PANEL ? a->m - j : PANEL;
        for (int64_t c = 0; c < a->e; c++)
            for (int64_t l = 0; l < PANEL; l++) w->panel[c * PANEL + l] = l < width ? (double)k[(j + l) * a->e + c] : 0;
        score_panel(a->spec->score, a->spec->gamma, rows, a->e, q, w->panel, width, w->scores + j, a->m);
    }
}

static int64_t keep_unmasked(const ts_attention_workspace *w, int64_t m, const ts_real *mask, const double *scores) {
    int64_t count = 0;
    for (int64_t j = 0; j < m; j++)
        if (mask[j] != 0) {
            w->index[count] = j;
            w->left[count++] = scores[j];
        }
    return count;
}

ts_attention_row ts_attention_weigh(const ts_attention_rows *a, const ts_attention_workspace *w, int64_t at,
                                    const double *scores) {
    const ts_simplex_spec *spec = &a->spec->simplex;
    ts_attention_row row = {.at = at, .count = a->m, .scores = scores, .z = 1};
    if (a->mask != NULL) {
        row.count = keep_unmasked(w, a->m, a->mask->data + at * a->m, scores);
        row.scores = w->left;
    }
    row.simplex = (ts_simplex_row){.parameter = spec->parameter,
                                   .rng = spec->rng,
                                   .first = (uint64_t)(at * a->m),
                                   .n = row.count,
                                   .work = w->work};
    if (row.count > 0) row.z = spec->map->forward(&row.simplex, row.scores, w->weights);
    return row;
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

void ts_attention_weigh_backward(const ts_attention_rows *a, const ts_attention_workspace *w,
                                 const ts_attention_row *row, ts_real *dq, ts_real *dk) {
    const ts_simplex *map = a->spec->simplex.map;
    if (map->backward == NULL || (dq == NULL && dk == NULL)) return;
    ts_simplex_backward(map, &row->simplex, row->scores, w->weights, row->z, w->dp, w->ds);
    const int64_t batch = row->at / a->n;
    const ts_real *q = a->q->data + row->at * a->e, *k = a->k->data + batch * a->m * a->e;
    if (dq != NULL) dq += row->at * a->e;
    if (dk != NULL) dk += batch * a->m * a->e;
    memset(w->sum, 0, (size_t)a->e * sizeof(double));
    for (int64_t l = 0; l < row->count; l++) {
        const int64_t j = ts_attention_key(w, l);
        const double ds = w->ds[l] * a->spec->gamma;
        if (ds == 0) continue;
        for (int64_t c = 0; c < a->e; c++) {
            const double x = (double)q[c], y = (double)k[j * a->e + c];
            const bool dot = a->spec->score == TS_SCORE_DOT;
            w->sum[c] += ds * (dot ? y : 2 * (y - x));
            if (dk != NULL) dk[j * a->e + c] += (ts_real)(ds * (dot ? x : 2 * (x - y)));
        }
    }
    if (dq != NULL)
        for (int64_t c = 0; c < a->e; c++) dq[c] += (ts_real)w->sum[c];
}

/* ---- all rows ---------------------------------------------------------------------------------------------------- */

void ts_attention_each_row(const ts_node *node, const ts_attention_rows *a, int64_t steps, ts_attention_row_fn *run) {
    const bool shared = ts_worth_parallel(steps);
#pragma omp parallel for schedule(dynamic) if (shared)
    for (int64_t item = 0; item < a->batches * a->strips; item++) {
        const ts_attention_workspace w = ts_attention_workspace_of(a, node->scratch);
        const int64_t batch = item / a->strips, first = item % a->strips * a->strip;
        const int64_t rows = a->n - first < a->strip ? a->n - first : a->strip;
        ts_attention_score(a, &w, batch, first, rows);
        for (int64_t r = 0; r < rows; r++) {
            const ts_attention_row row = ts_attention_weigh(a, &w, batch * a->n + first + r, w.scores + r * a->m);
            run(node, a, &w, &row);
        }
    }
}

static void batch_back(const ts_node *node, const ts_attention_rows *a, int64_t batch, ts_attention_row_fn *run) {
    const ts_attention_workspace w = ts_attention_workspace_of(a, node->scratch);
    for (int64_t first = 0; first < a->n; first += a->strip) {
        const int64_t rows = a->n - first < a->strip ? a->n - first : a->strip;
        ts_attention_score(a, &w, batch, first, rows);
        for (int64_t r = 0; r < rows; r++) {
            const ts_attention_row row = ts_attention_weigh(a, &w, batch * a->n + first + r, w.scores + r * a->m);
            if (row.count == 0) continue;
            run(node, a, &w, &row);
            ts_attention_weigh_backward(a, &w, &row, node->in[0]->grad, node->in[1]->grad);
        }
    }
}

void ts_attention_each_row_back(const ts_node *node, const ts_attention_rows *a, ts_attention_row_fn *run) {
#pragma omp parallel for schedule(dynamic) if (ts_can_share(a->batches))
    for (int64_t batch = 0; batch < a->batches; batch++) batch_back(node, a, batch, run);
}
