/* fast_attention.h: attention with scores, weights and sums in ts_real, tile by tile, for training.
 *
 *     S_ij = gamma q_i.k_j  or  -gamma ||q_i - k_j||^2;   y_i = sum_j D_ij P_ij v_j;   g_ij = D_ij dy_i.v_j
 *
 *     softmax     P_ij = exp(S_ij) / sum_l exp(S_il)         dS_ij = P_ij (g_ij - dy_i.y_i)
 *     sparsemax   P_ij = [S_ij - t_i]_+, sum_l P_il = 1      dS_ij = g_ij - mean of g_i over P_i > 0, 0 elsewhere
 *     hardmax     P_ij = 1/count for the maximisers of S_i   dS_ij = 0
 *     linear      P_ij = S_ij / sum_l S_il                   dS_ij = (g_ij - dy_i.y_i) / sum_l S_il
 *
 * with D_ij = 0 where a weight is dropped, else 1/(1 - dropout). Keys that the mask excludes have weight 0, exactly.
 * Nothing of size n m is ever stored: a block of rows meets a tile of keys at a time; two numbers a row are kept for
 * the backward pass, which computes the weights again. Sparsemax needs all scores of a row before the first weight:
 * those of a block of 48 rows and up to 4096 keys are in a workspace, and with more keys they are computed again in
 * each of the few passes that find t.
 *
 * Bounds. Squared distances are 2 q.k - ||k||^2 about a point c, the mean of some keys (||q||^2 cancels in all maps but
 * the linear one, which takes it off): a score is off by a few eps gamma r^2, where r is the largest distance of a
 * query or key from c. An offset common to all costs nothing, an outlier does. Under a mask c is the mean of keys that
 * all rows see, so that nothing excluded moves it; if there are none it is the shortest key that any row sees, and r at
 * most twice the length of a row's own query and keys, whatever the others are. Dot products are off by a few eps gamma
 * |q| |k|. A weight is off by as much: relatively under softmax, where weights below 2^-126 of the largest are 0,
 * absolutely under sparsemax, over the sum of scores under linear. Hardmax takes the maximisers of the scores as
 * computed: equal keys tie, keys that differ by less than the bound may or may not. The gradient of sparsemax jumps
 * where a key enters the support, and scores off by the bound may move it over the edge.
 *
 * What is not finite. NaN in a row's query or in a key that it sees makes the row NaN. A score of -inf has weight 0, a
 * row with nothing else is zeros without gradient, and so is a row without keys, whatever its query and dy are. A score
 * of +inf gives NaN, and so may infinite coordinates in Euclidean attention; linear scores of +inf share the weight and
 * give no gradient. Linear scores should be of one sign, which is not checked; where their sum is 0 the row is zeros
 * without gradient. Under a mask or dropout a weight of exactly 0, of an excluded key, a dropped one or by the map,
 * counts for nothing whatever the value is; without either no time is spent on that, and a value that is not finite
 * makes that coordinate of every row infinite or NaN. What a row does not see gets exactly no gradient from it, and a
 * row whose dy is all 0 gives none (upstream.h).
 *
 * The same bits at any number of threads; not on every processor, where registers and fused operations differ. */
#ifndef TS_FAST_ATTENTION_H
#define TS_FAST_ATTENTION_H

#include "fast_attention_call.h"

/* Whether gamma and dropout are in the range that ts_real holds; shapes and the rest are the caller's to check. */
bool ts_fast_attention_takes(double gamma, double dropout);

size_t ts_fast_attention_scratch(const ts_fast_attention *a); /* bytes, for all threads and either pass */
void ts_fast_attention_forward(const ts_fast_attention *a, void *scratch);
void ts_fast_attention_backward(const ts_fast_attention *a, void *scratch);

#endif
