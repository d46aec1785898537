/* norm_layer.c: RMSNorm and LayerNorm with their parameters. */
#include "norm_layer.h"

#include <stdio.h>

ts_status ts_norm_layer_add(ts_norm_layer *layer, ts_params *params, const char *name, bool layer_norm, int64_t first,
                            int64_t count, double eps, ts_error *error) {
    char full[2 * TS_PARAM_NAME];
    *layer = (ts_norm_layer){.bias = -1, .first = first, .count = count, .eps = eps};
    snprintf(full, sizeof full, "%s.gain", name);
    layer->gain = ts_params_add(params, full, TS_SHAPE(count), (ts_init){.kind = TS_INIT_ONES}, error);
    if (layer->gain < 0 || !layer_norm) return error->status;
    snprintf(full, sizeof full, "%s.bias", name);
    layer->bias = ts_params_add(params, full, TS_SHAPE(count), (ts_init){.kind = TS_INIT_ZEROS}, error);
    return error->status;
}

ts_status ts_norm_layer_add_fixed(ts_norm_layer *layer, ts_params *params, const char *name, int64_t first,
                                  int64_t count, double eps, ts_error *error) {
    char full[2 * TS_PARAM_NAME];
    *layer = (ts_norm_layer){.bias = -1, .first = first, .count = count, .eps = eps};
    snprintf(full, sizeof full, "%s.gain", name);
    layer->gain = ts_params_add(params, full, TS_SHAPE(count), (ts_init){.kind = TS_INIT_ZEROS, .fixed = true}, error);
    return error->status;
}

ts_tensor *ts_norm_layer_forward(const ts_norm_layer *layer, ts_params *params, ts_tape *tape, ts_tensor *x) {
    ts_tensor *gain = ts_params_use(params, layer->gain, tape);
    if (layer->bias < 0) return ts_rms_norm(tape, x, gain, layer->first, layer->count, layer->eps);
    ts_tensor *bias = ts_params_use(params, layer->bias, tape);
    return ts_layer_norm(tape, x, gain, bias, layer->first, layer->count, layer->eps);
}
