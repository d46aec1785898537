/* loss.h: the training losses of clustering transformers: soft versions of the k-means objective [Clarkson et al., ICML
 * 2026, section 4; Park et al., NeurIPS 2026].
 *
 *     r_ij = ||x_i - c_j||^2          p_i = P(-r_i / tau)          L = sum_i <p_i, r_i>
 *
 * with P = softmax (softmin, NE) or sparsemax (sparsemin, L2). Gradients flow through r and through P:
 *
 *     dL/dr_ij = p_ij + sum_l r_il dp_il/dr_ij
 *
 * <p_i, r_i> is a weighted mean of r_i, so L >= sum_i min_j r_ij, the k-means objective. The bound of sparsemin is the
 * tighter one, and exact where tau is at most the gap between nearest and second nearest. As tau -> 0 L tends to the
 * k-means objective, as tau -> inf to sum_ij r_ij / k. */
#ifndef TS_LOSS_H
#define TS_LOSS_H

#include "../autograd/tape.h"

typedef enum ts_loss_kind { TS_LOSS_SOFTMIN, TS_LOSS_SPARSEMIN } ts_loss_kind;

enum { TS_LOSS_KINDS = 2 };

typedef struct ts_loss_spec {
    ts_loss_kind kind;
    double tau; /* temperature, in units of squared distance: above 0 and finite */
    bool log; /* the mean over tasks of log L, not of L, so that large tasks do not outweigh small ones; -inf if L is 0
               */
} ts_loss_spec;

/* "softmin" or "sparsemin"; false for any other name. */
bool ts_loss_by_name(const char *name, ts_loss_kind *kind);
/* The name, or NULL if there is no such loss. */
const char *ts_loss_name(ts_loss_kind kind);

/* points [..,n,d], centers [..,k,d] -> []: the mean of L, or of log L, over the leading axes. Finite distances give
 * finite losses whatever tau is (except the logarithm of 0); a NaN in points or centers makes the loss NaN. Refuses a
 * spec that is NULL or wrong and the shapes that ts_squared_distances refuses. O(n k d) a task; memory of 6 n k numbers
 * a task. */
ts_tensor *ts_clustering_loss(ts_tape *tape, ts_tensor *points, ts_tensor *centers, const ts_loss_spec *spec);

#endif
