/* linear.c: linear layers: dense, diagonal, or a selection of coordinates. */
#include "linear.h"

#include <math.h>
#include <stdio.h>

static int add(ts_params *params, const char *name, const char *part, ts_shape shape, ts_init init, ts_error *error) {
    char full[2 * TS_PARAM_NAME];
    snprintf(full, sizeof full, "%s.%s", name, part);
    return ts_params_add(params, full, shape, init, error);
}

ts_status ts_linear_add(ts_linear *layer, ts_params *params, const char *name, int64_t in, int64_t out, bool bias,
                        ts_error *error) {
    const ts_init init = {.kind = TS_INIT_UNIFORM, .bound = 1 / sqrt((double)in)};
    *layer = (ts_linear){.bias = -1};
    layer->weight = add(params, name, "weight", TS_SHAPE(in, out), init, error);
    if (layer->weight >= 0 && bias) layer->bias = add(params, name, "bias", TS_SHAPE(out), init, error);
    return error->status;
}

ts_status ts_linear_add_fixed(ts_linear *layer, ts_params *params, const char *name, int64_t in, int64_t out,
                              bool diagonal, ts_error *error) {
    const ts_init init = {.kind = TS_INIT_ZEROS, .fixed = true};
    *layer = (ts_linear){.bias = -1, .diagonal = diagonal};
    layer->weight = add(params, name, "weight", diagonal ? TS_SHAPE(in) : TS_SHAPE(in, out), init, error);
    return error->status;
}

ts_tensor *ts_linear_forward(const ts_linear *layer, ts_params *params, ts_tape *tape, ts_tensor *x) {
    if (layer->count > 0) return ts_slice(tape, x, -1, layer->first, layer->count);
    ts_tensor *weight = ts_params_use(params, layer->weight, tape);
    if (layer->diagonal) return ts_mul(tape, x, weight);
    if (layer->bias < 0) return ts_matmul(tape, x, weight, false, false);
    return ts_affine(tape, x, weight, ts_params_use(params, layer->bias, tape));
}
