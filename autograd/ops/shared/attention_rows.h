/* attention_rows.h: the rows of scores and weights that attention and attention_weights share.
 *
 *     S_ij = gamma q_i.k_j  or  -gamma ||q_i - k_j||^2;   P_i = simplex(S_i)
 *
 * The plain form, which puts accuracy before speed: rows of scores in double, each sum in the order of the coordinates,
 * so that hard maps decide near ties as a plain loop over the keys would. One strip of rows per thread is in memory. */
#ifndef TS_ATTENTION_ROWS_H
#define TS_ATTENTION_ROWS_H

#include "../../ops.h"
#include "../../parallel.h"

/* The inputs of the rows and their sizes: q [batches,n,e], k [batches,m,e], and the op's values [batches,m,f]. */
typedef struct ts_attention_rows {
    const ts_attention_spec *spec;
    const ts_tensor *q, *k, *mask; /* mask: NULL when there is none */
    bool wants_grad;
    int64_t batches, n, m, e, f;
    int64_t strip, strips; /* rows in memory at a time, and how many strips cover n */
} ts_attention_rows;

/* One thread's workspace. */
typedef struct ts_attention_workspace {
    double *scores;  /* [strip, m] */
    double *weights; /* [m] */
    double *work;    /* [work_rows, m] */
    double *sum;     /* [max(e, f)] */
    double *panel;   /* the keys of a panel, transposed */
    double *left;    /* [m] the scores that the mask leaves; NULL without a mask */
    int64_t *index;  /* [m] the keys they belong to; NULL without a mask */
    double *dp, *ds; /* [m] gradients of weights and scores; NULL if no gradient is wanted */
} ts_attention_workspace;

/* A row of attention. Its l-th key, l < count, is ts_attention_key(w, l) and has the weight w->weights[l] / z. */
typedef struct ts_attention_row {
    int64_t at; /* batch * n + i */
    int64_t count;
    const double *scores;
    double z;
    ts_simplex_row simplex;
} ts_attention_row;

/* Checks a node whose first inputs are q and k, whose attributes are a ts_attention_spec, and whose mask, if any, is
 * input `mask`; refuses it if shapes or attributes are wrong. */
ts_status ts_attention_check(const ts_node *node, int mask);

/* The rows of a node that passed the check; f is the width of its values, 0 if it has none. */
ts_attention_rows ts_attention_rows_of(const ts_node *node, int mask, int64_t f);

size_t ts_attention_scratch(const ts_attention_rows *a); /* bytes, for all threads */
ts_attention_workspace ts_attention_workspace_of(const ts_attention_rows *a, void *scratch);

/* Computes w->scores for rows first .. first+rows-1 of a batch. */
void ts_attention_score(const ts_attention_rows *a, const ts_attention_workspace *w, int64_t batch, int64_t first,
                        int64_t rows);

/* Computes w->weights of row `at` from its m scores. */
ts_attention_row ts_attention_weigh(const ts_attention_rows *a, const ts_attention_workspace *w, int64_t at,
                                    const double *scores);

/* A function of one row, whose weights are in w->weights. */
typedef void ts_attention_row_fn(const ts_node *node, const ts_attention_rows *a, const ts_attention_workspace *w,
                                 const ts_attention_row *row);

/* Calls it for every row; threads divide the rows if so many steps are worth it. */
void ts_attention_each_row(const ts_node *node, const ts_attention_rows *a, int64_t steps, ts_attention_row_fn *run);

/* Calls it for every row that has keys, then adds to dq and dk what follows from the w->dp that it wrote. One thread
 * does a whole batch, because its rows add to the gradients of the same keys and values. */
void ts_attention_each_row_back(const ts_node *node, const ts_attention_rows *a, ts_attention_row_fn *run);

static inline int64_t ts_attention_key(const ts_attention_workspace *w, int64_t l) {
    return w->index == NULL ? l : w->index[l];
}

/* Adds to dq and dk, either of which may be NULL, what w->dp, the gradient of the row's weights, gives. */
void ts_attention_weigh_backward(const ts_attention_rows *a, const ts_attention_workspace *w,
                                 const ts_attention_row *row, ts_real *dq, ts_real *dk);

#endif
