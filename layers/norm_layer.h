/* norm_layer.h: RMSNorm or LayerNorm over a range of coordinates, with a trained gain (LayerNorm: and bias). Formulas,
 * gradients, errors and cost: ts_rms_norm and ts_layer_norm in ops.h. */
#ifndef TS_NORM_LAYER_H
#define TS_NORM_LAYER_H

#include "../autograd/ops.h"
#include "params.h"

typedef struct ts_norm_layer {
    int gain;             /* parameter "NAME.gain" [count], initially ones */
    int bias;             /* parameter "NAME.bias" [count], initially zeros; -1: RMSNorm */
    int64_t first, count; /* the coordinates that are normalised; the others pass unchanged */
    double eps;
} ts_norm_layer;

/* Adds the gain and, for LayerNorm, the bias; fails as ts_params_add does. */
ts_status ts_norm_layer_add(ts_norm_layer *layer, ts_params *params, const char *name, bool layer_norm, int64_t first,
                            int64_t count, double eps, ts_error *error);

/* Adds an RMSNorm with a fixed gain: zero until the caller writes it, and not trained. */
ts_status ts_norm_layer_add_fixed(ts_norm_layer *layer, ts_params *params, const char *name, int64_t first,
                                  int64_t count, double eps, ts_error *error);

ts_tensor *ts_norm_layer_forward(const ts_norm_layer *layer, ts_params *params, ts_tape *tape, ts_tensor *x);

#endif
