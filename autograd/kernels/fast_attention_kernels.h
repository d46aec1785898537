/* fast_attention_kernels.h: what fast_attention.c, which shares out the work, and the kernels of each instruction set,
 * which do it, know of each other. */
#ifndef TS_FAST_ATTENTION_KERNELS_H
#define TS_FAST_ATTENTION_KERNELS_H

#include "fast_attention.h"

/* A call, and what is prepared of it and of the batch in hand. Keys are prepared when euclidean. */
typedef struct ts_fast_task {
    const ts_fast_attention *a;
    ts_real score_scale; /* scores are score_scale q.k + bias, in units that suit the map */
    ts_real grad_scale;  /* d(score)/d(q.k) in those that gradients have */
    bool whole;          /* scores need -score_scale ||q - c||^2 / 2 too: they are not shift-invariant */
    ts_real *centre;  /* [key_step] a point amid the keys. This and the next two are of a batch; NULL: there are none,
                         keys are those of the call */
    ts_real *centred; /* [m,key_step] keys less that; both end with zeros */
    ts_real *bias;    /* [m] -score_scale ||centred||^2 / 2 */
    const ts_real *keys; /* [m], and */
    int64_t key_step;    /* from one key to the next */
    const ts_real *values;
    ts_real *spoilt; /* [batches] in backward, 1 where keys or values are not all finite, else 0; NULL in forward */
    bool drops;      /* dropout > 0, and then */
    ts_drop_key key;
    uint32_t *columns;  /* [m] their words */
    ts_real kept_share; /* 1/(1 - dropout), or 1 */
    ts_real *means;     /* [batches,n] what find_means found; NULL: a block of rows meets all keys at once, and finds
                           them itself */
} ts_fast_task;

/* The kernels of one instruction set. Rows of a batch are cut into blocks (ts_fast_blocks). */
typedef struct ts_fast_kernels {
    int64_t lanes, block_vecs;
    int64_t (*work)(const ts_fast_attention *a); /* ts_reals of one thread's workspace, a multiple of 64 bytes */
    void (*prepare)(const ts_fast_task *task, int64_t batch); /* centre, centred, bias, spoilt */
    void (*forward)(const ts_fast_task *task, ts_real *work, int64_t batch, int64_t block);
    /* The mean of dP over a row's support: sparsemax only. */
    void (*find_means)(const ts_fast_task *task, ts_real *work, int64_t batch, int64_t block);
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
/* Only where TS_HAVE_AVX2 and TS_HAVE_AVX512 are defined (isa.h). */
extern const ts_fast_kernels ts_fast_kernels_avx2, ts_fast_kernels_avx512;

#endif
