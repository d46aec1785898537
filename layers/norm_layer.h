/* norm_layer.h: RMSNorm or LayerNorm over a range of coordinates, with trained gain (and bias). */
#ifndef TS_NORM_LAYER_H
#define TS_NORM_LAYER_H

#include "../autograd/ops.h"
#include "params.h"

typedef struct ts_norm_layer {
    int gain;             /* parameter "NAME.gain" [count], ones at start */
    int bias;             /* parameter "NAME.bias" [count], zeros at start; -1: RMSNorm */
    int64_t first, count; /* the coordinates; the others pass unchanged */
    double eps;
} ts_norm_layer;

ts_status ts_norm_layer_add(ts_norm_layer *layer, ts_params *params, const char *name, bool layer_norm, int64_t first,
                            int64_t count, double eps, ts_error *error);

/* An RMSNorm whose gain is not trained, zero until the caller writes it. */
ts_status ts_norm_layer_add_fixed(ts_norm_layer *layer, ts_params *params, const char *name, int64_t first,
                                  int64_t count, double eps, ts_error *error);

ts_tensor *ts_norm_layer_forward(const ts_norm_layer *layer, ts_params *params, ts_tape *tape, ts_tensor *x);

#endif
