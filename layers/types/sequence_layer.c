/* sequence_layer.c: y = f_n(.. f_2(f_1(x))), the layers of the list one after the other. */
#include "../layer.h"

static ts_tensor *forward(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    for (int i = 0; i < layer->n_parts; i++) x = ts_layer_forward(layer->part[i], streams, x);
    return x;
}

const ts_layer_type ts_sequence_layer = {.name = "sequence",
                                         .summary = "its layers one after the other",
                                         .fields = ts_no_fields,
                                         .list = true,
                                         .forward = forward};
