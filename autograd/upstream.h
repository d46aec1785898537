/* upstream.h: the rule of the zero upstream gradient.
 *
 * A gradient that nobody asks for is 0. A gradient is a sum, over the elements of the output, of local derivative times
 * dy; an element whose dy is exactly 0 adds exactly 0 to it, be its local derivative infinite or NaN (log at 0, a
 * product with infinity): so a value that a clamp, a mask or a loss leaves out cannot spoil what it was computed from.
 * The same holds inside an op, as if it were composed of smaller ones: in sums of products (matmul, distances,
 * attention) for each product with a dy of 0, in ops that take rows as a whole (norms, simplex maps, log_softmax,
 * attention) for each row whose dy is all 0. What an element adds is written TS_ASKED(dy, term): dy where that is 0,
 * else `term`. */
#ifndef TS_UPSTREAM_H
#define TS_UPSTREAM_H

#include "tensor.h"

#define TS_ASKED(dy, term) ((dy) == 0 ? (dy) : (term))

/* Whether anybody asks for one of n elements. */
static inline bool ts_any_asked(const ts_real *dy, int64_t n) {
    int64_t i = 0;
    while (i < n && dy[i] == 0) i++;
    return i < n;
}

#endif
