/* loss.h: what a clustering transformer is trained to make small: soft versions of the k-means objective [Clarkson et
 * al., ICML 2026, section 4; Park et al., NeurIPS 2026].
 *
 *     r_ij = ||x_i - c_j||^2          p_i = P(-r_i / tau)          L = sum_i <p_i, r_i>
 *
 * with P = softmax (softmin, NE) or sparsemax (sparsemin, L2). Gradients flow through r and through P:
 *
 *     dL/dr_ij = p_ij + sum_l r_il dp_il/dr_ij
 *
 * The weights are an average, so sum_i min_j r_ij <= L; sparsemin's bound is the tighter one, and exact once tau is at
 * most the gap between nearest and second nearest. tau -> 0 gives the k-means objective, tau -> inf sum_ij r_ij / k. */
#ifndef TS_LOSS_H
#define TS_LOSS_H

#include "../autograd/tape.h"

typedef enum ts_loss_kind { TS_LOSS_SOFTMIN, TS_LOSS_SPARSEMIN } ts_loss_kind;

enum { TS_LOSS_KINDS = 2 };

typedef struct ts_loss_spec {
    ts_loss_kind kind;
    double tau; /* temperature: above 0 and finite */
    bool log;   /* the mean over tasks of log L, not of L: large tasks do not drown small ones; -inf where L is 0 */
} ts_loss_spec;

/* "softmin", "sparsemin"; false when it is none of them. */
bool ts_loss_by_name(const char *name, ts_loss_kind *kind);
/* The name, or NULL when there is no such loss. */
const char *ts_loss_name(ts_loss_kind kind);

/* points [..,n,d], centers [..,k,d] -> []: the mean of L, or of log L, over the leading axes. Any tau is safe: none
 * makes an infinity or a NaN of finite distances. A NaN in points or centers makes the loss NaN. Memory 6 n k a task.
 */
ts_tensor *ts_clustering_loss(ts_tape *tape, ts_tensor *points, ts_tensor *centers, const ts_loss_spec *spec);

#endif
