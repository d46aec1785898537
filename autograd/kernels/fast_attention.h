/* fast_attention.h: attention with scores, weights and sums in ts_real, tile by tile, for training.
 *
 *     S_ij = gamma q_i.k_j  or  -gamma ||q_i - k_j||^2;   y_i = sum_j D_ij P_ij v_j;   g_ij = D_ij dy_i.v_j
 *
 *     softmax     P_ij = exp(S_ij) / sum_l exp(S_il)         dS_ij = P_ij (g_ij - dy_i.y_i)
 *     sparsemax   P_ij = [S_ij - t_i]_+, sum_l P_il = 1      dS_ij = g_ij - mean of g_i over P_i > 0, 0 elsewhere
 *     hardmax     P_ij = 1/count for the maximisers of S_i   dS_ij = 0
 *     linear      P_ij = S_ij / sum_l S_il                   dS_ij = (g_ij - dy_i.y_i) / sum_l S_il
 *
 * with D_ij = 0 where a weight is dropped, else 1/(1 - dropout). Keys that the mask excludes have weight exactly 0.
 * Nothing of size n m is ever stored: one block of rows meets one tile of keys at a time, and two numbers per row are
 * kept for the backward pass, which computes the weights again. Sparsemax needs all scores of a row before the first
 * weight: the workspace holds the scores of a block of 48 rows (in float) and up to 4096 keys; with more keys they are
 * computed again in each of the few passes that find t.
 *
 * Error bounds. Squared distances are taken as 2 q.k - ||k||^2 about a point c, the mean of some keys (||q||^2 cancels
 * in all maps but the linear one, for which it is subtracted). The error of a score is a few eps gamma r^2, where r is
 * the largest distance of a query or key from c: an offset common to all of them costs nothing, an outlier does. Under
 * a mask c is the mean of keys that all rows see, so that excluded keys do not affect it; if there are none, c is the
 * shortest key that any row sees, and r is at most twice the length of a row's own query and keys, whatever the others
 * are. The error of a dot product is a few eps gamma |q| |k|. The error of a weight is as large: relative under softmax
 * (where weights below 2^-126 of the largest are 0), absolute under sparsemax, and divided by the sum of scores under
 * linear. Hardmax takes the maximisers of the scores as computed: equal keys tie, and keys that differ by less than the
 * bound may or may not tie. The gradient of sparsemax jumps where a key enters the support, and errors within the bound
 * may move a key across that border.
 *
 * Values that are not finite. NaN in a row's query or in a key that it sees makes the row NaN. A score of -inf has
 * weight 0. A row without other scores is zeros and has no gradient, and so is a row without keys, whatever its query
 * and dy are. A score of +inf gives NaN, and so may infinite coordinates in Euclidean attention; but linear scores of
 * +inf share the weight and give no gradient. Linear scores should have one sign, which is not checked; a row whose
 * scores have the sum 0 is zeros and has no gradient. Under a mask or dropout, a weight of exactly 0 (of an excluded
 * key, dropped, or from the map) adds 0 whatever the value is; without either no time is spent on that, and a value
 * that is not finite makes its coordinate infinite or NaN in every row. Keys and values that a row does not see get
 * exactly no gradient from it, and a row whose dy is all 0 gives none (upstream.h).
 *
 * The bits are the same with any number of threads, but not on every processor: registers and fused operations differ.
 */
#ifndef TS_FAST_ATTENTION_H
#define TS_FAST_ATTENTION_H

#include "fast_attention_call.h"

/* Whether gamma and dropout are in the supported range; the caller checks shapes and the rest. */
bool ts_fast_attention_takes(double gamma, double dropout);

size_t ts_fast_attention_scratch(const ts_fast_attention *a); /* bytes, for all threads and either pass */
void ts_fast_attention_forward(const ts_fast_attention *a, void *scratch);
void ts_fast_attention_backward(const ts_fast_attention *a, void *scratch);

#endif
