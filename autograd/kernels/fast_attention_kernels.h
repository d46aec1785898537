/* fast_attention_kernels.h: what fast_attention.c, which shares out the work, and the kernels of each instruction set,
 * which do it, know of each other. */
#ifndef TS_FAST_ATTENTION_KERNELS_H
#define TS_FAST_ATTENTION_KERNELS_H

#include "fast_attention.h"

/* A call, and what is prepared of it and of the batch in hand. */
typedef struct ts_fast_task {
    const ts_fast_attention *a;
    ts_real score_scale; /* scores are in units of ln 2: score_scale q.k + bias */
    ts_real grad_scale;  /* d(score)/d(q.k) in natural units */
    ts_real *centre;     /* [key_step] the mean key; NULL for dot products. This and the next three are a batch's */
    ts_real *centred;    /* [m,key_step] keys less the mean; both end with zeros */
    ts_real *bias;       /* [m] -score_scale ||centred||^2 / 2 */
    const ts_real *keys; /* centred, or those of the call */
    int64_t key_step;    /* from one key to the next, there or in k */
    bool drops;          /* dropout > 0, and then */
    ts_drop_key key;
    uint32_t *columns;  /* [m] their words */
    ts_real kept_share; /* 1/(1 - dropout), or 1 */
} ts_fast_task;

/* The kernels of one instruction set. Rows of a batch are cut into blocks (ts_fast_blocks). */
typedef struct ts_fast_kernels {
    int64_t lanes, block_vecs;
    int64_t (*work)(const ts_fast_attention *a); /* ts_reals of one thread's workspace, a multiple of 64 bytes */
    void (*prepare)(const ts_fast_task *task, int64_t batch); /* centre, centred, bias */
    void (*forward)(const ts_fast_task *task, ts_real *work, int64_t batch, int64_t block);
    /* dk and dv of keys first .. end-1, a whole batch's rows; with rows_too what those keys add to dq as well. */
    void (*backward_keys)(const ts_fast_task *task, ts_real *work, int64_t batch, int64_t first, int64_t end,
                          bool rows_too);
    /* What those keys add to dq of a block of rows: the same bits as with rows_too. */
    void (*backward_rows)(const ts_fast_task *task, ts_real *work, int64_t batch, int64_t block, int64_t first,
                          int64_t end);
} ts_fast_kernels;

/* Keys whose gradients are in a thread's workspace at a time. dq is added to once for each such chunk. */
enum { TS_FAST_CHUNK = 1024 };

static inline int64_t ts_fast_blocks(const ts_fast_kernels *kernels, int64_t n) {
    const int64_t rows = kernels->lanes * kernels->block_vecs;
    return (n + rows - 1) / rows;
}

extern const ts_fast_kernels ts_fast_kernels_base;
/* Those of the wider sets are there as isa.h says. */
extern const ts_fast_kernels ts_fast_kernels_avx2, ts_fast_kernels_avx512;

#endif
