/* feed_forward_layer.c: y = f(x W1 + b1) W2 + b2 with activation f and a hidden width; as a branch of a residual layer
 * the feed-forward block of a transformer [Vaswani et al. 2017].
 *
 *     dense         W1 [e,hidden], W2 [hidden,e]
 *     equivariant   data: y = 0; other coordinates: the same of r, W1 [s,hidden], W2 [hidden,s]; with `length` r gets
 *                   one more number, log(|x|^2 + .001) of the data coordinates x
 *     units         fixed: the sum over units of weight f(scale from), written to `to`
 *
 * Parameters: in.weight, in.bias, out.weight, out.bias. W2 and b2 begin as those of a linear layer times `start`. */
#include "mlp.h"
#include "weights.h"

enum { ACTIVATION, HIDDEN, WEIGHTS, LENGTH, START };
enum { IN, OUT = IN + 2 };
static const ts_field fields[] = {
    [ACTIVATION] = {"activation", TS_FIELD_CHOICE, .choices = ts_activation_words, .help = "f"},
    [HIDDEN] = {"hidden", TS_FIELD_WHOLE, .initial = 64, .least = 1, .most = 1 << 20, .help = "hidden width"},
    [WEIGHTS] = TS_WEIGHTS_FIELD,
    [LENGTH] = {"length", TS_FIELD_FLAG, .initial = 0, .help = "equivariant: sees the length of the data"},
    [START] = {"start", TS_FIELD_REAL, .initial = 1, .least = 0, .most = 1,
               .help = "size of the second weights at first"},
    {.name = NULL}};

static bool equivariant(const ts_layer *layer) {
    return ts_layer_value(layer, WEIGHTS) == TS_WEIGHTS_EQUIVARIANT;
}

/* Hidden coordinates of fixed units: as many as their sources have. */
static int64_t units_width(const ts_layer *layer, ts_layer_builder *builder) {
    int64_t hidden = 0;
    for (int i = 0; i < layer->spec->n_copies; i++) {
        const ts_copy *copy = &layer->spec->copy[i].copy;
        const ts_place from = ts_layout_place(&builder->layout, &copy->from),
                       to = ts_layout_place(&builder->layout, &copy->to);
        if (from.count < 1 || to.count < 1)
            return ts_layer_refuse(layer, builder, "unit %d: tokens have no such coordinates", i), -1;
        if (from.count != to.count && to.count != 1)
            return ts_layer_refuse(layer, builder, "unit %d: %lld coordinates do not fit into %lld", i,
                                   (long long)from.count, (long long)to.count),
                   -1;
        hidden += from.count;
    }
    return hidden;
}

static ts_status build(ts_layer *layer, ts_layer_builder *builder) {
    const bool units = layer->spec->n_copies > 0;
    int64_t hidden = (int64_t)ts_layer_value(layer, HIDDEN), width = builder->layout.e;
    if (units) {
        hidden = units_width(layer, builder);
        if (hidden < 1) return builder->error->status;
        const ts_init fixed = {.kind = TS_INIT_ZEROS, .fixed = true};
        layer->param[IN] = ts_layer_param(layer, builder, "in.weight", TS_SHAPE(width, hidden), fixed);
        layer->param[OUT] = ts_layer_param(layer, builder, "out.weight", TS_SHAPE(hidden, width), fixed);
        return builder->error->status;
    }
    if (equivariant(layer)) {
        width = builder->layout.s;
        if (width == 0) return ts_layer_refuse(layer, builder, "tokens have nothing beside data");
    }
    const int64_t in = width + (equivariant(layer) && ts_layer_value(layer, LENGTH) != 0);
    ts_mlp_add(layer, builder, IN, "", in, hidden, width);
    return builder->error->status;
}

static void fill(const ts_layer *layer, ts_params *params, const ts_layout *layout) {
    if (layer->spec->n_copies == 0) ts_mlp_start(layer, params, IN, ts_layer_value(layer, START));
    int64_t at = 0;
    for (int i = 0; i < layer->spec->n_copies; i++) {
        const ts_layer_copy *unit = &layer->spec->copy[i];
        const ts_place from = ts_layout_place(layout, &unit->copy.from), to = ts_layout_place(layout, &unit->copy.to);
        ts_real *in = ts_params_value(params, layer->param[IN]), *out = ts_params_value(params, layer->param[OUT]);
        const int64_t hidden = ts_params_shape(params, layer->param[IN])->dim[1];
        for (int64_t a = 0; a < from.count; a++, at++) {
            in[(from.first + a) * hidden + at] += (ts_real)unit->copy.scale;
            out[at * layout->e + to.first + (to.count == 1 ? 0 : a)] += (ts_real)unit->weight;
        }
    }
}

static ts_tensor *apply(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    return ts_mlp_apply(layer, streams, IN, ts_activation_at((int)ts_layer_value(layer, ACTIVATION)), x);
}

static ts_tensor *forward(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    ts_tape *tape = streams->tape;
    if (!equivariant(layer) || layer->spec->n_copies > 0) return apply(layer, streams, x);
    ts_tensor *data = ts_data_of(streams, x), *rest = ts_rest_of(streams, x);
    if (ts_layer_value(layer, LENGTH) != 0) {
        ts_tensor *length = ts_sum(tape, ts_square(tape, data), -1, true);
        ts_tensor *small = ts_constant(tape, TS_SHAPE(1), (ts_real[]){(ts_real)1e-3});
        rest = ts_concat(tape, 2, (ts_tensor *[]){rest, ts_log(tape, ts_add(tape, length, small))}, -1);
    }
    ts_tensor *zero = ts_constant(tape, data->shape, NULL);
    return ts_join_data(streams, zero, apply(layer, streams, rest));
}

static bool alone(const ts_layer *layer) {
    (void)layer;
    return true;
}

const ts_layer_type ts_feed_forward_layer = {.name = "feed_forward",
                                             .summary = "f(x W1 + b1) W2 + b2",
                                             .fields = fields,
                                             .copies = true,
                                             .build = build,
                                             .fill = fill,
                                             .forward = forward,
                                             .alone = alone};
