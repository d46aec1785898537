/* fast_attention_kernels.h: the interface between fast_attention.c, which divides the work, and the kernels of each
 * instruction set. */
#ifndef TS_FAST_ATTENTION_KERNELS_H
#define TS_FAST_ATTENTION_KERNELS_H

#include "dropout_draws.h"
#include "fast_attention_call.h"

/* A call, and what is prepared for it and for the current batch. Keys are prepared only when euclidean. */
typedef struct ts_fast_task {
    const ts_fast_attention *a;
    ts_real score_scale; /* scores are score_scale q.k + bias, in units that suit the map */
    ts_real grad_scale;  /* d(score)/d(q.k) in the unit of gradients */
    bool whole;          /* scores also need -score_scale ||q - c||^2 / 2, as the map is not shift-invariant */
    ts_real *centre;  /* [key_step] c, a point amid the keys. It and the next two belong to a batch; they are NULL when
                         keys are not prepared */
    ts_real *centred; /* [m,key_step] keys minus the centre; both are padded with zeros */
    ts_real *bias;    /* [m] -score_scale ||centred||^2 / 2 */
    const ts_real *keys; /* [m,key_step] centred, or the keys of the call */
    int64_t key_step;
    const ts_real *values;
    ts_real *nonfinite; /* [batches] in backward, 1 where keys or values are not all finite, else 0; NULL in forward */
    bool drops;         /* dropout > 0; only then are the next two set */
    ts_drop_key key;
    uint32_t *columns;  /* [m] the words of the columns */
    ts_real kept_share; /* 1/(1 - dropout) */
    ts_real *means;     /* [batches,n] what find_means found; NULL: a block of rows meets all keys at once and finds
                           its means itself */
} ts_fast_task;

/* The kernels of one instruction set. The rows of a batch are cut into blocks (ts_fast_blocks). */
typedef struct ts_fast_kernels {
    int64_t lanes, block_vecs;
    int64_t (*work)(const ts_fast_attention *a); /* ts_reals of one thread's workspace, a multiple of 64 bytes */
    void (*prepare)(const ts_fast_task *task, int64_t batch); /* computes centre, centred, bias, nonfinite */
    void (*forward)(const ts_fast_task *task, ts_real *work, int64_t batch, int64_t block);
    /* Computes the mean of dP over each row's support; for sparsemax only. */
    void (*find_means)(const ts_fast_task *task, ts_real *work, int64_t batch, int64_t block);
    /* dk and dv of keys first .. end-1, from all rows of the batch; with rows_too also what these keys add to dq. */
    void (*backward_keys)(const ts_fast_task *task, ts_real *work, int64_t batch, int64_t first, int64_t end,
                          bool rows_too);
    /* What these keys add to dq of a block of rows, with the same bits as with rows_too. */
    void (*backward_rows)(const ts_fast_task *task, ts_real *work, int64_t batch, int64_t block, int64_t first,
                          int64_t end);
} ts_fast_kernels;

/* The number of keys whose gradients are in a thread's workspace at a time, a chunk. Each chunk adds to dq once. */
enum { TS_FAST_CHUNK = 1024 };

static inline int64_t ts_fast_blocks(const ts_fast_kernels *kernels, int64_t n) {
    const int64_t rows = kernels->lanes * kernels->block_vecs;
    return (n + rows - 1) / rows;
}

extern const ts_fast_kernels ts_fast_kernels_base;
/* Only where TS_HAVE_AVX2 and TS_HAVE_AVX512 are defined (isa.h). */
extern const ts_fast_kernels ts_fast_kernels_avx2, ts_fast_kernels_avx512;

#endif
