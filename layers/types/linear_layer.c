/* linear_layer.c: y = x W + b, x [..,e], y [..,width].
 *
 *     dense         W [e,width] and b [width] trained (b with `bias`)
 *     diagonal      y = w * x, w [e] trained, at first 1
 *     equivariant   data: y = w x, a scalar w, at first 1; other coordinates: y = r W + b, W [s,s]
 *     copies        W is the sum of copies of groups of coordinates, times scales that are fixed, or with "scales":
 *                   "learned" trained from the given ones on; no b
 *
 * Parameters: weight, bias; equivariant: scale, weight, bias; learned copies: scales [copies]. */
#include "../linear.h"

#include <math.h>

#include "../layer.h"
#include "linear_layer.h"

enum { DENSE, EQUIVARIANT, DIAGONAL };
static const char *const words[] = {"dense", "equivariant", "diagonal", NULL};
static const char *const scale_words[] = {"fixed", "learned", NULL};

enum { WEIGHTS, BIAS, WIDTH, SCALES };
enum { WEIGHT_SLOT, BIAS_SLOT, SCALE_SLOT };
static const ts_field fields[] = {
    [WEIGHTS] = {"weights", TS_FIELD_CHOICE, .choices = words,
                 .help = "a matrix, a vector, or a scalar on data coordinates and a matrix on others"},
    [BIAS] = {"bias", TS_FIELD_FLAG, .initial = 1, .help = "adds a vector"},
    [WIDTH] = {"width", TS_FIELD_WHOLE, .initial = 0, .least = 0, .most = 1 << 16, .help = "of y; 0: that of a token"},
    [SCALES] = {"scales", TS_FIELD_CHOICE, .choices = scale_words, .help = "of copies"},
    {.name = NULL}};

static bool in_place(const ts_layout *layout, const ts_copy *copy) {
    const ts_place from = ts_layout_place(layout, &copy->from), to = ts_layout_place(layout, &copy->to);
    return from.first == to.first && from.count == to.count;
}

/* Does every copy stay in its place? Then the matrix is stored as a diagonal. */
static bool stays(const ts_layer_spec *spec, const ts_layout *layout) {
    bool same = true;
    for (int i = 0; i < spec->n_copies; i++) same = same && in_place(layout, &spec->copy[i].copy);
    return same;
}

bool ts_linear_layer_is_group(const ts_layer *layer, const ts_layout *layout, ts_place *place) {
    const ts_layer_spec *spec = layer->spec;
    const ts_copy *copy = &spec->copy[0].copy;
    if (spec->n_copies != 1 || spec->field[SCALES] != 0 || copy->scale != 1 || !in_place(layout, copy)) return false;
    *place = ts_layout_place(layout, &copy->from);
    return true;
}

int64_t ts_linear_layer_width(const ts_layer *layer, const ts_layout *layout) {
    const int64_t width = (int64_t)ts_layer_value(layer, WIDTH);
    return width > 0 ? width : layout->e;
}

bool ts_linear_layer_is_fixed(const ts_layer *layer) {
    return layer->spec->n_copies > 0 && ts_layer_value(layer, SCALES) == 0;
}

static ts_status build_copies(ts_layer *layer, ts_layer_builder *builder) {
    const ts_layout *layout = &builder->layout;
    const ts_layer_spec *spec = layer->spec;
    for (int i = 0; i < spec->n_copies; i++) {
        const ts_copy *copy = &spec->copy[i].copy;
        const ts_place from = ts_layout_place(layout, &copy->from), to = ts_layout_place(layout, &copy->to);
        if (from.count < 1 || to.count < 1)
            return ts_layer_refuse(layer, builder, "copy %d: tokens have no such %s", i,
                                   ts_group_names[from.count < 1 ? copy->from.group : copy->to.group]);
        if (from.count != to.count && to.count != 1)
            return ts_layer_refuse(layer, builder, "copy %d: %lld coordinates of %s do not fit into %lld of %s", i,
                                   (long long)from.count, ts_group_names[copy->from.group], (long long)to.count,
                                   ts_group_names[copy->to.group]);
    }
    if (ts_layer_value(layer, SCALES) != 0) {
        layer->param[SCALE_SLOT] =
            ts_layer_param(layer, builder, "scales", TS_SHAPE(spec->n_copies), (ts_init){.kind = TS_INIT_ONES});
        return builder->error->status;
    }
    const ts_init init = {.kind = TS_INIT_ZEROS, .fixed = true};
    const ts_shape shape = stays(spec, layout) ? TS_SHAPE(layout->e) : TS_SHAPE(layout->e, layout->e);
    layer->param[WEIGHT_SLOT] = ts_layer_param(layer, builder, "weight", shape, init);
    return builder->error->status;
}

static ts_status build(ts_layer *layer, ts_layer_builder *builder) {
    const ts_layout *layout = &builder->layout;
    const int weights = (int)ts_layer_value(layer, WEIGHTS);
    int64_t in = layout->e, out = ts_linear_layer_width(layer, layout);
    if (layer->spec->n_copies > 0) return build_copies(layer, builder);
    if (weights != DENSE && out != in)
        return ts_layer_refuse(layer, builder, "%s weights keep the width of a token", words[weights]);
    if (out != in && !builder->of_part)
        return ts_layer_refuse(layer, builder, "%lld numbers are not the %lld of a token", (long long)out,
                               (long long)in);
    const ts_init ones = {.kind = TS_INIT_ONES}, zeros = {.kind = TS_INIT_ZEROS};
    if (weights == DIAGONAL) {
        layer->param[WEIGHT_SLOT] = ts_layer_param(layer, builder, "weight", TS_SHAPE(in), ones);
        return builder->error->status;
    }
    if (weights == EQUIVARIANT) {
        layer->param[SCALE_SLOT] = ts_layer_param(layer, builder, "scale", TS_SHAPE(1), ones);
        in = out = layout->s;
        if (in == 0) return builder->error->status;
    }
    layer->param[WEIGHT_SLOT] = ts_layer_matrix(layer, builder, "weight", in, out);
    const ts_init init = weights == DENSE ? (ts_init){.kind = TS_INIT_UNIFORM, .bound = 1 / sqrt((double)in)} : zeros;
    if (ts_layer_value(layer, BIAS) != 0)
        layer->param[BIAS_SLOT] = ts_layer_param(layer, builder, "bias", TS_SHAPE(out), init);
    return builder->error->status;
}

/* weight [e,e] or [e] += scale at (from + i, to + i), or at (from + i, to) if `to` is one coordinate. */
static void fill(const ts_layer *layer, ts_params *params, const ts_layout *layout) {
    const ts_layer_spec *spec = layer->spec;
    for (int i = 0; i < spec->n_copies; i++) {
        const ts_copy *copy = &spec->copy[i].copy;
        if (spec->field[SCALES] != 0) {
            ts_params_value(params, layer->param[SCALE_SLOT])[i] = (ts_real)copy->scale;
            continue;
        }
        ts_real *weight = ts_params_value(params, layer->param[WEIGHT_SLOT]);
        const bool diagonal = stays(spec, layout);
        const ts_place from = ts_layout_place(layout, &copy->from), to = ts_layout_place(layout, &copy->to);
        for (int64_t a = 0; a < from.count; a++)
            weight[diagonal ? from.first + a : (from.first + a) * layout->e + to.first + (to.count == 1 ? 0 : a)] +=
                (ts_real)copy->scale;
    }
}

/* y [..,count] at `to` of rows of width e, zeros elsewhere. */
static ts_tensor *placed(ts_streams *streams, ts_tensor *y, ts_place to) {
    ts_tensor *piece[3];
    int n = 0;
    ts_shape shape = y->shape;
    const int64_t around[] = {to.first, streams->layout.e - to.first - to.count};
    for (int side = 0; side < 2; side++) {
        if (side == 1) piece[n++] = y;
        shape.dim[shape.rank - 1] = around[side];
        if (around[side] > 0) piece[n++] = ts_constant(streams->tape, shape, NULL);
    }
    return ts_concat(streams->tape, n, piece, -1);
}

static ts_tensor *learned_copies(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    ts_tensor *scales = ts_layer_use(layer, SCALE_SLOT, streams), *sum = NULL;
    for (int i = 0; i < layer->spec->n_copies; i++) {
        const ts_copy *copy = &layer->spec->copy[i].copy;
        const ts_place from = ts_layout_place(&streams->layout, &copy->from),
                       to = ts_layout_place(&streams->layout, &copy->to);
        ts_tensor *y = ts_slice(streams->tape, x, -1, from.first, from.count);
        if (to.count != from.count) y = ts_sum(streams->tape, y, -1, true);
        y = placed(streams, ts_mul(streams->tape, y, ts_slice(streams->tape, scales, 0, i, 1)), to);
        sum = sum == NULL ? y : ts_add(streams->tape, sum, y);
    }
    return sum;
}

static ts_tensor *forward(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    const int weights = (int)ts_layer_value(layer, WEIGHTS);
    const bool copies = layer->spec->n_copies > 0;
    if (copies && ts_layer_value(layer, SCALES) != 0) return learned_copies(layer, streams, x);
    ts_linear linear = {.weight = layer->param[WEIGHT_SLOT], .bias = layer->param[BIAS_SLOT]};
    linear.diagonal = copies ? stays(layer->spec, &streams->layout) : weights == DIAGONAL;
    if (copies || weights != EQUIVARIANT) return ts_linear_forward(&linear, streams->params, streams->tape, x);
    ts_tensor *data = ts_mul(streams->tape, ts_data_of(streams, x), ts_layer_use(layer, SCALE_SLOT, streams));
    if (streams->layout.s == 0) return data;
    return ts_join_data(streams, data,
                        ts_linear_forward(&linear, streams->params, streams->tape, ts_rest_of(streams, x)));
}

static bool alone(const ts_layer *layer) {
    (void)layer;
    return true;
}

const ts_layer_type ts_linear_layer = {.name = "linear",
                                       .summary = "y = x W + b, trained, or copies of groups of coordinates",
                                       .fields = fields,
                                       .copies = true,
                                       .build = build,
                                       .fill = fill,
                                       .forward = forward,
                                       .alone = alone};
