/* layer_norm_layer.c: y = gain (x - mean) / sqrt(variance + eps) + bias on a range of coordinates; the others pass
 * unchanged; gain and bias are trained [Ba et al. 2016; ts_layer_norm in ops.h]. */
#include "norm_fields.h"

enum { EPS = TS_NORM_FIELDS };
static const ts_field fields[] = {
    TS_NORM_RANGE_FIELDS, [EPS] = {"eps", TS_FIELD_REAL, .initial = 1e-5, .least = 0, .most = 1}, {.name = NULL}};

static ts_status build(ts_layer *layer, ts_layer_builder *builder) {
    const ts_place place = ts_norm_place(&builder->layout, layer);
    if (place.count < 1) return ts_layer_refuse(layer, builder, "tokens have no such coordinates");
    const ts_shape shape = TS_SHAPE(place.count);
    layer->param[0] = ts_layer_param(layer, builder, "gain", shape, (ts_init){.kind = TS_INIT_ONES});
    layer->param[1] = ts_layer_param(layer, builder, "bias", shape, (ts_init){.kind = TS_INIT_ZEROS});
    return builder->error->status;
}

static ts_tensor *forward(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    const ts_place place = ts_norm_place(&streams->layout, layer);
    return ts_layer_norm(streams->tape, x, ts_layer_use(layer, 0, streams), ts_layer_use(layer, 1, streams),
                         place.first, place.count, ts_layer_value(layer, EPS));
}

const ts_layer_type ts_layer_norm_layer = {.name = "layer_norm",
                                           .summary = "coordinates of mean 0 and variance 1, times a gain, plus a bias",
                                           .fields = fields,
                                           .build = build,
                                           .forward = forward};
