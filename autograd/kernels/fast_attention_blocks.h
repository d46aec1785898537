/* fast_attention_blocks.h: the workspace, and blocks of rows laid out in lanes. Included once for each instruction set,
 * see fast_attention_body.h. */
#ifndef TS_FAST_ATTENTION_BLOCKS_H
#define TS_FAST_ATTENTION_BLOCKS_H

#include "fast_attention_kernels.h"
#include "simd_product.h"

enum {
    BLOCK_VECS = 48 * (int)sizeof(float) / SIMD_BYTES, /* 48 rows, in float */
    BLOCK_ROWS = BLOCK_VECS * LANES,
    TILE_KEYS = 64,  /* scores and slopes of this many keys stay in the first-level cache, */
    KEPT_KEYS = 4096 /* and scores of this many in the second-level cache */
};

/* ---- workspace --------------------------------------------------------------------------------------------------- */

enum {
    Q_LANES,    /* [e,rows] score_scale (q - c) */
    Q_NORMS,    /* [rows] score_scale ||q - c||^2 / 2, if task->whole */
    SUM_LANES,  /* [max(e,f),rows] y, or dq */
    MASK_LANES, /* [keys,rows] the mask */
    SCORES,     /* [keys,rows] scores, then weights */
    STATISTICS, /* [rows] statistics of the scores, see fast_attention_maps.h */
    SUMS,       /* [rows] sums of weights, then 1/sum */
    SEARCH,     /* [4,rows] sparsemax's search for its threshold */
    DY_LANES,   /* [f,rows] dy kept_share, divided by sum where slopes depend on it; from here on for backward only */
    SLOPES,     /* [keys,rows] dP, then dS */
    MEANS,      /* [rows] what is subtracted from dP, divided by sum if dP is */
    SLOPE_SUMS, /* [rows] sum_j dS_ij, if task->whole */
    Q_ROWS,     /* [rows,k_width] grad_scale (q - c), and a column of ones if euclidean */
    DY_ROWS,    /* [rows,v_width] dy kept_share / sum */
    DK,         /* [keys,k_width] dk of a chunk */
    DV,         /* [keys,v_width] dv of a chunk */
    BUFFERS
};

typedef struct workspace {
    ts_real *buffer[BUFFERS];
} workspace;

static int64_t whole_vectors(int64_t n) {
    return (n + LANES - 1) / LANES * LANES;
}

/* Euclidean keys also need sum_i dS_ij, which a column of ones beside the queries supplies. */
static int64_t k_width(const ts_fast_attention *a) {
    return whole_vectors(a->e + a->euclidean);
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Whether the scores of all keys are kept from the search for a row's threshold to the weights, or (keeps_slopes) with
 * dP from the means to the slopes; otherwise they are computed again. */
static bool keeps_scores(const ts_fast_attention *a) {
    return a->map == TS_FAST_SPARSEMAX && a->m <= KEPT_KEYS;
}

static bool keeps_slopes(const ts_fast_attention *a) {
    return a->map == TS_FAST_SPARSEMAX && a->m <= TS_FAST_CHUNK;
}

static void sizes(const ts_fast_attention *a, int64_t size[BUFFERS]) {
    const int64_t chunk = least(a->m, TS_FAST_CHUNK);
    memset(size, 0, BUFFERS * sizeof *size);
    size[Q_LANES] = a->e * BLOCK_ROWS;
    size[SUM_LANES] = (a->e > a->f ? a->e : a->f) * BLOCK_ROWS;
    size[MASK_LANES] = a->mask == NULL ? 0 : TILE_KEYS * BLOCK_ROWS;
    size[SCORES] = (keeps_scores(a) ? a->m : TILE_KEYS) * BLOCK_ROWS;
    size[Q_NORMS] = size[STATISTICS] = size[SUMS] = BLOCK_ROWS;
    size[SEARCH] = a->map == TS_FAST_SPARSEMAX ? 4 * BLOCK_ROWS : 0;
    if (!a->wants_grad) return;
    size[DY_LANES] = a->f * BLOCK_ROWS;
    size[SLOPES] = (keeps_slopes(a) ? a->m : TILE_KEYS) * BLOCK_ROWS;
    size[MEANS] = size[SLOPE_SUMS] = BLOCK_ROWS;
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
    int64_t batch, first, rows, vecs, width; /* width = vecs * LANES is the step between lines of lanes */
    vec_word words[BLOCK_VECS];              /* the rows' dropout words */
    bool careful; /* something is not finite: products leave out zeros of weights and gradients, see simd_nonzero.h */
} block;

/* Blocks have nearly equal numbers of vectors. */
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

/* lanes[c][r] = x[r][c] for the block's rows of x, which are `step` numbers apart; 0 in lanes without a row. */
static void to_lanes(const ts_fast_attention *a, const block *b, const ts_real *x, int64_t step, int64_t cols,
                     ts_real *lanes) {
    transpose(x + (b->batch * a->n + b->first) * step, step, b->rows, cols, lanes, b->width, false, 1);
    if (b->rows == b->width) return;
    for (int64_t c = 0; c < cols; c++)
        for (int64_t r = b->rows; r < b->width; r++) lanes[c * b->width + r] = 0;
}

/* The reverse: the block's rows of x = (or +=) factor times the lanes. Goes row by row, as x is in memory and the lanes
 * are in a cache. `add` is a compile-time constant. */
SIMD_INLINE void from_lanes(const ts_fast_attention *a, const block *b, const ts_real *lanes, int64_t cols, ts_real *x,
                            const bool add, ts_real factor) {
    x += (b->batch * a->n + b->first) * cols;
    for (int64_t r = 0; r < b->rows; r += 4) {
        const int64_t at = !add && r + 4 > b->rows && b->rows >= 4 ? b->rows - 4 : r;
        transpose(lanes + at, b->width, cols, least(b->rows - at, 4), x + at * cols, cols, add, factor);
    }
}

static void pack_queries(const ts_fast_task *task, const block *b, const workspace *w) {
    const ts_fast_attention *a = task->a;
    ts_real *lanes = w->buffer[Q_LANES];
    to_lanes(a, b, a->q, a->e, a->e, lanes);
    for (int64_t c = 0; c < a->e; c++) {
        const ts_real centre = task->centre == NULL ? 0 : task->centre[c];
        for (int64_t v = 0; v < b->vecs; v++, lanes += LANES)
            vec_store(lanes, (vec_load(lanes) - centre) * task->score_scale);
        /* Lanes without a row would otherwise hold minus the centre. */
        for (int64_t r = b->rows - b->width; r < 0; r++) lanes[r] = 0;
    }
    for (int64_t v = 0; v < b->width && task->whole; v += LANES) {
        vec sum = {0};
        for (int64_t i = v; i < a->e * b->width; i += b->width)
            sum += vec_load(w->buffer[Q_LANES] + i) * vec_load(w->buffer[Q_LANES] + i);
        vec_store(w->buffer[Q_NORMS] + v, sum / (2 * task->score_scale));
    }
}

#endif
