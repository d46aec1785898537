/* ops.h: the operations of the library, one typed function each. Every one is described by a `const ts_op` in a file of
 * its own, autograd/ops/NAME.c, and listed ONCE below; the generic test walks that list.
 *
 * Conventions. dx is d(loss)/dx. Axes count from 0; negative ones from the end (-1 is the last); TS_ALL_AXES takes all.
 * Broadcasting is NumPy's. An op that is given wrong shapes records "name [shapes]: reason" on the tape (tape.h) and
 * returns a harmless scalar. Cost is one pass over inputs and output unless stated; nothing is saved unless stated. */
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

/* ---- arithmetic, with broadcasting --------------------------------------------------------------------------- */
ts_tensor *ts_add(ts_tape *tape, ts_tensor *a, ts_tensor *b); /* a + b;  da += dy            db += dy       */
ts_tensor *ts_sub(ts_tape *tape, ts_tensor *a, ts_tensor *b); /* a - b;  da += dy            db -= dy       */
ts_tensor *ts_mul(ts_tape *tape, ts_tensor *a, ts_tensor *b); /* a b;    da += b dy          db += a dy     */
ts_tensor *ts_div(ts_tape *tape, ts_tensor *a, ts_tensor *b); /* a / b;  da += dy / b        db -= a dy / b^2 */

/* ---- elementwise --------------------------------------------------------------------------------------------- */
ts_tensor *ts_neg(ts_tape *tape, ts_tensor *x);                  /* -x */
ts_tensor *ts_scale(ts_tape *tape, ts_tensor *x, double factor); /* factor x */
ts_tensor *ts_exp(ts_tape *tape, ts_tensor *x);                  /* e^x */
ts_tensor *ts_log(ts_tape *tape, ts_tensor *x);                  /* ln x; -inf at 0, NaN below */
ts_tensor *ts_sqrt(ts_tape *tape, ts_tensor *x);                 /* dx = inf at 0, as the limit is */
ts_tensor *ts_square(ts_tape *tape, ts_tensor *x);               /* x^2 */
ts_tensor *ts_sigmoid(ts_tape *tape, ts_tensor *x);              /* 1/(1 + e^-x), no overflow */
ts_tensor *ts_tanh(ts_tape *tape, ts_tensor *x);
ts_tensor *ts_relu(ts_tape *tape, ts_tensor *x);         /* max(x, 0); derivative 0 at 0 */
ts_tensor *ts_relu_squared(ts_tape *tape, ts_tensor *x); /* max(x, 0)^2 [So et al. 2021] */
ts_tensor *ts_clamp(ts_tape *tape, ts_tensor *x, double low,
                    double high); /* derivative 1 on [low, high], ends included */

/* ---- products ------------------------------------------------------------------------------------------------ */
/* [..,m,k] x [..,k,n] -> [..,m,n]; transpose_a reads a as [..,k,m], transpose_b reads b as [..,n,k]. Leading axes
 * broadcast. da += dy b^T, db += a^T dy. 2mnk flops forward, twice that backward. The same bits at any number of
 * threads; not on every processor (isa.h). */
ts_tensor *ts_matmul(ts_tape *tape, ts_tensor *a, ts_tensor *b, bool transpose_a, bool transpose_b);
/* x w + bias, [..,m,k] x [..,k,n] + [n], in one pass; dbias += the sum of dy's rows. */
ts_tensor *ts_affine(ts_tape *tape, ts_tensor *x, ts_tensor *w, ts_tensor *bias);

/* ---- reductions over one axis, or all; `keep` leaves an axis of length 1 ----------------------------------------- */
ts_tensor *ts_sum(ts_tape *tape, ts_tensor *x, int axis, bool keep);  /* taken in double; 0 over an empty axis */
ts_tensor *ts_mean(ts_tape *tape, ts_tensor *x, int axis, bool keep); /* refuses an empty axis, as do min and max */
ts_tensor *ts_min(ts_tape *tape, ts_tensor *x, int axis, bool keep);  /* ties share the gradient equally */
ts_tensor *ts_max(ts_tape *tape, ts_tensor *x, int axis, bool keep);
/* log sum e^x, shifted by the maximum. (-inf,-inf) gives -inf with gradient 0; any +inf gives inf. */
ts_tensor *ts_logsumexp(ts_tape *tape, ts_tensor *x, int axis, bool keep);

/* ---- simplex maps along an axis (simplex.h has formulas and gradients) ------------------------------------------- */
ts_tensor *ts_simplex_apply(ts_tape *tape, ts_tensor *x, int axis, const ts_simplex_spec *spec);
ts_tensor *ts_softmax(ts_tape *tape, ts_tensor *x, int axis);
ts_tensor *ts_hardmax(ts_tape *tape, ts_tensor *x, int axis);
ts_tensor *ts_sparsemax(ts_tape *tape, ts_tensor *x, int axis);
ts_tensor *ts_normmax(ts_tape *tape, ts_tensor *x, int axis, double alpha); /* alpha > 1, or INFINITY */
ts_tensor *ts_linear_normalise(ts_tape *tape, ts_tensor *x, int axis);
ts_tensor *ts_gumbel_softmax(ts_tape *tape, ts_tensor *x, int axis, double tau, bool hard, ts_rng rng);
ts_tensor *ts_log_softmax(ts_tape *tape, ts_tensor *x, int axis); /* x - logsumexp(x) */

/* ---- normalisation over coordinates first .. first+count-1 of the last axis; the others pass unchanged ----------- */
/* y = gain x / sqrt(mean(x^2) + eps) [Zhang & Sennrich 2019]. gain has shape [count]. No overflow: rows are rescaled by
 * their largest entry first, and eps still refers to the row as given. A zero row with eps = 0 gives zeros. */
ts_tensor *ts_rms_norm(ts_tape *tape, ts_tensor *x, ts_tensor *gain, int64_t first, int64_t count, double eps);
/* y = gain (x - mean) / sqrt(var + eps) + bias, biased variance [Ba et al. 2016]; gain, bias [count]. */
ts_tensor *ts_layer_norm(ts_tape *tape, ts_tensor *x, ts_tensor *gain, ts_tensor *bias, int64_t first, int64_t count,
                         double eps);

/* ---- dropout ------------------------------------------------------------------------------------------------- */
/* Each element is 0 with probability p, else x/(1-p) [Srivastava et al. 2014]; element i draws element i of `rng`, the
 * same in both passes. p in [0,1]; p = 0 is the identity, p = 1 all zeros; a dropped inf or NaN is 0. */
ts_tensor *ts_dropout(ts_tape *tape, ts_tensor *x, double p, ts_rng rng);

/* ---- distances ----------------------------------------------------------------------------------------------- */
/* [..,n,d], [..,m,d] -> [..,n,m]; y_ij = ||a_i - b_j||^2 as a sum of squared differences (exact near ties and far from
 * the origin), or its square root, whose gradient at distance 0 is 0. Leading axes broadcast. 3nmd flops. */
ts_tensor *ts_squared_distances(ts_tape *tape, ts_tensor *a, ts_tensor *b);
ts_tensor *ts_distances(ts_tape *tape, ts_tensor *a, ts_tensor *b);

/* ---- shape ----------------------------------------------------------------------------------------------------- */
ts_tensor *ts_concat(ts_tape *tape, int n, ts_tensor *const x[],
                     int axis); /* 1 to TS_MAX_CONCAT tensors, equal but for axis */
enum { TS_MAX_CONCAT = 16 };
ts_tensor *ts_slice(ts_tape *tape, ts_tensor *x, int axis, int64_t first, int64_t count);
ts_tensor *ts_reshape(ts_tape *tape, ts_tensor *x, ts_shape shape);
ts_tensor *ts_transpose(ts_tape *tape, ts_tensor *x, int axis1, int axis2);
ts_tensor *ts_broadcast_to(ts_tape *tape, ts_tensor *x, ts_shape shape);
/* Rows index[0..count-1] of axis -2: [..,n,d] -> [..,count,d]; a row may repeat, gradients add up. `index` is copied.
 */
ts_tensor *ts_gather_rows(ts_tape *tape, ts_tensor *x, const int64_t *index, int64_t count);

/* ---- attention ------------------------------------------------------------------------------------------------- */
typedef enum ts_score { TS_SCORE_DOT, TS_SCORE_EUCLIDEAN } ts_score;
typedef struct ts_attention_spec {
    ts_score score;
    ts_simplex_spec simplex;
    double gamma;   /* > 0 and finite: S_ij = gamma q_i.k_j, or -gamma ||q_i - k_j||^2 (squared differences) */
    double dropout; /* probability with which a weight is dropped (and the others scaled by 1/(1-p)) */
    ts_rng dropout_rng;
    bool fast; /* scores in ts_real by products, not squared differences in double; see ts_attention */
} ts_attention_spec;
/* q [..,n,e], k [..,m,e], v [..,m,f] -> [..,n,f]:  P_i = simplex(S_i), y_i = sum_j P_ij v_j. Leading axes are equal.
 * mask [..,n,m], or NULL: entries equal to 0 are excluded before the simplex map, exactly: whatever an excluded key or
 * value holds, infinities and NaN too, changes nothing and has a gradient of 0. A row with none left gives zeros and no
 * gradient. The mask has no gradient. A weight of exactly 0, dropped or by the map, counts for nothing as well,
 * whatever the value (but see fast_attention.h). Scores, weights and sums are taken in double and rounded once. Nothing
 * is saved: the backward pass computes the scores again. Workspace: a strip of score rows a thread.
 *
 * spec->fast, for training: with softmax, sparsemax, hardmax and linear weights all is computed in ts_real, tile by
 * tile, up to forty times as fast; other maps, dropout 1 and gamma beyond 1e-18 .. 1e18 are computed as without it. A
 * score is then off by a few eps gamma r^2, r the largest distance of a query or key from the mean key (a few eps gamma
 * |q| |k| for dot products), and hardmax takes the maximisers of such scores; dropout has draws of its own; two numbers
 * a row are saved; the workspace is linear in n and m. Results differ in the last digits between processors. More in
 * kernels/fast_attention.h. */
ts_tensor *ts_attention(ts_tape *tape, ts_tensor *q, ts_tensor *k, ts_tensor *v, ts_tensor *mask,
                        const ts_attention_spec *spec);
/* q [..,n,e], k [..,m,e] -> [..,n,m]: the weights P that ts_attention takes its averages with, same random draws and
 * all, in memory n m. They are those before dropout: spec->dropout is checked and not used, nor is spec->fast. Entries
 * that the mask excludes are exactly 0, a row with none left is zeros. dS_i = (dP_i/dS_i)^T dP_i (simplex.h), and from
 * there dq_i += gamma sum_j dS_ij k_j, dk_j += gamma sum_i dS_ij q_i (dot), or with d_ij = q_i - k_j dq_i -= 2 gamma
 * sum_j dS_ij d_ij, dk_j += 2 gamma sum_i dS_ij d_ij (euclidean). Nothing is saved. */
ts_tensor *ts_attention_weights(ts_tape *tape, ts_tensor *q, ts_tensor *k, ts_tensor *mask,
                                const ts_attention_spec *spec);

#endif
