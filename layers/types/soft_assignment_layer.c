/* soft_assignment_layer.c: points see the centres through H soft assignments of different widths, and write what they
 * see to all coordinates but data. With data coordinates x_i, c_j, others s_i, and s0_i those before the first step,
 *
 *     D_ij  = |x_i - c_j|^2
 *     a_ijh = softmax over j of -gamma_h D_ij
 *     e_ih  = sum_j a_ijh D_ij                                how far the point is from where it belongs
 *     l_ih  = log(e_ih / mean_i min_j D_ij + .001)            the same, relative to all points
 *     s_i   <- s0_i + F(s_i, e_i, l_i)                        F: `hidden` wide, relu
 *
 * gamma_h is trained through its logarithm. D and a remain for the layer gated_move of the centres. All of it is
 * invariant under motions of the data, and no size depends on d or k.
 *
 * Parameters: log_gamma [H], in.weight [s + 2 H,hidden], in.bias, out.weight [hidden,s], out.bias. O(n k (d + H)) time
 * and memory of H n k numbers. */
#include "mlp.h"

enum { MOST_HEADS = 8 };
enum { HIDDEN, START, GAMMA };
enum { GAMMA_SLOT, FEED };
static const ts_field fields[] = {
    [HIDDEN] = {"hidden", TS_FIELD_WHOLE, .initial = 64, .least = 1, .most = 1 << 16, .help = "width of F"},
    [START] = {"start", TS_FIELD_REAL, .initial = 0.1, .least = 0, .most = 1,
               .help = "size of F's second weights at first"},
    [GAMMA] = {"gamma", TS_FIELD_REAL, .initial = 1, .least = 0, .above = true, .most = 1e15, .numbers = MOST_HEADS,
               .help = "gamma_h at first: one for each head"},
    {.name = NULL}};

static int heads_of(const ts_layer *layer) {
    return ts_field_given(&fields[GAMMA], layer->spec->field + GAMMA);
}

static ts_status build(ts_layer *layer, ts_layer_builder *builder) {
    const int64_t heads = heads_of(layer), s = builder->layout.s;
    if (layer->on_centers) return ts_layer_refuse(layer, builder, "only points are assigned");
    if (s == 0) return ts_layer_refuse(layer, builder, "tokens have nothing beside data to write to");
    layer->param[GAMMA_SLOT] =
        ts_layer_param(layer, builder, "log_gamma", TS_SHAPE(heads), (ts_init){.kind = TS_INIT_ZEROS});
    ts_mlp_add(layer, builder, FEED, "", s + 2 * heads, (int64_t)ts_layer_value(layer, HIDDEN), s);
    return builder->error->status;
}

static void fill(const ts_layer *layer, ts_params *params, const ts_layout *layout) {
    (void)layout;
    for (int h = 0; h < heads_of(layer); h++)
        ts_params_value(params, layer->param[GAMMA_SLOT])[h] = (ts_real)log(layer->spec->field[GAMMA + h]);
    ts_mlp_start(layer, params, FEED, ts_layer_value(layer, START));
}

static ts_tensor *number(ts_tape *tape, double value) {
    return ts_constant(tape, TS_SHAPE(1), (ts_real[]){(ts_real)value});
}

static ts_tensor *forward(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    ts_tape *tape = streams->tape;
    const int64_t heads = heads_of(layer);
    ts_tensor *distances = ts_squared_distances(tape, ts_data_of(streams, x), ts_data_of(streams, streams->centers));
    if (ts_tape_status(tape) != TS_OK) return x;
    const int64_t n = distances->shape.dim[0], k = distances->shape.dim[1];
    ts_tensor *gamma = ts_reshape(tape, ts_exp(tape, ts_layer_use(layer, GAMMA_SLOT, streams)), TS_SHAPE(heads, 1, 1));
    ts_tensor *each = ts_reshape(tape, distances, TS_SHAPE(1, n, k));
    ts_tensor *log_weights = ts_log_softmax(tape, ts_neg(tape, ts_mul(tape, each, gamma)), -1);
    ts_tensor *weights = ts_exp(tape, log_weights);
    ts_tensor *near = ts_transpose(tape, ts_sum(tape, ts_mul(tape, weights, each), -1, false), 0, 1);
    ts_tensor *nearest = ts_mean(tape, ts_min(tape, distances, -1, false), 0, true);
    ts_tensor *relative = ts_div(tape, near, ts_clamp(tape, nearest, 1e-6, HUGE_VAL));
    relative = ts_log(tape, ts_add(tape, relative, number(tape, 1e-3)));
    ts_tensor *seen = ts_concat(tape, 3, (ts_tensor *[]){ts_rest_of(streams, x), near, relative}, -1);
    ts_tensor *rest =
        ts_add(tape, ts_rest_of(streams, streams->first_points), ts_mlp_apply(layer, streams, FEED, ts_relu, seen));
    streams->assignments = (ts_assignments){.distances = distances, .log_weights = log_weights, .weights = weights};
    return ts_join_data(streams, ts_data_of(streams, x), rest);
}

const ts_layer_type ts_soft_assignment_layer = {.name = "soft_assignment",
                                                .summary = "points see centres through soft assignments",
                                                .fields = fields,
                                                .build = build,
                                                .fill = fill,
                                                .forward = forward};
