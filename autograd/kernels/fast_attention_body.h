/* fast_attention_body.h: the kernels of fast attention, compiled once for each instruction set by the file that
 * defines SIMD_BYTES and KERNELS, the name of the table.
 *
 * Rows of queries lie side by side in vectors, and all rows of a block meet one key at a time, so maxima, sums,
 * thresholds and exponentials need no operations across lanes, and every product has the form of simd_product.h:
 *
 *     scores   S' [keys,rows] = K Q'          y'  [f,rows] += V' P'         (' is the transpose)
 *     backward dP'[keys,rows] = V dY'         dq' [e,rows] += K' dS'
 *              dv [keys,f]   += P' dY         dk  [keys,e] += dS' Q
 *
 * Lanes past a block's last row hold zeros and stay finite; sums over rows leave them out. The parts have their own
 * headers: the workspace and blocks of rows, the keys of a batch, the scores of a tile, and the row maps. */
#include "fast_attention_keys.h"
#include "fast_attention_maps.h"

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* Computes y and a->stats from the sums; a row without weights has the sum 0. */
static void forward_end(const ts_fast_task *task, const block *b, const workspace *w) {
    const ts_fast_attention *a = task->a;
    const int64_t at = b->batch * a->n + b->first;
    ts_real *lanes = w->buffer[SUM_LANES], *sums = w->buffer[SUMS];
    for (int64_t v = 0; v < b->vecs; v++) {
        const vec sum = vec_load(sums + v * LANES);
        const vec inverse = vec_where(sum != (vec){0}, vec_all(1) / sum);
        vec_store(sums + v * LANES, inverse);
        for (int64_t c = 0; c < a->f; c++) {
            ts_real *y = lanes + c * b->width + v * LANES;
            vec_store(y, vec_load(y) * (inverse * task->kept_share));
        }
    }
    from_lanes(a, b, lanes, a->f, a->y, false, 1);
    if (a->stats == NULL) return;
    for (int64_t r = 0; r < b->rows; r++) {
        a->stats[2 * (at + r)] = w->buffer[STATISTICS][r];
        a->stats[2 * (at + r) + 1] = sums[r];
    }
}

/* Computes the sums of weights and of weights times values. */
static void forward_sums(const ts_fast_task *task, const block *b, const workspace *w) {
    const ts_fast_attention *a = task->a;
    const row_map *map = &row_maps[a->map];
    const bool kept = keeps_scores(a);
    for (int64_t r = 0; r < b->width; r++) w->buffer[STATISTICS][r] = SIMD_LOWEST, w->buffer[SUMS][r] = 0;
    if (map->find != NULL) map->find(task, b, w);
    for (int64_t first = 0; first < a->m; first += TILE_KEYS) {
        const key_tile t = tile_at(b, w, first, a->m, kept, false);
        if (!kept) score(task, b, w, &t);
        map->weigh(task, b, w, &t);
        const product p = {.rows = a->f,
                           .vecs = b->vecs,
                           .depth = t.keys,
                           .a = task->values + first * a->f,
                           .a_row = 1,
                           .a_step = a->f,
                           .b = t.scores,
                           .b_step = b->width,
                           .c = w->buffer[SUM_LANES],
                           .c_step = b->width,
                           .add = first > 0};
        multiply_block(b, &p, false, true);
    }
}

/* Whether all values were finite: one that is not spoils its coordinate in all rows, whatever their weights are. */
static bool has_finite_sums(const ts_fast_task *task, const block *b, const workspace *w) {
    int nonfinite = 0;
    for (int64_t c = 0; c < task->a->f; c++) nonfinite |= !(w->buffer[SUM_LANES][c * b->width] * 0 == 0);
    return !nonfinite;
}

static void forward(const ts_fast_task *task, ts_real *work, int64_t batch, int64_t index) {
    const ts_fast_attention *a = task->a;
    const workspace w = workspace_of(a, work);
    block b = block_of(task, batch, index);
    pack_queries(task, &b, &w);
    forward_sums(task, &b, &w);
    if ((a->mask != NULL || task->drops) && !has_finite_sums(task, &b, &w)) { /* weights of 0 should keep them out */
        b.careful = true;
        forward_sums(task, &b, &w);
    }
    forward_end(task, &b, &w);
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

typedef struct wanted {
    bool dq, dk, dv;
} wanted;

/* Prepares the means and dy of one vector of rows. As 1/sum is included in dy and the means, weights and slopes need no
 * division; for slopes that do not depend on the sum, 1 takes its place. Rows without weights take no part, whatever
 * their dy is. With `careful`, a compile-time constant, neither do rows whose dy is all 0, whatever their weights are:
 * their 1/sum becomes 0. Returns zeros, or NaN where something is not finite. */
SIMD_INLINE vec pack_upstream_rows(const ts_fast_task *task, const block *b, const workspace *w, int64_t v,
                                   const bool careful) {
    const row_map *map = &row_maps[task->a->map];
    ts_real *dy = w->buffer[DY_LANES] + v, *inverse = w->buffer[SUMS] + v;
    const ts_real *y = w->buffer[SUM_LANES] + v;
    const vec over_sum = vec_load(inverse), statistic = vec_load(w->buffer[STATISTICS] + v);
    const vec_int has_weights = over_sum != (vec){0};
    const vec factor = map->find_means == NULL ? over_sum : over_sum - over_sum + 1; /* NaN stays NaN */
    vec_int asked = {0};
    vec mean = {0};
    for (int64_t c = 0; c < task->a->f * b->width; c += b->width) {
        const vec x = vec_where(has_weights, vec_load(dy + c));
        const vec_int here = x != (vec){0};
        mean += x * (careful ? vec_where(here, vec_load(y + c)) : vec_load(y + c));
        vec_store(dy + c, careful ? vec_times(x, factor * task->kept_share) : x * (factor * task->kept_share));
        asked |= here;
    }
    vec_store(w->buffer[MEANS] + v, careful ? vec_where(asked, mean * over_sum) : mean * over_sum);
    if (careful) vec_store(inverse, vec_where(asked, over_sum));
    return mean * 0 + over_sum * 0 + statistic * 0;
}

/* Prepares the statistics, means and dy of the block, and sets b->careful. */
static void pack_upstream(const ts_fast_task *task, block *b, const workspace *w) {
    const ts_fast_attention *a = task->a;
    const int64_t at = b->batch * a->n + b->first, width = whole_vectors(a->f);
    ts_real *rows = w->buffer[DY_ROWS], *statistic = w->buffer[STATISTICS], *inverse = w->buffer[SUMS];
    for (int64_t r = 0; r < b->width; r++) {
        statistic[r] = r < b->rows ? a->stats[2 * (at + r)] : 0;
        inverse[r] = r < b->rows ? a->stats[2 * (at + r) + 1] : 0;
    }
    to_lanes(a, b, a->dy, a->f, a->f, w->buffer[DY_LANES]);
    to_lanes(a, b, a->y, a->f, a->f, w->buffer[SUM_LANES]);
    vec zeros = {0};
    for (int64_t v = 0; v < b->width; v += LANES) zeros += pack_upstream_rows(task, b, w, v, false);
    b->careful = task->nonfinite[b->batch] != 0 || !vec_is_finite(zeros);
    if (b->careful) {
        to_lanes(a, b, a->dy, a->f, a->f, w->buffer[DY_LANES]);
        for (int64_t v = 0; v < b->width; v += LANES) pack_upstream_rows(task, b, w, v, true);
    }
    for (int64_t r = 0; r < b->rows; r++, rows += width) {
        const ts_real *from = a->dy + (at + r) * a->f, factor = inverse[r] * task->kept_share;
        for (int64_t c = 0; c < width; c++) rows[c] = c < a->f && factor != 0 ? from[c] * factor : 0;
        for (int64_t c = 0; c < a->f && b->careful; c++) rows[c] = TS_IF_NONZERO(from[c], rows[c]);
    }
}

/* For careful blocks: a row whose sum of weights is NaN gets weights of NaN only. */
static void spread_nan(const block *b, const workspace *w, const key_tile *t) {
    for (int64_t i = 0; i < t->keys * b->width; i += LANES) {
        const vec over_sum = vec_load(w->buffer[SUMS] + i % b->width);
        const vec_int nan = over_sum != over_sum; /* all bits set, which is a NaN */
        vec_store(t->scores + i, (vec)((vec_int)vec_load(t->scores + i) | nan));
    }
}

/* For careful blocks: clears the weights and slopes of rows that take no part and of excluded keys. */
static void silence(const ts_fast_task *task, const block *b, const workspace *w, const key_tile *t, bool slopes) {
    const bool masked = task->a->mask != NULL;
    if (masked) load_mask(task, b, w, t);
    for (int64_t i = 0; i < t->keys * b->width; i += LANES) {
        vec_int counts = vec_load(w->buffer[SUMS] + i % b->width) != (vec){0};
        if (masked) counts &= vec_load(w->buffer[MASK_LANES] + i) != (vec){0};
        vec_store(t->scores + i, vec_where(counts, vec_load(t->scores + i)));
        if (slopes) vec_store(t->slopes + i, vec_where(counts, vec_load(t->slopes + i)));
    }
}

static void pack_query_rows(const ts_fast_task *task, const block *b, const workspace *w) {
    const ts_fast_attention *a = task->a;
    const int64_t width = k_width(a);
    const ts_real *q = a->q + (b->batch * a->n + b->first) * a->e;
    ts_real *rows = w->buffer[Q_ROWS];
    for (int64_t r = 0; r < b->rows; r++, q += a->e, rows += width) {
        for (int64_t c = a->e; c < width; c++) rows[c] = a->euclidean && c == a->e;
        if (w->buffer[SUMS][r] == 0)
            memset(rows, 0, (size_t)a->e * sizeof *rows);
        else if (a->euclidean)
            for (int64_t c = 0; c < a->e; c++) rows[c] = (q[c] - task->centre[c]) * task->grad_scale;
        else
            for (int64_t c = 0; c < a->e; c++) rows[c] = q[c] * task->grad_scale;
    }
}

/* Adds what a tile gives to DK and DV, from key `in_chunk` of the chunk on; the first block overwrites them. */
static void backward_tile_keys(const ts_fast_task *task, const block *b, const workspace *w, const key_tile *t,
                               int64_t in_chunk, wanted want) {
    const int64_t q_width = k_width(task->a), dy_width = whole_vectors(task->a->f);
    product p = {.rows = t->keys, .depth = b->rows, .a_row = b->width, .a_step = 1, .add = b->first > 0};
    if (want.dk) {
        p.a = t->slopes, p.b = w->buffer[Q_ROWS], p.c = w->buffer[DK] + in_chunk * q_width;
        p.vecs = q_width / LANES, p.b_step = p.c_step = q_width;
        multiply_block(b, &p, true, false);
    }
    if (want.dv) {
        p.a = t->scores, p.b = w->buffer[DY_ROWS], p.c = w->buffer[DV] + in_chunk * dy_width;
        p.vecs = dy_width / LANES, p.b_step = p.c_step = dy_width;
        multiply_block(b, &p, true, true);
    }
}

/* Adds what a tile gives to the sums for dq, or without `add` overwrites them. */
static void backward_tile_rows(const ts_fast_task *task, const block *b, const workspace *w, const key_tile *t,
                               bool add) {
    const product p = {.rows = task->a->e,
                       .vecs = b->vecs,
                       .depth = t->keys,
                       .a = task->keys + t->first * task->key_step,
                       .a_row = 1,
                       .a_step = task->key_step,
                       .b = t->slopes,
                       .b_step = b->width,
                       .c = w->buffer[SUM_LANES],
                       .c_step = b->width,
                       .add = add};
    multiply_block(b, &p, false, true);
    for (int64_t v = 0; v < b->width && task->whole; v += LANES) {
        vec sum = {0};
        for (int64_t j = 0; j < t->keys; j++) sum += vec_load(t->slopes + j * b->width + v);
        vec_store(w->buffer[SLOPE_SUMS] + v, add ? vec_load(w->buffer[SLOPE_SUMS] + v) + sum : sum);
    }
}

/* From sum_j dS_ij k_j to dq. If task->whole, slopes do not add up to 0, and q_i sum_j dS_ij is subtracted. */
static void backward_rows_end(const ts_fast_task *task, const block *b, const workspace *w, bool add) {
    const ts_fast_attention *a = task->a;
    ts_real *lanes = w->buffer[SUM_LANES];
    for (int64_t i = 0; i < a->e * b->width && task->whole; i += LANES) {
        const vec q = vec_load(w->buffer[Q_LANES] + i), sum = vec_load(w->buffer[SLOPE_SUMS] + i % b->width);
        vec_store(lanes + i, vec_load(lanes + i) - vec_where(sum != (vec){0}, q / task->score_scale * sum));
    }
    if (add)
        from_lanes(a, b, lanes, a->e, a->dq, true, task->grad_scale);
    else
        from_lanes(a, b, lanes, a->e, a->dq, false, task->grad_scale);
}

/* For a map with its own find_means: takes the means found before or, if there are none, finds them from all keys and
 * returns true, as scores and dP are then kept. */
static bool backward_means(const ts_fast_task *task, const block *b, const workspace *w) {
    const row_map *map = &row_maps[task->a->map];
    if (map->find_means == NULL) return false;
    if (task->means == NULL) {
        map->find_means(task, b, w, true);
        return true;
    }
    memcpy(w->buffer[MEANS], task->means + b->batch * task->a->n + b->first, (size_t)b->rows * sizeof(ts_real));
    return false;
}

/* The backward pass of a block of rows and the keys first .. end-1. */
static void backward_block(const ts_fast_task *task, const workspace *w, int64_t batch, int64_t index, int64_t first,
                           int64_t end, wanted want) {
    const ts_fast_attention *a = task->a;
    const bool slopes = want.dq || want.dk;
    block b = block_of(task, batch, index);
    pack_queries(task, &b, w);
    pack_upstream(task, &b, w);
    if (want.dk) pack_query_rows(task, &b, w);
    const bool kept = slopes && backward_means(task, &b, w);
    for (int64_t j = first; j < end; j += TILE_KEYS) {
        const key_tile t = tile_at(&b, w, j, end, kept, kept);
        if (!kept) score(task, &b, w, &t);
        if (!kept && slopes) upstream(task, &b, w, &t);
        if (b.careful) spread_nan(&b, w, &t);
        row_maps[a->map].slopes(task, &b, w, &t, slopes);
        if (b.careful) silence(task, &b, w, &t, slopes);
        if (want.dq) backward_tile_rows(task, &b, w, &t, j > first);
        backward_tile_keys(task, &b, w, &t, j - first, want);
    }
    if (want.dq) backward_rows_end(task, &b, w, first > 0 || !a->fresh[0]);
}

/* Adds the sums of a chunk to dk and dv. */
static void backward_end(const ts_fast_task *task, const workspace *w, int64_t batch, int64_t first, int64_t end) {
    const ts_fast_attention *a = task->a;
    const ts_real *sums = w->buffer[DK];
    for (int64_t j = first; j < end && a->dk != NULL; j++, sums += k_width(a)) {
        ts_real *dk = a->dk + (batch * a->m + j) * a->e;
        const ts_real factor = a->euclidean ? task->grad_scale * sums[a->e] : 0;
        const ts_real *k = factor != 0 ? task->keys + j * task->key_step : sums; /* avoids 0 times infinity */
        for (int64_t c = 0; c < a->e; c++)
            dk[c] = (a->fresh[1] ? 0 : dk[c]) + (a->euclidean ? sums[c] - factor * k[c] : sums[c]);
    }
    sums = w->buffer[DV];
    for (int64_t j = first; j < end && a->dv != NULL; j++, sums += whole_vectors(a->f)) {
        ts_real *dv = a->dv + (batch * a->m + j) * a->f;
        for (int64_t c = 0; c < a->f; c++) dv[c] = (a->fresh[2] ? 0 : dv[c]) + sums[c];
    }
}

static void backward_keys(const ts_fast_task *task, ts_real *work, int64_t batch, int64_t first, int64_t end,
                          bool rows_too) {
    const ts_fast_attention *a = task->a;
    const workspace w = workspace_of(a, work);
    const wanted want = {.dq = rows_too, .dk = a->dk != NULL, .dv = a->dv != NULL};
    if (!want.dq && !want.dk && !want.dv) return;
    for (int64_t index = 0; index < ts_fast_blocks(&KERNELS, a->n); index++)
        backward_block(task, &w, batch, index, first, end, want);
    backward_end(task, &w, batch, first, end);
}

static void backward_rows(const ts_fast_task *task, ts_real *work, int64_t batch, int64_t index, int64_t first,
                          int64_t end) {
    const workspace w = workspace_of(task->a, work);
    backward_block(task, &w, batch, index, first, end, (wanted){.dq = true});
}

static void find_means(const ts_fast_task *task, ts_real *work, int64_t batch, int64_t index) {
    const ts_fast_attention *a = task->a;
    const workspace w = workspace_of(a, work);
    block b = block_of(task, batch, index);
    pack_queries(task, &b, &w);
    pack_upstream(task, &b, &w);
    row_maps[a->map].find_means(task, &b, &w, false);
    memcpy(task->means + batch * a->n + b.first, w.buffer[MEANS], (size_t)b.rows * sizeof(ts_real));
}

const ts_fast_kernels KERNELS = {.lanes = LANES,
                                 .block_vecs = BLOCK_VECS,
                                 .work = work_size,
                                 .prepare = prepare,
                                 .forward = forward,
                                 .find_means = find_means,
                                 .backward_keys = backward_keys,
                                 .backward_rows = backward_rows};
