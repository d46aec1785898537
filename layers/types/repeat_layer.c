/* repeat_layer.c: a list of layers applied several times, with the same weights each time or with weights of their own
 * [Dehghani et al. 2019, "Universal Transformers", for the former]. */
#include <stdio.h>

#include "../layer.h"

enum { TIMES, SHARED };
static const ts_field fields[] = {
    [TIMES] = {"times", TS_FIELD_WHOLE, .initial = 2, .least = 1, .most = 64, .help = "how often"},
    [SHARED] = {"shared", TS_FIELD_FLAG, .initial = 1, .help = "the same weights each time"},
    {.name = NULL}};

/* The first time's layers are the parts already; the others follow them. */
static ts_status build(ts_layer *layer, ts_layer_builder *builder) {
    const int times = (int)ts_layer_value(layer, TIMES), listed = layer->spec->n_parts;
    if (ts_layer_value(layer, SHARED) != 0) return TS_OK;
    if (times * listed > TS_LAYER_PARTS)
        return ts_layer_refuse(layer, builder, "%d times %d of own weights are more than %d layers", times, listed,
                               TS_LAYER_PARTS);
    for (int t = 1; t < times; t++)
        for (int i = 0; i < listed; i++) {
            char place[TS_LAYER_PATH + 32], prefix[TS_LAYER_PATH + 32];
            snprintf(place, sizeof place, "%s[%d]", layer->path, i);
            snprintf(prefix, sizeof prefix, "%s.%d", layer->prefix, t * listed + i);
            layer->part[layer->n_parts] = ts_layer_build(layer->spec->part[i], place, prefix, builder);
            if (layer->part[layer->n_parts] == NULL) return builder->error->status;
            layer->n_parts++;
        }
    return TS_OK;
}

static ts_tensor *forward(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    const int times = (int)ts_layer_value(layer, TIMES), listed = layer->spec->n_parts;
    for (int t = 0; t < times; t++)
        for (int i = 0; i < listed; i++)
            x = ts_layer_forward(layer->part[layer->n_parts > listed ? t * listed + i : i], streams, x);
    return x;
}

const ts_layer_type ts_repeat_layer = {.name = "repeat",
                                       .summary = "its layers, several times",
                                       .fields = fields,
                                       .list = true,
                                       .build = build,
                                       .forward = forward};
