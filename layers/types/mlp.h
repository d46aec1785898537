/* mlp.h: the two linear maps with a function between them of which several layer types are made,
 *
 *     y = f(x W1 + b1) W2 + b2,   W1 [in,hidden], W2 [hidden,out]
 *
 * uniform at first as linear layers are; then W2 and b2 are multiplied by `start`. */
#ifndef TS_MLP_H
#define TS_MLP_H

#include <math.h>
#include <stdio.h>

#include "../activations.h"
#include "../layer.h"
#include "../linear.h"

enum { TS_MLP_SLOTS = 4 };

/* Adds PART.in.weight, in.bias, out.weight, out.bias (without PART if it is ""), at the layer's slots from `slot` on.
 */
static inline void ts_mlp_add(ts_layer *layer, ts_layer_builder *builder, int slot, const char *part, int64_t in,
                              int64_t hidden, int64_t out) {
    static const char *const names[TS_MLP_SLOTS] = {"in.weight", "in.bias", "out.weight", "out.bias"};
    const ts_shape shape[TS_MLP_SLOTS] = {TS_SHAPE(in, hidden), TS_SHAPE(hidden), TS_SHAPE(hidden, out), TS_SHAPE(out)};
    for (int i = 0; i < TS_MLP_SLOTS; i++) {
        char name[TS_LAYER_NAME];
        const ts_init init = {.kind = TS_INIT_UNIFORM, .bound = 1 / sqrt((double)(i < 2 ? in : hidden))};
        snprintf(name, sizeof name, "%s%s%s", part, part[0] == '\0' ? "" : ".", names[i]);
        layer->param[slot + i] = ts_layer_param(layer, builder, name, shape[i], init);
    }
}

static inline void ts_mlp_start(const ts_layer *layer, ts_params *params, int slot, double start) {
    for (int i = slot + 2; i < slot + TS_MLP_SLOTS; i++) {
        ts_real *value = ts_params_value(params, layer->param[i]);
        const int64_t count = ts_shape_size(ts_params_shape(params, layer->param[i]));
        for (int64_t l = 0; l < count; l++) value[l] *= (ts_real)start;
    }
}

static inline ts_tensor *ts_mlp_apply(const ts_layer *layer, ts_streams *streams, int slot, ts_activation f,
                                      ts_tensor *x) {
    const ts_linear in = {.weight = layer->param[slot], .bias = layer->param[slot + 1]},
                    out = {.weight = layer->param[slot + 2], .bias = layer->param[slot + 3]};
    return ts_linear_forward(&out, streams->params, streams->tape,
                             f(streams->tape, ts_linear_forward(&in, streams->params, streams->tape, x)));
}

#endif
