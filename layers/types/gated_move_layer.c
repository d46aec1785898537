/* gated_move_layer.c: each of H heads proposes a move of every centre, to the weighted mean of the points assigned to
 * it, and gates choose among the proposals. With the assignments a and distances D of soft_assignment, data coordinates
 * x_i, c_j and others s_i, t_j,
 *
 *     w_ih  = W(s_i)                                             a weight of the point, in logarithm
 *     b_jih = softmax over points i of (log a_ijh + w_ih)
 *     u_jh  = sum_i b_jih x_i - c_j                              where head h would move the centre
 *     o_jh  = mean of the OTHER centres with weights softmax(-gamma_h |c_j - c_l|^2)
 *     t_j   <- F(t_j, log |u_jh|^2, log sum_i a_ijh - log(n / k), log sum_i b_jih D_ij, log |o_jh - c_j|^2)
 *     c_j   <- c_j + sum_h G_h(t_j) u_jh
 *
 * with .001 added inside each logarithm but log(n / k). W, F and G are `weight_hidden`, `hidden` and `gate_hidden`
 * wide, with relu; G begins near (1,0,..,0), so that an untrained model is soft k-means of the first head. gamma_h is
 * trained through its logarithm; without other centres |o - c| is 0. All is equivariant under motions of the data, and
 * no size depends on d or k.
 *
 * Parameters: log_gamma [H]; weight, feed and gate, each with in.weight, in.bias, out.weight, out.bias. O(n k (d + H) +
 * k^2 d) time and memory of a few H n k numbers. */
#include "mlp.h"

enum { MOST_HEADS = 8 };
enum { HIDDEN, WEIGHT_HIDDEN, GATE_HIDDEN, START, GAMMA };
enum { GAMMA_SLOT, WEIGHT, FEED = WEIGHT + TS_MLP_SLOTS, GATE = FEED + TS_MLP_SLOTS };
#define WIDTH_FIELD(name, width, what) \
    { name, TS_FIELD_WHOLE, .initial = width, .least = 1, .most = 1 << 16, .help = what }
static const ts_field fields[] = {
    [HIDDEN] = WIDTH_FIELD("hidden", 128, "width of F"),
    [WEIGHT_HIDDEN] = WIDTH_FIELD("weight_hidden", 64, "width of W"),
    [GATE_HIDDEN] = WIDTH_FIELD("gate_hidden", 64, "width of G"),
    [START] = {"start", TS_FIELD_REAL, .initial = 0.1, .least = 0, .most = 1,
               .help = "size of second weights at first"},
    [GAMMA] = {"gamma", TS_FIELD_REAL, .initial = 1, .least = 0, .above = true, .most = 1e15, .numbers = MOST_HEADS,
               .help = "gamma_h among centres at first: one for each head of the assignments"},
    {.name = NULL}};

static int heads_of(const ts_layer *layer) {
    return ts_field_given(&fields[GAMMA], layer->spec->field + GAMMA);
}

static ts_status build(ts_layer *layer, ts_layer_builder *builder) {
    const int64_t heads = heads_of(layer), s = builder->layout.s;
    if (!layer->on_centers) return ts_layer_refuse(layer, builder, "only centres move");
    if (s == 0) return ts_layer_refuse(layer, builder, "tokens have nothing beside data to write to");
    layer->param[GAMMA_SLOT] =
        ts_layer_param(layer, builder, "log_gamma", TS_SHAPE(heads), (ts_init){.kind = TS_INIT_ZEROS});
    ts_mlp_add(layer, builder, WEIGHT, "weight", s, (int64_t)ts_layer_value(layer, WEIGHT_HIDDEN), heads);
    ts_mlp_add(layer, builder, FEED, "feed", s + 4 * heads, (int64_t)ts_layer_value(layer, HIDDEN), s);
    ts_mlp_add(layer, builder, GATE, "gate", s, (int64_t)ts_layer_value(layer, GATE_HIDDEN), heads);
    return builder->error->status;
}

static void fill(const ts_layer *layer, ts_params *params, const ts_layout *layout) {
    const double start = ts_layer_value(layer, START);
    (void)layout;
    for (int h = 0; h < heads_of(layer); h++)
        ts_params_value(params, layer->param[GAMMA_SLOT])[h] = (ts_real)log(layer->spec->field[GAMMA + h]);
    ts_mlp_start(layer, params, WEIGHT, start);
    ts_mlp_start(layer, params, FEED, start);
    ts_mlp_start(layer, params, GATE, start);
    ts_params_value(params, layer->param[GATE + 3])[0] = 1;
}

static ts_tensor *number(ts_tape *tape, double value) {
    return ts_constant(tape, TS_SHAPE(1), (ts_real[]){(ts_real)value});
}

/* log(x + .001) of x [H,k], as [k,H]. */
static ts_tensor *feature(ts_tape *tape, ts_tensor *x) {
    return ts_transpose(tape, ts_log(tape, ts_add(tape, x, number(tape, 1e-3))), 0, 1);
}

static ts_tensor *squares(ts_tape *tape, ts_tensor *vectors) {
    return ts_sum(tape, ts_square(tape, vectors), -1, false);
}

/* Matrices [H,a,b] times one matrix [b,c]. */
static ts_tensor *times(ts_tape *tape, ts_tensor *matrices, ts_tensor *matrix) {
    if (ts_tape_status(tape) != TS_OK) return matrices;
    const int64_t heads = matrices->shape.dim[0], a = matrices->shape.dim[1], b = matrices->shape.dim[2];
    ts_tensor *flat = ts_matmul(tape, ts_reshape(tape, matrices, TS_SHAPE(heads * a, b)), matrix, false, false);
    return ts_reshape(tape, flat, TS_SHAPE(heads, a, matrix->shape.dim[1]));
}

/* o_jh - c_j [H,k,d]. A centre is kept from seeing itself by a score that no other has. */
static ts_tensor *ways_to_others(const ts_layer *layer, ts_streams *streams, ts_tensor *c) {
    ts_tape *tape = streams->tape;
    const int64_t heads = heads_of(layer), k = streams->layout.k;
    ts_tensor *itself = ts_constant(tape, TS_SHAPE(k, k), NULL);
    for (int64_t j = 0; j < k && ts_tape_status(tape) == TS_OK; j++) itself->data[j * k + j] = (ts_real)-1e9;
    ts_tensor *distances = ts_reshape(tape, ts_squared_distances(tape, c, c), TS_SHAPE(1, k, k));
    ts_tensor *gamma = ts_reshape(tape, ts_exp(tape, ts_layer_use(layer, GAMMA_SLOT, streams)), TS_SHAPE(heads, 1, 1));
    ts_tensor *scores = ts_sub(tape, itself, ts_mul(tape, distances, gamma));
    return ts_sub(tape, times(tape, ts_softmax(tape, scores, -1), c), c);
}

static ts_tensor *forward(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    ts_tape *tape = streams->tape;
    const int64_t heads = heads_of(layer), k = streams->layout.k;
    const ts_assignments *a = &streams->assignments;
    if (ts_tape_status(tape) != TS_OK) return x;
    if (a->weights == NULL || a->weights->shape.dim[0] != heads)
        return ts_fail(tape, TS_ERROR_VALUE, "%s: its layer's points need soft_assignment of %lld heads", layer->path,
                       (long long)heads);
    const int64_t n = streams->points->shape.dim[0];
    ts_tensor *c = ts_data_of(streams, x), *points = ts_data_of(streams, streams->points);
    ts_tensor *w = ts_mlp_apply(layer, streams, WEIGHT, ts_relu, ts_rest_of(streams, streams->points));
    w = ts_reshape(tape, ts_transpose(tape, w, 0, 1), TS_SHAPE(heads, n, 1));
    ts_tensor *b = ts_softmax(tape, ts_transpose(tape, ts_add(tape, a->log_weights, w), 1, 2), -1); /* [H,k,n] */
    ts_tensor *u = ts_sub(tape, times(tape, b, points), c);
    ts_tensor *mass = feature(tape, ts_sum(tape, a->weights, 1, false));
    mass = ts_sub(tape, mass, number(tape, log((double)n / (double)k)));
    ts_tensor *distances = ts_reshape(tape, ts_transpose(tape, a->distances, 0, 1), TS_SHAPE(1, k, n));
    ts_tensor *spread = feature(tape, ts_sum(tape, ts_mul(tape, b, distances), -1, false));
    ts_tensor *apart = feature(tape, squares(tape, ways_to_others(layer, streams, c)));
    ts_tensor *seen = ts_concat(
        tape, 5, (ts_tensor *[]){ts_rest_of(streams, x), feature(tape, squares(tape, u)), mass, spread, apart}, -1);
    ts_tensor *t = ts_mlp_apply(layer, streams, FEED, ts_relu, seen);
    ts_tensor *gate = ts_transpose(tape, ts_mlp_apply(layer, streams, GATE, ts_relu, t), 0, 1);
    ts_tensor *move = ts_sum(tape, ts_mul(tape, u, ts_reshape(tape, gate, TS_SHAPE(heads, k, 1))), 0, false);
    return ts_join_data(streams, ts_add(tape, c, move), t);
}

const ts_layer_type ts_gated_move_layer = {.name = "gated_move",
                                           .summary = "centres move as their gates choose among the heads",
                                           .fields = fields,
                                           .build = build,
                                           .fill = fill,
                                           .forward = forward};
