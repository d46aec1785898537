/* fast_attention_body.h: the kernels of fast attention, compiled once for each instruction set by the file that
 * defines SIMD_BYTES and KERNELS, the name of the table.
 *
 * Rows of queries lie side by side in vectors: all of a block's rows meet one key at a time, so maxima, sums and the
 * exponential need nothing across lanes, and every product has the form of simd_product.h:
 *
 *     scores   S' [keys,rows] = K Q'          y'  [f,rows] += V' P'         (' is the transpose)
 *     backward dP'[keys,rows] = V dY'         dq' [e,rows] += K' dS'
 *              dv [keys,f]   += P' dY         dk  [keys,e] += dS' Q
 *
 * Lanes past a block's last row hold zeros and stay finite; sums over rows leave them out. */
#include "fast_attention_kernels.h"
#include "simd_product.h"

enum {
    BLOCK_VECS = 48 * (int)sizeof(float) / SIMD_BYTES, /* 48 rows, in float */
    BLOCK_ROWS = BLOCK_VECS * LANES,
    TILE_KEYS = 64 /* scores and slopes of so many keys stay in the first cache */
};

/* ---- workspace --------------------------------------------------------------------------------------------------- */

enum {
    Q_LANES,   /* [e,rows] score_scale (q - c) */
    SUM_LANES, /* [max(e,f),rows] y, or dq */
    SCORES,    /* [keys,rows] scores, then weights */
    MAXIMA,    /* [rows] of the scores */
    SUMS,      /* [rows] of 2^(score - maximum), then 1/sum */
    DY_LANES,  /* [f,rows] dy kept_share / sum: from here on for backward */
    SLOPES,    /* [keys,rows] dP, then dS */
    MEANS,     /* [rows] sum_j P_ij dP_ij = dy.y, over sum */
    Q_ROWS,    /* [rows,k_width] grad_scale (q - c), and 1 when euclidean */
    DY_ROWS,   /* [rows,v_width] as DY_LANES */
    DK,        /* [keys,k_width] of a chunk */
    DV,        /* [keys,v_width] */
    BUFFERS
};

typedef struct workspace {
    ts_real *buffer[BUFFERS];
} workspace;

static int64_t whole_vectors(int64_t n) {
    return (n + LANES - 1) / LANES * LANES;
}

/* Euclidean keys also need sum_i dS_ij: the sum over a column of ones beside the queries. */
static int64_t k_width(const ts_fast_attention *a) {
    return whole_vectors(a->e + a->euclidean);
}

static void sizes(const ts_fast_attention *a, int64_t size[BUFFERS]) {
    const int64_t chunk = a->m < TS_FAST_CHUNK ? a->m : TS_FAST_CHUNK;
    memset(size, 0, BUFFERS * sizeof *size);
    size[Q_LANES] = a->e * BLOCK_ROWS;
    size[SUM_LANES] = (a->e > a->f ? a->e : a->f) * BLOCK_ROWS;
    size[SCORES] = TILE_KEYS * BLOCK_ROWS;
    size[MAXIMA] = size[SUMS] = BLOCK_ROWS;
    if (!a->wants_grad) return;
    size[DY_LANES] = a->f * BLOCK_ROWS;
    size[SLOPES] = TILE_KEYS * BLOCK_ROWS;
    size[MEANS] = BLOCK_ROWS;
    size[Q_ROWS] = k_width(a) * BLOCK_ROWS;
    size[DY_ROWS] = whole_vectors(a->f) * BLOCK_ROWS;
    size[DK] = chunk * k_width(a);
    size[DV] = chunk * whole_vectors(a->f);
}

static int64_t work_size(const ts_fast_attention *a) {
    int64_t size[BUFFERS], sum = 0;
    sizes(a, size);
    for (int i = 0; i < BUFFERS; i++) sum += (size[i] + 15) / 16 * 16;
    return sum;
}

static workspace workspace_of(const ts_fast_attention *a, ts_real *work) {
    workspace w;
    int64_t size[BUFFERS];
    sizes(a, size);
    for (int i = 0; i < BUFFERS; i++) {
        w.buffer[i] = work;
        work += (size[i] + 15) / 16 * 16;
    }
    return w;
}

/* ---- blocks of rows ---------------------------------------------------------------------------------------------- */

typedef struct block {
    int64_t batch, first, rows, vecs, width; /* width = vecs * LANES numbers from one line of lanes to the next */
    vec_word words[BLOCK_VECS];              /* of dropout */
} block;

/* Blocks are of nearly equal numbers of vectors. */
static block block_of(const ts_fast_task *task, int64_t batch, int64_t index) {
    const ts_fast_attention *a = task->a;
    const int64_t all = (a->n + LANES - 1) / LANES, count = (all + BLOCK_VECS - 1) / BLOCK_VECS;
    const int64_t begin = index * all / count, end = (index + 1) * all / count;
    block b = {.batch = batch, .first = begin * LANES, .vecs = end - begin, .width = (end - begin) * LANES};
    b.rows = end * LANES < a->n ? b.width : a->n - b.first;
    if (task->drops)
        for (int64_t r = 0; r < b.width; r++)
            b.words[r / LANES][r % LANES] = ts_drop_word(task->key.row, batch * a->n + b.first + r);
    return b;
}

/* lanes[c][r] = x[r][c] of the block's rows of x, zeros in lanes without a row. */
static void to_lanes(const ts_fast_attention *a, const block *b, const ts_real *x, int64_t cols, ts_real *lanes) {
    transpose(x + (b->batch * a->n + b->first) * cols, cols, b->rows, cols, lanes, b->width, false, 1);
    if (b->rows == b->width) return;
    for (int64_t c = 0; c < cols; c++)
        for (int64_t r = b->rows; r < b->width; r++) lanes[c * b->width + r] = 0;
}

/* Back again, to rows of x, or added to them times a factor; row by row, for x is far from the processor and the lanes
 * are near. `add` is a constant. */
SIMD_INLINE void from_lanes(const ts_fast_attention *a, const block *b, const ts_real *lanes, int64_t cols, ts_real *x,
                            const bool add, ts_real factor) {
    x += (b->batch * a->n + b->first) * cols;
    for (int64_t r = 0; r < b->rows; r += 4)
        transpose(lanes + r, b->width, cols, b->rows - r < 4 ? b->rows - r : 4, x + r * cols, cols, add, factor);
}

static void pack_queries(const ts_fast_task *task, const block *b, ts_real *lanes) {
    const ts_fast_attention *a = task->a;
    to_lanes(a, b, a->q, a->e, lanes);
    for (int64_t c = 0; c < a->e; c++) {
        const ts_real centre = task->centre == NULL ? 0 : task->centre[c];
        for (int64_t v = 0; v < b->vecs; v++, lanes += LANES)
            vec_store(lanes, (vec_load(lanes) - centre) * task->score_scale);
        /* Lanes without a row would be as far off as the centre is. */
        for (int64_t r = b->rows - b->width; r < 0; r++) lanes[r] = 0;
    }
}

static void score(const ts_fast_task *task, const block *b, const workspace *w, int64_t first, int64_t keys) {
    const ts_fast_attention *a = task->a;
    multiply(&(product){.rows = keys,
                        .vecs = b->vecs,
                        .depth = a->e,
                        .a = task->keys + first * task->key_step,
                        .a_row = task->key_step,
                        .a_step = 1,
                        .b = w->buffer[Q_LANES],
                        .b_step = b->width,
                        .c = w->buffer[SCORES],
                        .c_step = b->width,
                        .start = task->bias == NULL ? NULL : task->bias + first});
}

/* The draws of a row's words and a key's: ts_drop in vectors. */
SIMD_INLINE vec_signed draws(vec_word row, uint32_t column) {
    const vec_word x = (row ^ column) * 0x7feb352du;
    return (vec_signed)((x ^ x >> 15) * 0x846ca68bu);
}

/* ---- the mean key ------------------------------------------------------------------------------------------------ */

/* The mean of at most SAMPLE keys, spread evenly: any point in their midst would do. */
static void find_centre(const ts_fast_attention *a, const ts_real *k, ts_real *centre) {
    enum { SAMPLE = 64, COLUMNS = 64 };
    const int64_t sample = a->m < SAMPLE ? a->m : SAMPLE;
    for (int64_t first = 0; first < a->e; first += COLUMNS) {
        const int64_t columns = a->e - first < COLUMNS ? a->e - first : COLUMNS;
        double sums[COLUMNS] = {0};
        for (int64_t s = 0; s < sample; s++) {
            const ts_real *key = k + s * a->m / sample * a->e + first;
            for (int64_t c = 0; c < columns; c++) sums[c] += (double)key[c];
        }
        for (int64_t c = 0; c < columns; c++) centre[first + c] = (ts_real)(sums[c] / (double)sample);
    }
}

static void prepare(const ts_fast_task *task, int64_t batch) {
    const ts_fast_attention *a = task->a;
    const int64_t tail = a->e / LANES * LANES; /* the vector from there on ends in the next keys: `own` cuts it off */
    vec_int own;
    for (int l = 0; l < LANES; l++) own[l] = tail + l < a->e ? -1 : 0;
    const ts_real *k = a->k + batch * a->m * a->e;
    ts_real *x = task->centred;
    find_centre(a, k, task->centre);
    for (int64_t c = a->e; c < task->key_step; c++) task->centre[c] = 0;
    for (int64_t j = 0; j < a->m; j++, k += a->e, x += task->key_step) {
        const ts_real *from = k;
        vec sums = {0};
        if ((a->m - j) * a->e < tail + LANES) { /* no key may follow */
            memcpy(x, k, (size_t)a->e * sizeof *x);
            from = x;
        }
        for (int64_t c = 0; c < task->key_step; c += LANES) {
            vec d = {0};
            if (c < a->e) d = vec_load(from + c) - vec_load(task->centre + c);
            if (c == tail) d = vec_where(own, d);
            vec_store(x + c, d);
            sums += d * d;
        }
        task->bias[j] = -task->score_scale / 2 * vec_sum(sums);
    }
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

static vec largest(const ts_real *s, int64_t step, int64_t keys, vec start) {
    vec m0 = start, m1 = start, m2 = start, m3 = start; /* four, so as not to wait for each */
    int64_t j = 0;
    for (; j + 4 <= keys; j += 4, s += 4 * step) {
        m0 = vec_max(vec_load(s), m0);
        m1 = vec_max(vec_load(s + step), m1);
        m2 = vec_max(vec_load(s + 2 * step), m2);
        m3 = vec_max(vec_load(s + 3 * step), m3);
    }
    for (; j < keys; j++, s += step) m0 = vec_max(vec_load(s), m0);
    return vec_max(vec_max(m0, m1), vec_max(m2, m3));
}

/* Scores become 2^(score - maximum), or 0 where dropped; the sum returned is of all. `drops` is a constant. */
SIMD_INLINE vec weigh(const ts_fast_task *task, ts_real *s, int64_t step, int64_t keys, vec maximum, vec_word row,
                      const uint32_t *columns, const bool drops) {
    vec sum = {0};
    for (int64_t j = 0; j < keys; j++, s += step) {
        vec weight = vec_exp2(vec_load(s) - maximum);
        sum += weight;
        if (drops) weight = vec_where_at_least(draws(row, columns[j]), task->key.threshold, weight);
        vec_store(s, weight);
    }
    return sum;
}

/* Weights of a tile, and what came before it in terms of the new maximum. */
static void forward_weights(const ts_fast_task *task, const block *b, const workspace *w, int64_t first, int64_t keys) {
    for (int64_t v = 0; v < b->vecs; v++) {
        ts_real *s = w->buffer[SCORES] + v * LANES, *max = w->buffer[MAXIMA] + v * LANES,
                *sum = w->buffer[SUMS] + v * LANES;
        const vec before = vec_load(max), now = largest(s, b->width, keys, before);
        const vec shrink = vec_exp2(before - now);
        const vec added = task->drops ? weigh(task, s, b->width, keys, now, b->words[v], task->columns + first, true)
                                      : weigh(task, s, b->width, keys, now, b->words[v], NULL, false);
        vec_store(sum, vec_load(sum) * shrink + added);
        vec_store(max, now);
        if (first == 0) continue;
        ts_real *y = w->buffer[SUM_LANES] + v * LANES;
        for (int64_t c = 0; c < task->a->f; c++, y += b->width) vec_store(y, vec_load(y) * shrink);
    }
}

/* y and the statistics from the sums; a sum of 0 is that of a row whose scores are all -inf. */
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
        a->stats[2 * (at + r)] = w->buffer[MAXIMA][r];
        a->stats[2 * (at + r) + 1] = sums[r];
    }
}

static void forward(const ts_fast_task *task, ts_real *work, int64_t batch, int64_t index) {
    const ts_fast_attention *a = task->a;
    const workspace w = workspace_of(a, work);
    const block b = block_of(task, batch, index);
    pack_queries(task, &b, w.buffer[Q_LANES]);
    for (int64_t r = 0; r < b.width; r++) w.buffer[MAXIMA][r] = SIMD_LOWEST, w.buffer[SUMS][r] = 0;
    for (int64_t first = 0; first < a->m; first += TILE_KEYS) {
        const int64_t keys = a->m - first < TILE_KEYS ? a->m - first : TILE_KEYS;
        score(task, &b, &w, first, keys);
        forward_weights(task, &b, &w, first, keys);
        multiply(&(product){.rows = a->f,
                            .vecs = b.vecs,
                            .depth = keys,
                            .a = a->v + (batch * a->m + first) * a->f,
                            .a_row = 1,
                            .a_step = a->f,
                            .b = w.buffer[SCORES],
                            .b_step = b.width,
                            .c = w.buffer[SUM_LANES],
                            .c_step = b.width,
                            .add = first > 0});
    }
    forward_end(task, &b, &w);
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

typedef struct wanted {
    bool dq, dk, dv;
} wanted;

/* Statistics, means and dy of the block. With 1/sum in dy and the means, weights need no division. */
static void pack_upstream(const ts_fast_task *task, const block *b, const workspace *w) {
    const ts_fast_attention *a = task->a;
    const int64_t at = b->batch * a->n + b->first, width = whole_vectors(a->f);
    ts_real *dy = w->buffer[DY_LANES], *y = w->buffer[SUM_LANES], *rows = w->buffer[DY_ROWS];
    ts_real *max = w->buffer[MAXIMA], *inverse = w->buffer[SUMS];
    for (int64_t r = 0; r < b->width; r++) {
        max[r] = r < b->rows ? a->stats[2 * (at + r)] : 0;
        inverse[r] = r < b->rows ? a->stats[2 * (at + r) + 1] : 0;
    }
    to_lanes(a, b, a->dy, a->f, dy);
    to_lanes(a, b, a->y, a->f, y);
    for (int64_t v = 0; v < b->vecs * LANES; v += LANES) {
        const vec over_sum = vec_load(inverse + v);
        vec mean = {0};
        for (int64_t c = v; c < a->f * b->width; c += b->width) {
            const vec x = vec_load(dy + c);
            mean += x * vec_load(y + c);
            vec_store(dy + c, x * (over_sum * task->kept_share));
        }
        vec_store(w->buffer[MEANS] + v, mean * over_sum);
    }
    for (int64_t r = 0; r < b->rows; r++, rows += width) {
        const ts_real *from = a->dy + (at + r) * a->f, factor = inverse[r] * task->kept_share;
        for (int64_t c = 0; c < a->f; c++) rows[c] = from[c] * factor;
        for (int64_t c = a->f; c < width; c++) rows[c] = 0;
    }
}

static void pack_query_rows(const ts_fast_task *task, const block *b, ts_real *rows) {
    const ts_fast_attention *a = task->a;
    const int64_t width = k_width(a);
    const ts_real *q = a->q + (b->batch * a->n + b->first) * a->e;
    for (int64_t r = 0; r < b->rows; r++, q += a->e, rows += width) {
        for (int64_t c = a->e; c < width; c++) rows[c] = a->euclidean && c == a->e;
        if (a->euclidean) {
            for (int64_t c = 0; c < a->e; c++) rows[c] = (q[c] - task->centre[c]) * task->grad_scale;
        } else
            for (int64_t c = 0; c < a->e; c++) rows[c] = q[c] * task->grad_scale;
    }
}

/* Scores become weights times sum, dP becomes dS = P (dP - mean). `drops` and `slopes` are constants. */
SIMD_INLINE void slope(const ts_fast_task *task, const block *b, const workspace *w, int64_t v, const uint32_t *columns,
                       int64_t keys, const bool drops, const bool slopes) {
    const vec maximum = vec_load(w->buffer[MAXIMA] + v * LANES), mean = vec_load(w->buffer[MEANS] + v * LANES);
    const vec_word row = b->words[v];
    ts_real *s = w->buffer[SCORES] + v * LANES, *d = w->buffer[SLOPES] + v * LANES;
    for (int64_t j = 0; j < keys; j++, s += b->width, d += b->width) {
        const vec weight = vec_exp2(vec_load(s) - maximum);
        const vec_signed draw = drops ? draws(row, columns[j]) : (vec_signed){0};
        vec_store(s, drops ? vec_where_at_least(draw, task->key.threshold, weight) : weight);
        if (!slopes) continue;
        const vec dp = vec_load(d);
        vec_store(d, weight * ((drops ? vec_where_at_least(draw, task->key.threshold, dp) : dp) - mean));
    }
}

static void backward_weights(const ts_fast_task *task, const block *b, const workspace *w, int64_t first, int64_t keys,
                             bool slopes) {
    for (int64_t v = 0; v < b->vecs; v++)
        if (task->drops && slopes)
            slope(task, b, w, v, task->columns + first, keys, true, true);
        else if (task->drops)
            slope(task, b, w, v, task->columns + first, keys, true, false);
        else
            slope(task, b, w, v, NULL, keys, false, slopes);
}

/* One tile: weights and slopes, and what they add to the gradients; `first` is the tile's first key, `in_chunk` its
 * place in dk and dv. */
static void backward_tile(const ts_fast_task *task, const block *b, const workspace *w, int64_t first, int64_t in_chunk,
                          int64_t keys, wanted want) {
    const ts_fast_attention *a = task->a;
    const int64_t q_width = k_width(a), dy_width = whole_vectors(a->f);
    product p = {.rows = keys,
                 .vecs = b->vecs,
                 .depth = a->f,
                 .a = a->v + (b->batch * a->m + first) * a->f,
                 .a_row = a->f,
                 .a_step = 1,
                 .b = w->buffer[DY_LANES],
                 .b_step = b->width,
                 .c = w->buffer[SLOPES],
                 .c_step = b->width};
    score(task, b, w, first, keys);
    if (want.dq || want.dk) multiply(&p);
    backward_weights(task, b, w, first, keys, want.dq || want.dk);
    p.add = true;
    if (want.dq) {
        p.rows = a->e, p.depth = keys;
        p.a = task->keys + first * task->key_step, p.a_row = 1, p.a_step = task->key_step;
        p.b = w->buffer[SLOPES], p.c = w->buffer[SUM_LANES];
        multiply(&p);
    }
    p.rows = keys, p.depth = b->rows, p.a_row = b->width, p.a_step = 1;
    if (want.dk) {
        p.a = w->buffer[SLOPES], p.b = w->buffer[Q_ROWS], p.c = w->buffer[DK] + in_chunk * q_width;
        p.vecs = q_width / LANES, p.b_step = p.c_step = q_width;
        multiply(&p);
    }
    if (want.dv) {
        p.a = w->buffer[SCORES], p.b = w->buffer[DY_ROWS], p.c = w->buffer[DV] + in_chunk * dy_width;
        p.vecs = dy_width / LANES, p.b_step = p.c_step = dy_width;
        multiply(&p);
    }
}

/* Keys first .. end-1 against a block of rows. */
static void backward_block(const ts_fast_task *task, const workspace *w, int64_t batch, int64_t index, int64_t first,
                           int64_t end, wanted want) {
    const ts_fast_attention *a = task->a;
    const block b = block_of(task, batch, index);
    pack_queries(task, &b, w->buffer[Q_LANES]);
    pack_upstream(task, &b, w);
    if (want.dk) pack_query_rows(task, &b, w->buffer[Q_ROWS]);
    ts_real *lanes = w->buffer[SUM_LANES];
    if (want.dq) memset(lanes, 0, (size_t)(a->e * b.width) * sizeof *lanes);
    for (int64_t j = first; j < end; j += TILE_KEYS) {
        const int64_t keys = end - j < TILE_KEYS ? end - j : TILE_KEYS;
        backward_tile(task, &b, w, j, j - first, keys, want);
    }
    if (want.dq) from_lanes(a, &b, lanes, a->e, a->dq, true, task->grad_scale);
}

/* From the sums of a chunk to dk and dv. */
static void backward_end(const ts_fast_task *task, const workspace *w, int64_t batch, int64_t first, int64_t end) {
    const ts_fast_attention *a = task->a;
    const ts_real *sums = w->buffer[DK];
    for (int64_t j = first; j < end && a->dk != NULL; j++, sums += k_width(a)) {
        ts_real *dk = a->dk + (batch * a->m + j) * a->e;
        const ts_real *k = task->keys + j * task->key_step, factor = a->euclidean ? task->grad_scale * sums[a->e] : 0;
        for (int64_t c = 0; c < a->e; c++) dk[c] += a->euclidean ? sums[c] - factor * k[c] : sums[c];
    }
    sums = w->buffer[DV];
    for (int64_t j = first; j < end && a->dv != NULL; j++, sums += whole_vectors(a->f))
        for (int64_t c = 0; c < a->f; c++) a->dv[(batch * a->m + j) * a->f + c] += sums[c];
}

static void backward_keys(const ts_fast_task *task, ts_real *work, int64_t batch, int64_t first, int64_t end,
                          bool rows_too) {
    const ts_fast_attention *a = task->a;
    const workspace w = workspace_of(a, work);
    const wanted want = {.dq = rows_too, .dk = a->dk != NULL, .dv = a->dv != NULL};
    if (!want.dq && !want.dk && !want.dv) return;
    if (want.dk) memset(w.buffer[DK], 0, (size_t)((end - first) * k_width(a)) * sizeof(ts_real));
    if (want.dv) memset(w.buffer[DV], 0, (size_t)((end - first) * whole_vectors(a->f)) * sizeof(ts_real));
    for (int64_t index = 0; index < ts_fast_blocks(&KERNELS, a->n); index++)
        backward_block(task, &w, batch, index, first, end, want);
    backward_end(task, &w, batch, first, end);
}

static void backward_rows(const ts_fast_task *task, ts_real *work, int64_t batch, int64_t index, int64_t first,
                          int64_t end) {
    const workspace w = workspace_of(task->a, work);
    backward_block(task, &w, batch, index, first, end, (wanted){.dq = true});
}

const ts_fast_kernels KERNELS = {.lanes = LANES,
                                 .block_vecs = BLOCK_VECS,
                                 .work = work_size,
                                 .prepare = prepare,
                                 .forward = forward,
                                 .backward_keys = backward_keys,
                                 .backward_rows = backward_rows};
