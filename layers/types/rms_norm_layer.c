/* rms_norm_layer.c: y = gain x / sqrt(mean x^2 + eps) on a range of coordinates; the others pass unchanged [Zhang &
 * Sennrich 2019; ts_rms_norm in ops.h]. The gain is a trained vector, initially 1; or, with `length`, fixed so that the
 * range gets that Euclidean length. On data coordinates only the latter is equivariant. */
#include <math.h>

#include "norm_fields.h"

enum { LENGTH = TS_NORM_FIELDS, EPS };
static const ts_field fields[] = {TS_NORM_RANGE_FIELDS,
                                  [LENGTH] = {"length", TS_FIELD_REAL, .initial = 0, .least = 0, .most = 1e15,
                                              .help = "fixed length; 0: trained gain"},
                                  [EPS] = {"eps", TS_FIELD_REAL, .initial = 1e-6, .least = 0, .most = 1},
                                  {.name = NULL}};

static ts_status build(ts_layer *layer, ts_layer_builder *builder) {
    const ts_place place = ts_norm_place(&builder->layout, layer);
    const bool fixed = ts_layer_value(layer, LENGTH) > 0;
    if (place.count < 1) return ts_layer_refuse(layer, builder, "tokens have no such coordinates");
    layer->param[0] =
        ts_layer_param(layer, builder, "gain", TS_SHAPE(place.count), (ts_init){.kind = TS_INIT_ONES, .fixed = fixed});
    return builder->error->status;
}

static void fill(const ts_layer *layer, ts_params *params, const ts_layout *layout) {
    const ts_place place = ts_norm_place(layout, layer);
    const double length = ts_layer_value(layer, LENGTH);
    for (int64_t i = 0; length > 0 && i < place.count; i++)
        ts_params_value(params, layer->param[0])[i] = (ts_real)(length / sqrt((double)place.count));
}

static ts_tensor *forward(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    const ts_place place = ts_norm_place(&streams->layout, layer);
    return ts_rms_norm(streams->tape, x, ts_layer_use(layer, 0, streams), place.first, place.count,
                       ts_layer_value(layer, EPS));
}

const ts_layer_type ts_rms_norm_layer = {.name = "rms_norm",
                                         .summary = "coordinates of mean square 1, times a gain",
                                         .fields = fields,
                                         .build = build,
                                         .fill = fill,
                                         .forward = forward};
