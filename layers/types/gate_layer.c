/* gate_layer.c: y = g(x) * f(x), f the list's layers one after the other and g a gate of each row in (0,1):
 *
 *     dense         g = sigmoid(x W + b), W [e,e], b [e]: one for each coordinate
 *     equivariant   g = sigmoid(r w + b), r the coordinates of x beside the data, w [s,1], b [1]: one for the row
 *
 * b is `bias` at first. As a branch of a residual layer: a highway [Srivastava et al. 2015]. */
#include "../layer.h"
#include "weights.h"

enum { WEIGHTS, BIAS };
enum { WEIGHT_SLOT, BIAS_SLOT };
static const ts_field fields[] = {
    [WEIGHTS] = TS_WEIGHTS_FIELD,
    [BIAS] = {"bias", TS_FIELD_REAL, .initial = 0, .least = -100, .most = 100, .help = "of the gate, at first"},
    {.name = NULL}};

static ts_status build(ts_layer *layer, ts_layer_builder *builder) {
    const bool dense = ts_layer_value(layer, WEIGHTS) == TS_WEIGHTS_DENSE;
    const int64_t in = dense ? builder->layout.e : builder->layout.s, out = dense ? builder->layout.e : 1;
    if (in == 0) return ts_layer_refuse(layer, builder, "tokens have nothing beside data");
    layer->param[WEIGHT_SLOT] = ts_layer_matrix(layer, builder, "weight", in, out);
    layer->param[BIAS_SLOT] = ts_layer_param(layer, builder, "bias", TS_SHAPE(out), (ts_init){.kind = TS_INIT_ZEROS});
    return builder->error->status;
}

static void fill(const ts_layer *layer, ts_params *params, const ts_layout *layout) {
    const int64_t out = ts_layer_value(layer, WEIGHTS) == TS_WEIGHTS_DENSE ? layout->e : 1;
    for (int64_t i = 0; i < out; i++)
        ts_params_value(params, layer->param[BIAS_SLOT])[i] = (ts_real)ts_layer_value(layer, BIAS);
}

static ts_tensor *forward(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    ts_tensor *y = x;
    for (int i = 0; i < layer->n_parts; i++) y = ts_layer_forward(layer->part[i], streams, y);
    ts_tensor *of = ts_layer_value(layer, WEIGHTS) == TS_WEIGHTS_DENSE ? x : ts_rest_of(streams, x);
    ts_tensor *gate = ts_sigmoid(streams->tape, ts_affine(streams->tape, of, ts_layer_use(layer, WEIGHT_SLOT, streams),
                                                          ts_layer_use(layer, BIAS_SLOT, streams)));
    return ts_mul(streams->tape, y, gate);
}

const ts_layer_type ts_gate_layer = {.name = "gate",
                                     .summary = "its layers, times a gate in (0,1) of the row",
                                     .fields = fields,
                                     .list = true,
                                     .build = build,
                                     .fill = fill,
                                     .forward = forward};
