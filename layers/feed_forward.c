/* feed_forward.c: two linear layers, an activation and a residual connection. */
#include "feed_forward.h"

#include <stdio.h>

ts_status ts_feed_forward_add(ts_feed_forward *layer, ts_params *params, const char *name, int64_t e, int64_t h,
                              ts_activation activation, ts_error *error) {
    char part[2 * TS_PARAM_NAME];
    *layer = (ts_feed_forward){.activation = activation};
    snprintf(part, sizeof part, "%s.in", name);
    if (ts_linear_add(&layer->in, params, part, e, h, true, error) != TS_OK) return error->status;
    snprintf(part, sizeof part, "%s.out", name);
    return ts_linear_add(&layer->out, params, part, h, e, true, error);
}

ts_status ts_feed_forward_add_fixed(ts_feed_forward *layer, ts_params *params, const char *name, int64_t e, int64_t h,
                                    ts_activation activation, ts_error *error) {
    char part[2 * TS_PARAM_NAME];
    *layer = (ts_feed_forward){.activation = activation};
    snprintf(part, sizeof part, "%s.in", name);
    if (ts_linear_add_fixed(&layer->in, params, part, e, h, false, error) != TS_OK) return error->status;
    snprintf(part, sizeof part, "%s.out", name);
    return ts_linear_add_fixed(&layer->out, params, part, h, e, false, error);
}

ts_tensor *ts_feed_forward_forward(const ts_feed_forward *layer, ts_params *params, ts_tape *tape, ts_tensor *x) {
    if (layer->activation == NULL) return ts_fail(tape, TS_ERROR_USAGE, "feed_forward: the activation is NULL");
    const ts_scope scope = ts_scope_begin(tape);
    ts_tensor *hidden = layer->activation(tape, ts_linear_forward(&layer->in, params, tape, x));
    return ts_scope_end(tape, scope, ts_add(tape, x, ts_linear_forward(&layer->out, params, tape, hidden)));
}
