/* feed_forward.h: y = x + f(x W1 + b1) W2 + b2, a feed-forward layer with activation f and residual connection.
 *
 * x and y [..,e], W1 [e,h], b1 [h], W2 [h,e], b2 [e]. 4 e h flops a row forward, twice that backward. */
#ifndef TS_FEED_FORWARD_H
#define TS_FEED_FORWARD_H

#include "activations.h"
#include "linear.h"

typedef struct ts_feed_forward {
    ts_linear in, out; /* "NAME.in", "NAME.out" */
    ts_activation activation;
} ts_feed_forward;

/* Adds the parameters of both linear layers (linear.h); fails as ts_params_add does. */
ts_status ts_feed_forward_add(ts_feed_forward *layer, ts_params *params, const char *name, int64_t e, int64_t h,
                              ts_activation activation, ts_error *error);

/* The same without bias and with fixed weights: zero until the caller writes them, and not trained. */
ts_status ts_feed_forward_add_fixed(ts_feed_forward *layer, ts_params *params, const char *name, int64_t e, int64_t h,
                                    ts_activation activation, ts_error *error);

/* y; refuses an activation that is NULL. */
ts_tensor *ts_feed_forward_forward(const ts_feed_forward *layer, ts_params *params, ts_tape *tape, ts_tensor *x);

#endif
