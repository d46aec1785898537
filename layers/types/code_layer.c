/* code_layer.c: writes what follows the data anew, as it was before the first step: a centre's code and memory, a
 * point's zeros or marks. For models that keep their tokens from step to step. */
#include "../layer.h"

static ts_tensor *forward(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    if (streams->layout.s == 0) return x;
    ts_tensor *first = layer->on_centers ? streams->first_centers : streams->first_points;
    return ts_join_data(streams, ts_data_of(streams, x), ts_rest_of(streams, first));
}

const ts_layer_type ts_code_layer = {.name = "code",
                                     .summary = "the code and memory of the first step again",
                                     .fields = ts_no_fields,
                                     .forward = forward};
