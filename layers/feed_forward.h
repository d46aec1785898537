/* feed_forward.h: y = x + f(x W1 + b1) W2 + b2 with an activation f and a residual connection; x [..,e], hidden h. */
#ifndef TS_FEED_FORWARD_H
#define TS_FEED_FORWARD_H

#include "linear.h"

/* Any elementwise op of one input: ts_relu, ts_relu_squared, ts_tanh, or one of your own. */
typedef ts_tensor *(*ts_activation)(ts_tape *tape, ts_tensor *x);

typedef struct ts_feed_forward {
    ts_linear in, out; /* "NAME.in", "NAME.out" */
    ts_activation activation;
} ts_feed_forward;

ts_status ts_feed_forward_add(ts_feed_forward *layer, ts_params *params, const char *name, int64_t e, int64_t h,
                              ts_activation activation, ts_error *error);

/* The same with weights that are not trained, zero until the caller writes them; no bias. */
ts_status ts_feed_forward_add_fixed(ts_feed_forward *layer, ts_params *params, const char *name, int64_t e, int64_t h,
                                    ts_activation activation, ts_error *error);

ts_tensor *ts_feed_forward_forward(const ts_feed_forward *layer, ts_params *params, ts_tape *tape, ts_tensor *x);

#endif
