/* residual_layer.c: y = x + f_1(x) + f_2(x) + .., added in this order [He et al. 2016]. Each f is a layer of the list.
 * Parameters of the last f come first, as they always have in files of the papers' model, whose cross-attention is the
 * last. */
#include "../layer.h"

static ts_tensor *forward(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    ts_tensor *sum = x;
    for (int i = 0; i < layer->n_parts; i++) {
        const ts_scope scope = ts_layer_scope_begin(streams);
        ts_tensor *branch = ts_layer_forward(layer->part[i], streams, x);
        sum = ts_layer_scope_end(streams, scope, ts_add(streams->tape, sum, branch));
    }
    return sum;
}

const ts_layer_type ts_residual_layer = {.name = "residual",
                                         .summary = "x + the sum of its layers of x",
                                         .fields = ts_no_fields,
                                         .list = true,
                                         .last_first = true,
                                         .forward = forward};
