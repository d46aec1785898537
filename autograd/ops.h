/* ops.h: the operations of the library, one typed function each. Every one is described by a `const ts_op` in a file of
 * its own, autograd/ops/NAME.c, and listed ONCE below; the generic test walks that list.
 *
 * How to read it. Each op, or the head of its section for all of them, says in this order:
 *     y         the formula
 *     shape     of inputs and output; [..] stands for any number of leading axes, equal in all inputs unless it says
 *               that they broadcast
 *     dx        what the backward pass adds to the gradient of each input; dx is d(loss)/dx
 *     edges     ties, zeros, empty axes, infinities and NaN, arguments outside the domain
 *     errors    what is refused, beside what every op refuses
 *     cost      time, workspace, and memory kept for the backward pass
 *     source    where the op was published
 *
 * What holds for all of them:
 *     axes      count from 0; negative ones from the end (-1 is the last); TS_ALL_AXES takes all, if the op allows it.
 *     broadcast as NumPy: shapes are aligned at the last axis, an axis of length 1 or none stretches.
 *     edges     infinities and NaN are passed on as IEEE arithmetic does; no op fails on a value. An element whose
 *               dy is exactly 0 adds exactly 0 to every gradient, even where the derivative is infinite or NaN
 *               (upstream.h).
 *     errors    An op that refuses records "name [shapes]: reason" on the tape (tape.h) and returns a harmless
 *               scalar. Shapes that do not fit are TS_ERROR_SHAPE, arguments outside their range TS_ERROR_VALUE.
 *               All refuse NULL, tensors of another tape or from before a reset, and a wrong number of inputs
 *               (TS_ERROR_USAGE), and results that do not fit into memory (TS_ERROR_MEMORY).
 *     cost      one pass over inputs and output in either direction, no workspace, nothing kept, unless stated.
 *               Results have the same bits at any number of threads. */
#ifndef TS_OPS_H
#define TS_OPS_H

#include "simplex.h"
#include "tape.h"

/* The list: name of the descriptor ts_op_NAME. A new built-in op is one more entry. */
/* clang-format off */
#define TS_OPS(X)                                                                                                      \
    X(add) X(sub) X(mul) X(div) X(neg) X(scale) X(exp) X(log) X(sqrt) X(square) X(sigmoid) X(tanh) X(relu)             \
    X(relu_squared) X(clamp) X(matmul) X(sum) X(mean) X(min) X(max) X(logsumexp) X(simplex_map) X(log_softmax)         \
    X(rms_norm) X(layer_norm) X(dropout) X(squared_distances) X(distances) X(concat) X(slice) X(reshape) X(transpose)  \
    X(broadcast_to) X(gather_rows) X(attention) X(attention_weights)
/* clang-format on */

#define TS_DECLARE_OP(name) extern const ts_op ts_op_##name;
TS_OPS(TS_DECLARE_OP)
#undef TS_DECLARE_OP

extern const ts_op *const ts_ops[]; /* all of them, ending with NULL */

/* ---- arithmetic -----------------------------------------------------------------------------------------------
 *
 *     shape     a and b broadcast to the shape of y
 *     da, db    as stated for each op; where an operand stretches, summed in double over the stretched axes
 *     errors    shapes that do not broadcast
 *     cost      one pass; if an operand that wants a gradient stretches, workspace of the size of y in backward */

/* y = a + b     da += dy               db += dy */
ts_tensor *ts_add(ts_tape *tape, ts_tensor *a, ts_tensor *b);

/* y = a - b     da += dy               db -= dy */
ts_tensor *ts_sub(ts_tape *tape, ts_tensor *a, ts_tensor *b);

/* y = a b       da += b dy             db += a dy */
ts_tensor *ts_mul(ts_tape *tape, ts_tensor *a, ts_tensor *b);

/* y = a / b     da += dy / b           db -= (a / b) (dy / b)
 *     edges     b = 0 gives infinities or NaN, in y and in the gradients */
ts_tensor *ts_div(ts_tape *tape, ts_tensor *a, ts_tensor *b);

/* ---- elementwise ------------------------------------------------------------------------------------------------
 *
 *     shape     y has the shape of x, which may be any */

/* y = -x               dx -= dy */
ts_tensor *ts_neg(ts_tape *tape, ts_tensor *x);

/* y = factor x         dx += factor dy
 *     edges     both products are taken in double and rounded once */
ts_tensor *ts_scale(ts_tape *tape, ts_tensor *x, double factor);

/* y = e^x              dx += y dy
 *     edges     inf, as is its gradient, where e^x overflows; 0 at -inf */
ts_tensor *ts_exp(ts_tape *tape, ts_tensor *x);

/* y = ln x             dx += dy / x
 *     edges     -inf at 0, with an infinite gradient; NaN below 0, where the gradient is dy / x all the same */
ts_tensor *ts_log(ts_tape *tape, ts_tensor *x);

/* y = sqrt(x)          dx += dy / (2 y)
 *     edges     the gradient is infinite at 0, as its limit is; NaN below 0 */
ts_tensor *ts_sqrt(ts_tape *tape, ts_tensor *x);

/* y = x^2              dx += 2 x dy */
ts_tensor *ts_square(ts_tape *tape, ts_tensor *x);

/* y = 1 / (1 + e^-x)   dx += y (1 - y) dy
 *     edges     taken from e^-|x|: no overflow; 0 and 1, with gradient 0, at -inf and inf */
ts_tensor *ts_sigmoid(ts_tape *tape, ts_tensor *x);

/* y = tanh(x)          dx += (1 - y^2) dy
 *     edges     -1 and 1, with gradient 0, at -inf and inf */
ts_tensor *ts_tanh(ts_tape *tape, ts_tensor *x);

/* y = max(x, 0)        dx += dy where x > 0
 *     edges     gradient 0 at 0; NaN gives NaN, with gradient 0 */
ts_tensor *ts_relu(ts_tape *tape, ts_tensor *x);

/* y = max(x, 0)^2      dx += 2 x dy where x > 0
 *     edges     NaN gives NaN, with gradient 0
 *     source    So et al. 2021 */
ts_tensor *ts_relu_squared(ts_tape *tape, ts_tensor *x);

/* y = min(max(x, low), high)     dx += dy where low <= x <= high
 *     edges     the bounds, rounded to ts_real, belong to the inside; NaN gives NaN, with gradient 0
 *     errors    low > high, a bound that is NaN; infinite bounds are fine */
ts_tensor *ts_clamp(ts_tape *tape, ts_tensor *x, double low, double high);

/* ---- products of matrices ------------------------------------------------------------------------------------ */

/* y = a b for the matrices of the last two axes; transpose_a and transpose_b stand for a^T and b^T in the formulas
 *     shape     a [..,m,k] (transpose_a: [..,k,m]), b [..,k,n] (transpose_b: [..,n,k]), y [..,m,n]; leading axes
 *               broadcast
 *     da, db    da += dy b^T, db += a^T dy, each transposed if its flag is set, summed over the matrices it serves
 *     edges     k = 0 gives zeros
 *     errors    rank below 2, inner lengths that differ, leading axes that do not broadcast
 *     cost      2 m n k flops a matrix forward, twice that backward; sums in ts_real, in runs of 256. The last bits
 *               depend on the processor's instruction set (isa.h), never on the threads */
ts_tensor *ts_matmul(ts_tape *tape, ts_tensor *a, ts_tensor *b, bool transpose_a, bool transpose_b);

/* y = x w + bias, in one pass
 *     shape     x [..,m,k], w [..,k,n], bias [n], y [..,m,n]; leading axes of x and w broadcast
 *     dx, dw    as of ts_matmul; dbias += the sum of dy's rows, taken in double
 *     edges, errors, cost   as of ts_matmul; refuses another shape of bias */
ts_tensor *ts_affine(ts_tape *tape, ts_tensor *x, ts_tensor *w, ts_tensor *bias);

/* ---- reductions -------------------------------------------------------------------------------------------------
 *
 *     shape     y is x without `axis`, or with length 1 there if `keep`; TS_ALL_AXES gives a scalar, or length 1 in
 *               every axis. Below j runs over the axis
 *     errors    an axis that x does not have
 *     cost      one pass, taken in double and rounded once; workspace of one double for each output and block of
 *               4096 elements */

/* y = sum_j x_j        dx_j += dy
 *     edges     0 over an empty axis */
ts_tensor *ts_sum(ts_tape *tape, ts_tensor *x, int axis, bool keep);

/* y = sum_j x_j / n    dx_j += dy / n
 *     errors    an empty axis, too */
ts_tensor *ts_mean(ts_tape *tape, ts_tensor *x, int axis, bool keep);

/* y = min_j x_j        dx_j += dy / ties where x_j = y
 *     edges     `ties` elements share the gradient equally; NaN wins over numbers, and NaNs share as equals do
 *     errors    an empty axis, too
 *     cost      two passes backward */
ts_tensor *ts_min(ts_tape *tape, ts_tensor *x, int axis, bool keep);

/* y = max_j x_j        dx_j += dy / ties where x_j = y;     the rest as of ts_min */
ts_tensor *ts_max(ts_tape *tape, ts_tensor *x, int axis, bool keep);

/* y = ln sum_j e^(x_j) = m + ln sum_j e^(x_j - m), m = max_j x_j     dx_j += e^(x_j - y) / sum_i e^(x_i - y) dy
 *     edges     no overflow. Where all are -inf, and over an empty axis, y = -inf and no gradient; any inf gives
 *               inf, and the elements that are inf share the gradient; NaN gives NaN
 *     cost      two passes and an exponential an element forward, two of each backward; twice the workspace */
ts_tensor *ts_logsumexp(ts_tape *tape, ts_tensor *x, int axis, bool keep);

/* ---- simplex maps -----------------------------------------------------------------------------------------------
 *
 *     y         a map of simplex.h, applied to every row along `axis`; <p,dp> is sum_i p_i dp_i
 *     shape     y has the shape of x
 *     dx        (dy/dx)^T dy, row by row, as stated for each map
 *     edges     -inf is an entry left out: weight 0. Entries of inf share the weight. A row of nothing but -inf
 *               gives zeros and no gradient; a NaN makes the row NaN. A row whose dy is all 0 gets no gradient. Rows
 *               without entries are fine
 *     errors    an axis that x does not have, TS_ALL_AXES, a parameter outside the map's range
 *     cost      a few passes over each row, in double, rounded once; nothing is sorted. Workspace of 4 rows of
 *               doubles a thread, and what the map asks for. Backward maps again, unless its gradient needs the
 *               weights only */

/* Any map. `spec` is copied.
 *     errors    no spec, or no map in it, too */
ts_tensor *ts_simplex_apply(ts_tape *tape, ts_tensor *x, int axis, const ts_simplex_spec *spec);

/* y_i = e^(x_i) / sum_j e^(x_j)        dx_i += y_i (dy_i - <y,dy>)
 *     edges     shifted by the maximum: no overflow */
ts_tensor *ts_softmax(ts_tape *tape, ts_tensor *x, int axis);

/* y_i = 1 / ties for the maximisers, 0 elsewhere        dx = 0
 *     edges     maximisers are equal to the last bit */
ts_tensor *ts_hardmax(ts_tape *tape, ts_tensor *x, int axis);

/* y_i = [x_i - kappa]_+ with sum y = 1        dx_i += dy_i - mean of dy over the support, for i in the support
 *     edges     an entry exactly at the threshold kappa is outside the support
 *     cost      Newton's method for kappa: a few passes as a rule, fewer than 50 for a row of 10^6
 *     source    Martins & Astudillo 2016 */
ts_tensor *ts_sparsemax(ts_tape *tape, ts_tensor *x, int axis);

/* y = u / sum u, u_i = [x_i - tau]_+^r, r = 1/(alpha - 1), with sum [x_i - tau]_+^(r+1) = 1; alpha = INFINITY: 1/m for
 * the m largest, m = argmax_m (sum of the m largest - 1) / m
 *     dx        with v_i = r u_i^(2-alpha) / sum u and h = dy - <y,dy>:  dx_i += v_i h_i - y_i <v,h>;  0 for INFINITY
 *     edges     for INFINITY equal entries are in or out together, and the smallest of several best m is taken;
 *               beyond alpha = 2 the gradient grows without bound where an entry leaves the support
 *     errors    alpha not above 1
 *     cost      as of ts_sparsemax, with a power an element and pass
 *     source    Blondel, Martins & Niculae 2020 */
ts_tensor *ts_normmax(ts_tape *tape, ts_tensor *x, int axis, double alpha);

/* y_i = x_i / sum_j x_j        dx_i += (dy_i - <y,dy>) / sum_j x_j
 *     edges     entries must be >= 0, which is not checked: negative ones give weights outside the simplex. A row of
 *               sum 0 gives zeros and no gradient. Where entries of inf share the weight the row has no gradient */
ts_tensor *ts_linear_normalise(ts_tape *tape, ts_tensor *x, int axis);

/* y = softmax((x + G) / tau), G_i = -ln(-ln U_i); hard: 1 at argmax_i (x_i + G_i), 0 elsewhere
 *     dx        with p = softmax((x + G) / tau):  dx_i += p_i (dy_i - <p,dy>) / tau, hard too (straight-through)
 *     edges     entry j of row r draws element r n + j of `rng`, in both passes. Equal sums go to the first; among
 *               entries of inf the draw decides
 *     errors    tau not positive and finite
 *     source    Jang et al. 2017; Maddison et al. 2017 */
ts_tensor *ts_gumbel_softmax(ts_tape *tape, ts_tensor *x, int axis, double tau, bool hard, ts_rng rng);

/* y_i = x_i - ln sum_j e^(x_j)        dx_i += dy_i - e^(y_i) sum_j dy_j
 *     edges     no overflow. -inf gives -inf and gets no gradient; entries of inf share the weight, as in
 *               ts_logsumexp
 *     errors    an axis that x does not have; TS_ALL_AXES is allowed
 *     cost      three passes and an exponential an element forward, two and one backward; workspace as of
 *               ts_logsumexp */
ts_tensor *ts_log_softmax(ts_tape *tape, ts_tensor *x, int axis);

/* ---- normalisation ----------------------------------------------------------------------------------------------
 *
 *     y         coordinates first .. first+count-1 of the last axis are normalised; the others pass unchanged, and
 *               so do their gradients
 *     shape     x [..,d], gain and bias [count], y as x
 *     edges     no overflow: a row is divided by its largest deviation before it is squared, and eps refers to the
 *               row as given. A row whose dy is all 0 in those coordinates gives no gradient
 *     errors    a scalar x, count below 1, coordinates outside the last axis, another shape of gain or bias, eps
 *               negative or not finite
 *     cost      a few passes over each row, in double; backward works the row out again, with a workspace of 128
 *               count doubles at most */

/* y = gain h,  h = x / sigma,  sigma = sqrt(mean(x^2) + eps)
 *     dx        with g = gain dy:  dx += (g - h mean(g h)) / sigma;  dgain += sum of dy h over the rows
 *     edges     a row of zeros with eps = 0 gives zeros, and no gradient to x
 *     source    Zhang & Sennrich 2019 */
ts_tensor *ts_rms_norm(ts_tape *tape, ts_tensor *x, ts_tensor *gain, int64_t first, int64_t count, double eps);

/* y = gain h + bias,  h = (x - mean(x)) / sigma,  sigma = sqrt(var(x) + eps), the variance divided by count
 *     dx        with g = gain dy:  dx += (g - mean(g) - h mean(g h)) / sigma;  dgain += sum of dy h, dbias += sum of
 *               dy, both over the rows
 *     edges     a constant row with eps = 0 gives the bias, and no gradient to x
 *     source    Ba et al. 2016 */
ts_tensor *ts_layer_norm(ts_tape *tape, ts_tensor *x, ts_tensor *gain, ts_tensor *bias, int64_t first, int64_t count,
                         double eps);

/* ---- dropout ------------------------------------------------------------------------------------------------- */

/* y_i = 0 with probability p, else x_i / (1 - p)
 *     shape     y has the shape of x, which may be any
 *     dx        dx_i += dy_i / (1 - p) where x_i was kept
 *     edges     p = 0 is the identity, p = 1 gives zeros; a dropped inf or NaN is 0
 *     errors    p outside [0,1]
 *     cost      a random number an element in each pass: element i is dropped when element i of `rng` is below p
 *     source    Srivastava et al. 2014 */
ts_tensor *ts_dropout(ts_tape *tape, ts_tensor *x, double p, ts_rng rng);

/* ---- distances --------------------------------------------------------------------------------------------------
 *
 *     shape     a [..,n,d], b [..,m,d], y [..,n,m]; leading axes broadcast
 *     edges     sums of squared differences in double, rounded once: exact near ties and far from the origin; d = 0
 *               gives zeros
 *     errors    rank below 2, widths that differ, leading axes that do not broadcast
 *     cost      3 n m d flops forward, about as much for each gradient */

/* y_ij = ||a_i - b_j||^2        da_i += sum_j 2 dy_ij (a_i - b_j)        db_j -= sum_i 2 dy_ij (a_i - b_j) */
ts_tensor *ts_squared_distances(ts_tape *tape, ts_tensor *a, ts_tensor *b);

/* y_ij = ||a_i - b_j||          da_i += sum_j dy_ij (a_i - b_j) / y_ij   db_j -= sum_i dy_ij (a_i - b_j) / y_ij
 *     edges     at distance 0 the gradient is 0 */
ts_tensor *ts_distances(ts_tape *tape, ts_tensor *a, ts_tensor *b);

/* ---- shape ------------------------------------------------------------------------------------------------------
 *
 *     dx        the elements of dy, put back where those of y came from
 *     cost      one copy; y never shares memory with x */

/* y = x_1, .., x_n one after another along `axis`
 *     shape     equal ranks from 1 on, equal lengths of the other axes; that of `axis` is the sum
 *     edges     empty tensors are fine
 *     errors    n outside 1 .. TS_MAX_CONCAT, an axis that they do not have, other shapes */
ts_tensor *ts_concat(ts_tape *tape, int n, ts_tensor *const x[], int axis);
enum { TS_MAX_CONCAT = 16 };

/* y = elements first .. first+count-1 along `axis`
 *     shape     as x, with length `count` there; count may be 0
 *     errors    an axis that x does not have, elements outside it */
ts_tensor *ts_slice(ts_tape *tape, ts_tensor *x, int axis, int64_t first, int64_t count);

/* y = the elements of x in order, under another shape
 *     errors    a shape that holds another number of elements */
ts_tensor *ts_reshape(ts_tape *tape, ts_tensor *x, ts_shape shape);

/* y = x with two axes swapped
 *     edges     axis1 = axis2 is a copy
 *     errors    an axis that x does not have */
ts_tensor *ts_transpose(ts_tape *tape, ts_tensor *x, int axis1, int axis2);

/* y = x repeated along the axes where its length is 1 or where it has none
 *     dx        dy summed over those axes, in double
 *     errors    a shape that x does not broadcast to */
ts_tensor *ts_broadcast_to(ts_tape *tape, ts_tensor *x, ts_shape shape);

/* y_i = x_(index_i), rows of axis -2
 *     shape     x [..,n,d], y [..,count,d]; one list for all leading axes
 *     dx        dx_(index_i) += dy_i, in the order of i: gradients of a row that repeats add up
 *     edges     count may be 0
 *     errors    rank below 2, an index outside 0 .. n-1, a count below 0, no list
 *     cost      one copy; the list is copied to the tape */
ts_tensor *ts_gather_rows(ts_tape *tape, ts_tensor *x, const int64_t *index, int64_t count);

/* ---- attention ----------------------------------------------------------------------------------------------- */
typedef enum ts_score { TS_SCORE_DOT, TS_SCORE_EUCLIDEAN } ts_score;
typedef struct ts_attention_spec {
    ts_score score;
    ts_simplex_spec simplex;
    double gamma;   /* > 0 and finite: S_ij = gamma q_i.k_j, or -gamma ||q_i - k_j||^2 (squared differences) */
    double dropout; /* probability with which a weight is dropped (and the others scaled by 1/(1-p)) */
    ts_rng dropout_rng;
    bool fast; /* scores in ts_real by products, not squared differences in double; see ts_attention */
} ts_attention_spec;

/* y_i = sum_j D_ij P_ij v_j,  P_i = simplex(S_i),  S_ij = gamma q_i.k_j  or  -gamma ||q_i - k_j||^2
 *     D         D_ij = 0 where the weight is dropped, with probability spec->dropout, else 1/(1 - dropout); element
 *               (b n + i) m + j of dropout_rng decides for row i and key j of matrix b
 *     shape     q [..,n,e], k [..,m,e], v [..,m,f], mask [..,n,m] or NULL, y [..,n,f]
 *     dv        dv_j += sum_i D_ij P_ij dy_i
 *     dq, dk    with dP_ij = D_ij dy_i.v_j and dS_i = (dP_i/dS_i)^T dP_i (the maps above):
 *               dot        dq_i += gamma sum_j dS_ij k_j                dk_j += gamma sum_i dS_ij q_i
 *               Euclidean  dq_i -= 2 gamma sum_j dS_ij (q_i - k_j)      dk_j += 2 gamma sum_i dS_ij (q_i - k_j)
 *               the mask gets no gradient
 *     edges     entries where the mask is 0 are left out before the map, exactly: whatever an excluded key or value
 *               holds, infinities and NaN too, changes nothing and has a gradient of 0. A row with no key left gives
 *               zeros and no gradient. A weight of exactly 0, dropped or by the map, counts for nothing as well,
 *               whatever the value (but see fast_attention.h)
 *     errors    ranks below 2 or different, leading axes, widths or numbers that do not fit, another shape of mask;
 *               no spec or map, its parameter, gamma not in (0, 1e300], dropout outside [0,1]
 *     cost      n m (2 e + 2 f) flops a matrix forward (3 e in place of 2 e for Euclidean scores), two to three
 *               times that backward, which computes the scores again: nothing is kept. All in double, rounded once.
 *               Workspace of a strip of at most 64 rows of scores a thread. Threads share rows forward, whole
 *               matrices backward
 *     source    Vaswani et al. 2017, for dot products under softmax
 *
 * spec->fast, for training: with softmax, sparsemax, hardmax and linear weights all is computed in ts_real, tile by
 * tile, up to forty times as fast; other maps, dropout 1 and gamma beyond 1e-18 .. 1e18 are computed as without it. A
 * score is then off by a few eps gamma r^2, r the largest distance of a query or key from the mean key (a few eps gamma
 * |q| |k| for dot products), and hardmax takes the maximisers of such scores; dropout has draws of its own; two numbers
 * a row are kept; the workspace is linear in n and m. Results differ in the last digits between processors. More in
 * fast_attention.h. */
ts_tensor *ts_attention(ts_tape *tape, ts_tensor *q, ts_tensor *k, ts_tensor *v, ts_tensor *mask,
                        const ts_attention_spec *spec);

/* y = P, the weights that ts_attention takes its averages with, before dropout, by the same random draws
 *     shape     q [..,n,e], k [..,m,e], mask [..,n,m] or NULL, y [..,n,m]
 *     dq, dk    as of ts_attention, from dP = dy
 *     edges     entries that the mask excludes are exactly 0; a row with no key left is zeros
 *     errors    as of ts_attention; spec->dropout is checked and not used, nor is spec->fast
 *     cost      as of the scores of ts_attention, with y of size n m */
ts_tensor *ts_attention_weights(ts_tape *tape, ts_tensor *q, ts_tensor *k, ts_tensor *mask,
                                const ts_attention_spec *spec);

#endif
