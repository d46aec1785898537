/* loss.h: the training losses of clustering transformers. Of the squared distances r_ij = ||x_i - c_j||^2 of a task,
 *
 *     softmin     L = sum_i <p_i, r_i>,  p_i = softmax(-r_i / tau)     [Clarkson et al., ICML 2026, section 4]
 *     sparsemin   the same with sparsemax                              [Park et al., NeurIPS 2026]
 *     mapmin      the same with any simplex map
 *     hardmin     L = sum_i min_j r_ij, the k-means objective
 *     worst       L = n times the mean of min_j r_ij over the `share` of the points where it is largest
 *
 * Gradients of the first three flow through r and through p: dL/dr_ij = p_ij + sum_l r_il dp_il/dr_ij. <p_i, r_i> is a
 * weighted mean of r_i, so L >= sum_i min_j r_ij, the k-means objective. The bound of sparsemin is the tighter one, and
 * exact where tau is at most the gap between nearest and second nearest. As tau -> 0 L tends to the k-means objective,
 * as tau -> inf to sum_ij r_ij / k.
 *
 * A loss is a descriptor in a file of losses/, or of the caller's. */
#ifndef TS_LOSS_H
#define TS_LOSS_H

#include "../autograd/tape.h"
#include "../layers/field.h"

/* By number, in the order of train/meson.build. */
typedef int ts_loss_kind;
enum { TS_LOSS_SOFTMIN, TS_LOSS_SPARSEMIN };
extern const int ts_loss_kinds; /* how many there are */

enum { TS_LOSS_FIELDS = 8 };

typedef struct ts_loss_spec {
    ts_loss_kind kind;
    double tau; /* temperature, in units of squared distance: above 0 and finite; of losses with one */
    bool log; /* the mean over tasks of log L, not of L, so that large tasks do not outweigh small ones; -inf if L is 0
               */
    double last_weight;           /* w: of T steps trained through, the last weighs 1 + w T, the others 1 */
    double field[TS_LOSS_FIELDS]; /* what the loss is given besides (ts_loss_set_defaults) */
    const struct ts_loss *own;    /* a loss of the caller's instead of `kind`; NULL: none */
} ts_loss_spec;

typedef struct ts_loss {
    const char *name, *summary;
    bool has_tau;
    const ts_field *fields; /* besides tau */
    /* L of each task, [..], from distances [..,n,k]. */
    ts_tensor *(*of_distances)(ts_tape *tape, ts_tensor *distances, const ts_loss_spec *spec);
} ts_loss;

/* "softmin" etc.; false for any other name. */
bool ts_loss_by_name(const char *name, ts_loss_kind *kind);
/* The name, or NULL if there is no such loss; and its descriptor. */
const char *ts_loss_name(ts_loss_kind kind);
const ts_loss *ts_loss_of(const ts_loss_spec *spec); /* NULL if there is none */
void ts_loss_set_defaults(ts_loss_spec *spec);       /* its fields */
/* TS_ERROR_VALUE names what is wrong: there is no such loss, tau, a field. */
ts_status ts_loss_check(const ts_loss_spec *spec, ts_error *error);

/* points [..,n,d], centers [..,k,d] -> []: the mean of L, or of log L, over the leading axes. Finite distances give
 * finite losses whatever tau is (except the logarithm of 0); a NaN in points or centers makes the loss NaN. Refuses a
 * spec that is NULL or wrong and the shapes that ts_squared_distances refuses. O(n k d) a task; memory of 6 n k numbers
 * a task. */
ts_tensor *ts_clustering_loss(ts_tape *tape, ts_tensor *points, ts_tensor *centers, const ts_loss_spec *spec);

/* The loss of T results of steps: the weighted mean of losses [T] (last_weight). */
ts_tensor *ts_loss_over_steps(ts_tape *tape, int64_t steps, ts_tensor *const losses[], const ts_loss_spec *spec);

/* ---- for losses ----------------------------------------------------------------------------------------------------
 */

/* Sums over the last two axes, [..,n,k] -> [..], rounded once. */
ts_tensor *ts_sum_of_tasks(ts_tape *tape, ts_tensor *x);
/* sum_i <p_i, r_i> with p_i = map(-r_i / tau). */
ts_tensor *ts_soft_minimum(ts_tape *tape, ts_tensor *distances, double tau, const ts_simplex_spec *map);

#endif
