/* fast_attention_call.h: one call of fast attention: its operands, sizes and results. */
#ifndef TS_FAST_ATTENTION_CALL_H
#define TS_FAST_ATTENTION_CALL_H

#include "../rng.h"
#include "../simplex.h"
#include "../tensor.h"

typedef struct ts_fast_attention {
    int64_t batches, n, m, e, f; /* none of them 0 */
    ts_fast_map map;
    bool euclidean;
    double gamma, dropout;
    ts_rng rng;               /* of dropout */
    const ts_real *q, *k, *v; /* [batches,n,e] [batches,m,e] [batches,m,f] */
    const ts_real *mask;      /* [batches,n,m], 0 excludes a key from a row; NULL: nothing is excluded */
    ts_real *y;               /* [batches,n,f] */
    ts_real *stats;           /* [batches,n,2] a row's maximal score, or t, and 1/(sum of weights), written by forward
                                 for backward; NULL: not kept */
    bool wants_grad;          /* backward may be called and needs workspace */
    const ts_real *dy;        /* as y; for backward only */
    ts_real *dq, *dk, *dv;    /* as q, k, v; backward adds to them; NULL: not wanted */
    bool fresh[3];            /* dq, dk, dv are uninitialised and overwritten; of a shared array only the first */
} ts_fast_attention;

#endif
