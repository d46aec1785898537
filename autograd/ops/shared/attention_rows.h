/* attention_rows.h: the rows of scores and weights that attention and attention_weights share.
 *
 *     S_ij = gamma q_i.k_j  or  -gamma ||q_i - k_j||^2;   P_i = simplex(S_i)
 *
 * This is the plain form, exact before fast: rows of scores in double, each product summed in index order, so that the
 * hard maps decide near ties as an algorithm written by hand would. A strip of rows is in memory at a time. */
#ifndef TS_ATTENTION_ROWS_H
#define TS_ATTENTION_ROWS_H

#include "../../ops.h"
#include "../../parallel.h"

/* What the rows are made of, and their numbers: q [batches,n,e], k [batches,m,e], the op's values [batches,m,f]. */
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
    double *left;    /* [m] the scores that the mask leaves, and */
    int64_t *index;  /* [m] the keys they belong to; both only with a mask */
    double *dp, *ds; /* [m] only when a gradient may be asked */
} ts_attention_workspace;

/* A row of attention: its l-th key, of `count`, is ts_attention_key(w, l) and has the weight weights[l]/z. */
typedef struct ts_attention_row {
    int64_t at; /* batch * n + i */
    int64_t count;
    const double *scores;
    double z;
    ts_simplex_row simplex;
} ts_attention_row;

/* Of a node whose first inputs are q and k, whose attribute is a ts_attention_spec, and whose mask, if it has one, is
 * input `mask`: refuses what does not fit. */
ts_status ts_attention_check(const ts_node *node, int mask);

/* Of such a node, checked; f is the width of its values, 0 without. */
ts_attention_rows ts_attention_rows_of(const ts_node *node, int mask, int64_t f);

size_t ts_attention_scratch(const ts_attention_rows *a); /* bytes, for all threads */
ts_attention_workspace ts_attention_workspace_of(const ts_attention_rows *a, void *scratch);

/* w->scores of rows first .. first+rows-1 of a batch. */
void ts_attention_score(const ts_attention_rows *a, const ts_attention_workspace *w, int64_t batch, int64_t first,
                        int64_t rows);

/* w->weights of row `at`, from its m scores. */
ts_attention_row ts_attention_weigh(const ts_attention_rows *a, const ts_attention_workspace *w, int64_t at,
                                    const double *scores);

static inline int64_t ts_attention_key(const ts_attention_workspace *w, int64_t l) {
    return w->index == NULL ? l : w->index[l];
}

/* From w->dp, the gradient of the row's weights, to dq += and dk +=; either may be NULL. */
void ts_attention_weigh_backward(const ts_attention_rows *a, const ts_attention_workspace *w,
                                 const ts_attention_row *row, ts_real *dq, ts_real *dk);

#endif
