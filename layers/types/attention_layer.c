/* attention_layer.c: y_i = sum_j p_ij v_j, rows i of a stream that look at rows j of the other or of their own.
 *
 *     dense        q = x Wq + bq, k, v likewise of the rows looked at; each of H heads has width / H of their numbers,
 *                  s_ij = -gamma |q_i - k_j|^2 or gamma q_i.k_j (over sqrt(width / H) if scaled); the heads' results
 *                  stand one after the other, as wide as a token, or go through one more matrix (`out`)
 *     equivariant  with data coordinates x_i, y_j and others r_i, t_j, for each head h
 *                  s_ij = -gamma_h |x_i - y_j|^2 + Q_h r_i . K_h t_j / sqrt(width), or gamma_h x_i.y_j + ..;
 *                  data of the result: sum_h a_h sum_j p_ijh y_j; others: (V_h sum_j p_ijh t_j, all h) O;
 *                  gamma_h is trained through its logarithm; a_h begin as 1 / H
 *
 * p_i = simplex(s_i) over the rows looked at ("keys"); or with normalise "queries" the map goes over the rows that
 * look, and then each row's weights are divided by their sum, as in slot attention [Locatello et al. 2020].
 *
 * output "offset": data coordinates are those of the mean less those of the row itself: where it would go.
 *
 * writes: "data" or "rest" makes the others 0, so that in a residual layer they stay as they are.
 *
 * own_code: centres see only the points whose code is nearest to their own (an exact mask).
 *
 * A projection that is not given is trained, with a bias; else it is a linear layer, and queries and keys that copy the
 * same group are just that group.
 *
 * Parameters: query.weight, query.bias, .. key, value, out; log_gamma [H]; equivariant: query.weight [s,H width], key,
 * value [s,H width], out.weight [H width,s], scale [H]. Gradients and cost: ts_attention in ops.h for one head or more
 * over keys; over queries all weights [H,n,m] are kept. [Vaswani et al. 2017] */
#include <math.h>
#include <stdio.h>

#include "../../autograd/parallel.h"
#include "../linear.h"
#include "linear_layer.h"
#include "weights.h"

enum { MOST_HEADS = 16 };
enum {
    OVER,
    SCORE,
    SIMPLEX,
    PARAMETER,
    SCALED,
    IDENTITY,
    OWN_CODE,
    DROPOUT,
    HEADS,
    WIDTH,
    NORMALISE,
    OUTPUT,
    OUTWARD,
    WRITES,
    WEIGHTS,
    LEARN_GAMMA,
    GAMMA
};
enum { Q_WEIGHT, Q_BIAS, K_WEIGHT, K_BIAS, V_WEIGHT, V_BIAS, O_WEIGHT, O_BIAS, GAMMA_SLOT, SCALE_SLOT };
enum { QUERY, KEY, VALUE, OUT };
static const char *const streams_words[] = {"points", "centers", NULL};
static const char *const score_words[] = {"dot", "euclidean", NULL};
static const char *const normalise_words[] = {"keys", "queries", NULL};
static const char *const output_words[] = {"values", "offset", NULL};
static const char *const writes_words[] = {"all", "data", "rest", NULL};
static const char *const part_names[] = {"query", "key", "value", NULL}; /* and "out", which is no part */

static const ts_field fields[] = {
    [OVER] = {"over", TS_FIELD_CHOICE, .initial = NAN, .choices = streams_words, .help = "whose rows are looked at"},
    [SCORE] = {"score", TS_FIELD_CHOICE, .initial = 1, .choices = score_words, .help = "products or distances"},
    [SIMPLEX] = {"simplex", TS_FIELD_MAP, .help = "the map from scores to weights"},
    [PARAMETER] = {"parameter", TS_FIELD_REAL, .initial = 0, .least = -1e300, .most = 1e300, .help = "of the map"},
    [SCALED] = {"scaled", TS_FIELD_FLAG, .help = "divides scores by the root of a head's width"},
    [IDENTITY] = {"identity", TS_FIELD_FLAG, .help = "every row sees itself alone: y = v"},
    [OWN_CODE] = {"own_code", TS_FIELD_FLAG, .help = "centres see the points of their code alone"},
    [DROPOUT] = {"dropout", TS_FIELD_REAL, .least = 0, .most = 1, .help = "of weights, in training"},
    [HEADS] = {"heads", TS_FIELD_WHOLE, .initial = 1, .least = 1, .most = MOST_HEADS, .help = "H"},
    [WIDTH] = {"width", TS_FIELD_WHOLE, .least = 0, .most = 1 << 16,
               .help = "of queries, keys and values of all heads (0: a token's); equivariant: of one head (0: 8)"},
    [NORMALISE] = {"normalise", TS_FIELD_CHOICE, .choices = normalise_words,
                   .help = "over keys, or over queries and then keys"},
    [OUTPUT] = {"output", TS_FIELD_CHOICE, .choices = output_words, .help = "values, or the way to the weighted mean"},
    [WRITES] = {"writes", TS_FIELD_CHOICE, .choices = writes_words, .help = "0 elsewhere: data that shall stay, say"},
    [OUTWARD] = {"out", TS_FIELD_FLAG, .help = "one more matrix, from values to tokens"},
    [WEIGHTS] = TS_WEIGHTS_FIELD,
    [LEARN_GAMMA] = {"learn_gamma", TS_FIELD_FLAG, .help = "gamma is trained, through its logarithm"},
    [GAMMA] = {"gamma", TS_FIELD_REAL, .initial = 1, .least = 0, .above = true, .most = 1e300, .numbers = MOST_HEADS,
               .help = "one for all heads, or one each"},
    {.name = NULL}};

static bool is(const ts_layer *layer, int field) {
    return ts_layer_value(layer, field) != 0;
}

static int heads_of(const ts_layer *layer) {
    return (int)ts_layer_value(layer, HEADS);
}

static bool looks_at_own(const ts_layer *layer) {
    return (ts_layer_value(layer, OVER) != 0) == layer->on_centers;
}

static ts_simplex_spec simplex_of(const ts_layer *layer, const ts_streams *streams) {
    return (ts_simplex_spec){.map = ts_simplex_maps[(int)ts_layer_value(layer, SIMPLEX)],
                             .parameter = ts_layer_value(layer, PARAMETER),
                             .rng = {streams->seed, layer->stream[1], streams->step}};
}

static double gamma_of(const ts_layer *layer, int head) {
    const double *gamma = layer->spec->field + GAMMA;
    return isnan(gamma[head]) ? gamma[0] : gamma[head];
}

/* Width of queries and keys together, of all heads. */
static int64_t width_of(const ts_layer *layer, const ts_layout *layout, int part) {
    const int64_t width = (int64_t)ts_layer_value(layer, WIDTH);
    if (layer->part[part] != NULL) return ts_linear_layer_width(layer->part[part], layout);
    return width > 0 ? width : layout->e;
}

static bool is_equivariant(const ts_layer *layer) {
    return ts_layer_value(layer, WEIGHTS) == TS_WEIGHTS_EQUIVARIANT;
}

/* The scores' gammas differ, are trained, or weights go over queries: then scores are kept, in ops of their own. */
static bool is_plain(const ts_layer *layer) {
    return !is(layer, NORMALISE) && !is(layer, LEARN_GAMMA) && isnan(layer->spec->field[GAMMA + 1]) &&
           !is_equivariant(layer);
}

/* ---- building --------------------------------------------------------------------------------------------------- */

static ts_status check_map(ts_layer *layer, ts_layer_builder *builder) {
    const ts_streams none = {.seed = 0};
    const ts_simplex_spec simplex = simplex_of(layer, &none);
    ts_error reason = {.status = TS_OK};
    if (ts_simplex_check(&simplex, &reason) != TS_OK) return ts_layer_refuse(layer, builder, "%s", reason.text);
    if (simplex.map->domain == TS_SCORES_NONNEGATIVE && is(layer, SCORE))
        return ts_layer_refuse(layer, builder, "%s needs scores of 0 or more: dot, not euclidean", simplex.map->name);
    if (!is_plain(layer) && simplex.map->domain != TS_SCORES_ANY)
        return ts_layer_refuse(layer, builder, "%s is for one gamma, over keys", simplex.map->name);
    return TS_OK;
}

static ts_status check(ts_layer *layer, ts_layer_builder *builder) {
    const int heads = heads_of(layer), gammas = ts_field_given(&fields[GAMMA], layer->spec->field + GAMMA);
    if (is(layer, IDENTITY) && !looks_at_own(layer))
        return ts_layer_refuse(layer, builder, "identity weights need rows that look at their own stream");
    if (is(layer, OWN_CODE) && (looks_at_own(layer) || !layer->on_centers || builder->layout.c == 0))
        return ts_layer_refuse(layer, builder, "own_code is for centres that look at points, with a code");
    if (gammas != 1 && gammas != heads)
        return ts_layer_refuse(layer, builder, "%d gammas for %d head%s", gammas, heads, heads == 1 ? "" : "s");
    if (is(layer, OWN_CODE) && !is_plain(layer))
        return ts_layer_refuse(layer, builder, "own_code goes with one gamma, over keys");
    if (is(layer, DROPOUT) && !is_plain(layer))
        return ts_layer_refuse(layer, builder, "dropout of weights goes with one gamma, over keys");
    return check_map(layer, builder);
}

static ts_status check_widths(ts_layer *layer, ts_layer_builder *builder) {
    const ts_layout *layout = &builder->layout;
    const int64_t heads = heads_of(layer), width[] = {width_of(layer, layout, QUERY), width_of(layer, layout, KEY),
                                                      width_of(layer, layout, VALUE)};
    ts_place from, to;
    if (width[QUERY] != width[KEY])
        return ts_layer_refuse(layer, builder, "queries have %lld numbers, keys %lld", (long long)width[QUERY],
                               (long long)width[KEY]);
    for (int i = 0; i < 3; i++)
        if (width[i] % heads != 0)
            return ts_layer_refuse(layer, builder, "%lld heads do not divide %lld", (long long)heads,
                                   (long long)width[i]);
    const bool group = layer->part[QUERY] != NULL && layer->part[KEY] != NULL &&
                       ts_linear_layer_is_group(layer->part[QUERY], layout, &from) &&
                       ts_linear_layer_is_group(layer->part[KEY], layout, &to) && from.first == to.first &&
                       from.count == to.count;
    if (group && from.count % heads != 0)
        return ts_layer_refuse(layer, builder, "%lld heads do not divide %lld", (long long)heads,
                               (long long)from.count);
    if (width[VALUE] != layout->e && !is(layer, OUTWARD))
        return ts_layer_refuse(layer, builder,
                               "values of %lld numbers need `out`, which gives them the %lld of a token",
                               (long long)width[VALUE], (long long)layout->e);
    return TS_OK;
}

static void add_projection(ts_layer *layer, ts_layer_builder *builder, int part, int64_t in, int64_t out, bool bias) {
    char name[TS_LAYER_NAME];
    if (part < OUT && layer->part[part] != NULL) return;
    snprintf(name, sizeof name, "%s.weight", part == OUT ? "out" : part_names[part]);
    layer->param[2 * part] = ts_layer_matrix(layer, builder, name, in, out);
    if (!bias) return;
    snprintf(name, sizeof name, "%s.bias", part == OUT ? "out" : part_names[part]);
    layer->param[2 * part + 1] = ts_layer_param(layer, builder, name, TS_SHAPE(out),
                                                (ts_init){.kind = TS_INIT_UNIFORM, .bound = 1 / sqrt((double)in)});
}

static void add_gamma(ts_layer *layer, ts_layer_builder *builder) {
    if (!is(layer, LEARN_GAMMA)) return;
    layer->param[GAMMA_SLOT] =
        ts_layer_param(layer, builder, "log_gamma", TS_SHAPE(heads_of(layer)), (ts_init){.kind = TS_INIT_ZEROS});
}

static int64_t head_width(const ts_layer *layer) {
    const int64_t width = (int64_t)ts_layer_value(layer, WIDTH);
    return width > 0 ? width : 8;
}

static ts_status build_equivariant(ts_layer *layer, ts_layer_builder *builder) {
    const int64_t heads = heads_of(layer), s = builder->layout.s, all = heads * head_width(layer);
    for (int i = 0; i < OUT; i++)
        if (layer->part[i] != NULL)
            return ts_layer_refuse(layer, builder, "%s: equivariant projections are not chosen one by one",
                                   part_names[i]);
    if (is(layer, IDENTITY) || is(layer, OWN_CODE))
        return ts_layer_refuse(layer, builder, "equivariant weights go without identity and own_code");
    for (int i = QUERY; i <= VALUE && s > 0; i++) add_projection(layer, builder, i, s, all, false);
    if (s > 0) add_projection(layer, builder, OUT, all, s, false);
    add_gamma(layer, builder);
    layer->param[SCALE_SLOT] =
        ts_layer_param(layer, builder, "scale", TS_SHAPE(heads), (ts_init){.kind = TS_INIT_ONES});
    return builder->error->status;
}

static ts_status build(ts_layer *layer, ts_layer_builder *builder) {
    const ts_layout *layout = &builder->layout;
    if (check(layer, builder) != TS_OK) return builder->error->status;
    if (is_equivariant(layer)) return build_equivariant(layer, builder);
    if (check_widths(layer, builder) != TS_OK) return builder->error->status;
    const int64_t value = width_of(layer, layout, VALUE);
    add_projection(layer, builder, VALUE, layout->e, value, true);
    if (is(layer, OUTWARD)) add_projection(layer, builder, OUT, value, layout->e, true);
    if (is(layer, IDENTITY)) return builder->error->status;
    add_projection(layer, builder, QUERY, layout->e, width_of(layer, layout, QUERY), true);
    add_projection(layer, builder, KEY, layout->e, width_of(layer, layout, KEY), true);
    add_gamma(layer, builder);
    return builder->error->status;
}

static void fill(const ts_layer *layer, ts_params *params, const ts_layout *layout) {
    const int heads = heads_of(layer);
    (void)layout;
    for (int h = 0; h < heads; h++) {
        if (layer->param[GAMMA_SLOT] >= 0)
            ts_params_value(params, layer->param[GAMMA_SLOT])[h] = (ts_real)log(gamma_of(layer, h));
        if (layer->param[SCALE_SLOT] >= 0)
            ts_params_value(params, layer->param[SCALE_SLOT])[h] = (ts_real)(1.0 / heads);
    }
}

/* ---- applying ---------------------------------------------------------------------------------------------------- */

static ts_tensor *projected(const ts_layer *layer, ts_streams *streams, int part, ts_tensor *rows) {
    if (part < OUT && layer->part[part] != NULL) return ts_layer_forward(layer->part[part], streams, rows);
    const ts_linear linear = {.weight = layer->param[2 * part], .bias = layer->param[2 * part + 1]};
    return ts_linear_forward(&linear, streams->params, streams->tape, rows);
}

/* Queries or keys. Where both copy the same group, and are zero elsewhere, they are narrowed to that group. */
static ts_tensor *compared(const ts_layer *layer, ts_streams *streams, int part, ts_tensor *rows) {
    ts_place from, to;
    const ts_layout *layout = &streams->layout;
    const bool both = layer->part[QUERY] != NULL && layer->part[KEY] != NULL;
    if (both && ts_linear_layer_is_group(layer->part[QUERY], layout, &from) &&
        ts_linear_layer_is_group(layer->part[KEY], layout, &to) && from.first == to.first && from.count == to.count)
        return ts_slice(streams->tape, rows, -1, from.first, from.count);
    return projected(layer, streams, part, rows);
}

/* Is there nothing to train in queries and keys? They decide ties, and must be exact. */
static bool fixed_scores(const ts_layer *layer) {
    for (int i = QUERY; i <= KEY; i++)
        if (layer->part[i] != NULL && ts_linear_layer_is_fixed(layer->part[i])) return true;
    return false;
}

/* [n,H w] -> [H,n,w]; unchanged for one head. */
static ts_tensor *split(ts_tape *tape, ts_tensor *x, int heads) {
    if (heads == 1 || ts_tape_status(tape) != TS_OK) return x;
    const int64_t n = x->shape.dim[0], width = x->shape.dim[1] / heads;
    return ts_transpose(tape, ts_reshape(tape, x, TS_SHAPE(n, heads, width)), 0, 1);
}

static ts_tensor *merge(ts_tape *tape, ts_tensor *x, int heads) {
    if (heads == 1 || ts_tape_status(tape) != TS_OK) return x;
    const int64_t n = x->shape.dim[1], width = x->shape.dim[2];
    return ts_reshape(tape, ts_transpose(tape, x, 0, 1), TS_SHAPE(n, heads * width));
}

/* mask [k,n]: 1 where the point's code is nearest to that of the centre. */
static ts_tensor *own_code_mask(ts_streams *streams, ts_tensor *points) {
    const ts_layout *layout = &streams->layout;
    if (ts_tape_status(streams->tape) != TS_OK) return NULL;
    const int64_t n = points->shape.dim[0], k = layout->k;
    ts_tensor *mask = ts_constant(streams->tape, TS_SHAPE(k, n), NULL);
    if (ts_tape_status(streams->tape) != TS_OK) return NULL;
#pragma omp parallel for if (ts_worth_parallel(n * layout->e))
    for (int64_t i = 0; i < n; i++) mask->data[ts_layout_decode(layout, points->data + i * layout->e) * n + i] = 1;
    return mask;
}

/* S [H,n,m] over s_ij / gamma, or [n,m]. */
static ts_tensor *gammas_times(const ts_layer *layer, ts_streams *streams, ts_tensor *scores) {
    const int heads = heads_of(layer);
    ts_tape *tape = streams->tape;
    ts_real fixed[MOST_HEADS];
    for (int h = 0; h < heads; h++) fixed[h] = (ts_real)gamma_of(layer, h);
    ts_tensor *gamma = layer->param[GAMMA_SLOT] >= 0 ? ts_exp(tape, ts_layer_use(layer, GAMMA_SLOT, streams))
                                                     : ts_constant(tape, TS_SHAPE(heads), fixed);
    return ts_mul(tape, scores, ts_reshape(tape, gamma, TS_SHAPE(heads, 1, 1)));
}

static ts_tensor *score(const ts_layer *layer, ts_tape *tape, ts_tensor *q, ts_tensor *k) {
    if (is(layer, SCORE)) return ts_neg(tape, ts_squared_distances(tape, q, k));
    return ts_matmul(tape, q, k, false, true);
}

/* p [..,n,m] of scores. Over queries first, weights of a row that no query has become zeros. */
static ts_tensor *weights_of(const ts_layer *layer, ts_streams *streams, ts_tensor *scores) {
    ts_tape *tape = streams->tape;
    const ts_simplex_spec simplex = simplex_of(layer, streams);
    if (!is(layer, NORMALISE)) return ts_simplex_apply(tape, scores, -1, &simplex);
    ts_tensor *shares = ts_simplex_apply(tape, scores, -2, &simplex);
    ts_tensor *small = ts_constant(tape, TS_SHAPE(1), (ts_real[]){(ts_real)1e-8});
    return ts_div(tape, shares, ts_add(tape, ts_sum(tape, shares, -1, true), small));
}

static ts_tensor *less_own_place(const ts_layer *layer, ts_streams *streams, ts_tensor *y, ts_tensor *x) {
    ts_tape *tape = streams->tape;
    if (!is(layer, OUTPUT)) return y;
    return ts_join_data(streams, ts_sub(tape, ts_data_of(streams, y), ts_data_of(streams, x)),
                        streams->layout.s > 0 ? ts_rest_of(streams, y) : NULL);
}

static ts_tensor *equivariant(const ts_layer *layer, ts_streams *streams, ts_tensor *x, ts_tensor *context) {
    ts_tape *tape = streams->tape;
    const int heads = heads_of(layer);
    ts_tensor *own = ts_data_of(streams, x), *data = ts_data_of(streams, context);
    if (ts_tape_status(tape) != TS_OK) return x;
    const int64_t n = own->shape.dim[0], m = data->shape.dim[0], d = streams->layout.d, w = head_width(layer);
    ts_tensor *scores =
        gammas_times(layer, streams, ts_reshape(tape, score(layer, tape, own, data), TS_SHAPE(1, n, m)));
    ts_tensor *rest = NULL;
    if (streams->layout.s > 0) {
        rest = ts_rest_of(streams, context);
        ts_tensor *q = projected(layer, streams, QUERY, ts_rest_of(streams, x)),
                  *k = projected(layer, streams, KEY, rest);
        q = ts_reshape(tape, q, TS_SHAPE(n, heads, w)), k = ts_reshape(tape, k, TS_SHAPE(m, heads, w));
        ts_tensor *products = ts_matmul(tape, ts_transpose(tape, q, 0, 1), ts_transpose(tape, k, 0, 1), false, true);
        scores = ts_add(tape, scores, ts_scale(tape, products, 1 / sqrt((double)w)));
    }
    ts_tensor *weights = weights_of(layer, streams, scores);
    ts_tensor *scale = ts_reshape(tape, ts_layer_use(layer, SCALE_SLOT, streams), TS_SHAPE(heads, 1, 1));
    ts_tensor *means = ts_matmul(tape, ts_reshape(tape, weights, TS_SHAPE(heads * n, m)), data, false, false);
    means = ts_reshape(tape, means, TS_SHAPE(heads, n, d));
    if (is(layer, OUTPUT)) means = ts_sub(tape, means, own);
    ts_tensor *moved = ts_sum(tape, ts_mul(tape, means, scale), 0, false);
    if (rest == NULL) return moved;
    ts_tensor *v =
        ts_transpose(tape, ts_reshape(tape, projected(layer, streams, VALUE, rest), TS_SHAPE(m, heads, w)), 0, 1);
    ts_tensor *read = ts_transpose(tape, ts_matmul(tape, weights, v, false, false), 0, 1);
    return ts_join_data(streams, moved, projected(layer, streams, OUT, ts_reshape(tape, read, TS_SHAPE(n, heads * w))));
}

static ts_tensor *finish(const ts_layer *layer, ts_streams *streams, ts_tensor *y, ts_tensor *x) {
    y = merge(streams->tape, y, heads_of(layer));
    if (is(layer, OUTWARD)) y = projected(layer, streams, OUT, y);
    return less_own_place(layer, streams, y, x);
}

static ts_tensor *attend(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    ts_tape *tape = streams->tape;
    const int heads = heads_of(layer);
    ts_tensor *other = ts_layer_value(layer, OVER) != 0 ? streams->centers : streams->points;
    ts_tensor *context = looks_at_own(layer) ? x : other;
    if (is(layer, IDENTITY)) return finish(layer, streams, projected(layer, streams, VALUE, context), x);
    if (is_equivariant(layer)) return equivariant(layer, streams, x, context);
    const ts_scope scope = ts_layer_scope_begin(streams);
    ts_tensor *mask = is(layer, OWN_CODE) ? own_code_mask(streams, context) : NULL;
    ts_tensor *q = split(tape, compared(layer, streams, QUERY, x), heads);
    ts_tensor *k = split(tape, compared(layer, streams, KEY, context), heads);
    ts_tensor *v = split(tape, projected(layer, streams, VALUE, context), heads);
    if (ts_tape_status(tape) != TS_OK) return x;
    const int64_t width = is(layer, SCALED) ? width_of(layer, &streams->layout, QUERY) / heads : 1;
    if (!is_plain(layer)) {
        ts_tensor *scores = score(layer, tape, q, k);
        if (heads == 1) scores = ts_reshape(tape, scores, TS_SHAPE(1, q->shape.dim[0], k->shape.dim[0]));
        scores = gammas_times(layer, streams, ts_scale(tape, scores, 1 / sqrt((double)width)));
        if (heads == 1) scores = ts_reshape(tape, scores, TS_SHAPE(q->shape.dim[0], k->shape.dim[0]));
        return finish(layer, streams, ts_matmul(tape, weights_of(layer, streams, scores), v, false, false), x);
    }
    const ts_attention_spec spec = {.score = is(layer, SCORE) ? TS_SCORE_EUCLIDEAN : TS_SCORE_DOT,
                                    .simplex = simplex_of(layer, streams),
                                    .gamma = is(layer, SCALED) ? gamma_of(layer, 0) / sqrt((double)width)
                                                               : gamma_of(layer, 0),
                                    .dropout = streams->training ? ts_layer_value(layer, DROPOUT) : 0,
                                    .dropout_rng = {streams->seed, layer->stream[0], streams->step},
                                    .fast = !fixed_scores(layer)};
    return ts_layer_scope_end(streams, scope, finish(layer, streams, ts_attention(tape, q, k, v, mask, &spec), x));
}

/* Zeros for what is not written. */
static ts_tensor *forward(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    enum { ALL, DATA };
    const int writes = (int)ts_layer_value(layer, WRITES);
    ts_tensor *y = attend(layer, streams, x);
    if (writes == ALL || streams->layout.s == 0 || ts_tape_status(streams->tape) != TS_OK) return y;
    ts_tensor *data = ts_data_of(streams, y), *rest = ts_rest_of(streams, y);
    if (writes == DATA)
        rest = ts_constant(streams->tape, rest->shape, NULL);
    else
        data = ts_constant(streams->tape, data->shape, NULL);
    return ts_join_data(streams, data, rest);
}

static bool alone(const ts_layer *layer) {
    return looks_at_own(layer);
}

const ts_layer_type ts_attention_layer = {.name = "attention",
                                          .summary = "weighted means of rows that a row looks at",
                                          .fields = fields,
                                          .parts = part_names,
                                          .random = true,
                                          .build = build,
                                          .fill = fill,
                                          .forward = forward,
                                          .alone = alone};
