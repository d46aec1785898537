/* upstream.h: the rule for zero upstream gradients.
 *
 * A gradient is a sum, over the elements of the output, of the local derivative times the upstream gradient dy. An
 * element whose dy is exactly 0 adds exactly 0, even if its local derivative is infinite or NaN (log at 0, a product
 * with infinity), so a value that a clamp, a mask or a loss leaves out cannot spoil the gradients of its inputs. The
 * same holds inside an op, as if it were composed of smaller ones: in sums of products (matmul, distances, attention)
 * for each product with a dy of 0, and in ops on whole rows (norms, simplex maps, log_softmax, attention) for each row
 * whose dy is all 0. The term that an element adds is written TS_IF_NONZERO(dy, term): dy if that is 0, else `term`. */
#ifndef TS_UPSTREAM_H
#define TS_UPSTREAM_H

#include "tensor.h"

#define TS_IF_NONZERO(dy, term) ((dy) == 0 ? (dy) : (term))

/* Whether any of n upstream gradients is not 0. */
static inline bool ts_any_nonzero(const ts_real *dy, int64_t n) {
    int64_t i = 0;
    while (i < n && dy[i] == 0) i++;
    return i < n;
}

#endif
