/* dropout_layer.c: in training, each coordinate is 0 with probability p and else divided by 1 - p; otherwise y = x
 * [Srivastava et al. 2014]. */
#include "../layer.h"

enum { P };
static const ts_field fields[] = {
    [P] = {"p", TS_FIELD_REAL, .initial = 0.1, .least = 0, .most = 1, .below = true, .help = "probability of 0"},
    {.name = NULL}};

static ts_tensor *forward(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    if (!streams->training) return x;
    return ts_dropout(streams->tape, x, ts_layer_value(layer, P),
                      (ts_rng){streams->seed, layer->stream[0], streams->step});
}

const ts_layer_type ts_dropout_layer = {.name = "dropout",
                                        .summary = "coordinates that are 0 at random, in training",
                                        .fields = fields,
                                        .random = true,
                                        .forward = forward};
