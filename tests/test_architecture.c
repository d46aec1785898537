/* test_architecture.c: models composed of layers: gradients in double, refusals that name the part, steps that do not
 * depend on how they are run. */
#include <math.h>

#include "../autograd/gradcheck.h"
#include "../models/definition/learner.h"
#include "../models/definition/variants.h"
#include "../models/run/runner.h"
#include "../models/run/transformer.h"
#include "test_main.h"

static const bool IS_DOUBLE = sizeof(ts_real) == sizeof(double);
static ts_error error;

static ts_layer_spec *layer(const char *type) {
    ts_layer_spec *spec = ts_layer_spec_create(ts_layer_type_by_name(type));
    ck_assert_ptr_nonnull(spec);
    return spec;
}

static void set(ts_layer_spec *spec, const char *field, double value) {
    ck_assert_msg(ts_layer_field(spec, field) != NULL, "%s", field);
    *ts_layer_field(spec, field) = value;
}

static ts_layer_spec *attention(bool over_centers, int heads) {
    ts_layer_spec *spec = layer("attention");
    set(spec, "over", over_centers);
    set(spec, "heads", heads);
    return spec;
}

static void add(ts_layer_spec *list, ts_layer_spec *part) {
    ck_assert_msg(ts_layer_spec_add(list, part, &error) == TS_OK, "%s", error.text);
}

static ts_layer_spec *residual(ts_layer_spec *part) {
    ts_layer_spec *spec = layer("residual");
    add(spec, part);
    return spec;
}

static ts_architecture *architecture(ts_token_spec tokens) {
    ts_architecture *a = ts_architecture_create("of the test");
    ck_assert_ptr_nonnull(a);
    a->tokens = tokens;
    return a;
}

static ts_architecture_layer *add_layer(ts_architecture *a) {
    ts_architecture_layer *l = ts_architecture_add(a, &error);
    ck_assert_ptr_nonnull(l);
    return l;
}

static const ts_token_spec onehot = {.construction = TS_CONSTRUCTION_ONEHOT},
                           marks = {.construction = TS_CONSTRUCTION_NONE,
                                    .memory = 6,
                                    .point_marks = 0.5,
                                    .center_marks = 0.3};

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* Two layers of two heads, with feed-forward blocks, norms, gates and dropout's place. */
static ts_architecture *deep(void) {
    ts_architecture *a = architecture(onehot);
    for (int i = 0; i < 2; i++) {
        ts_architecture_layer *l = add_layer(a);
        ts_layer_spec *gate = layer("gate"), *norm = layer("layer_norm"), *rms = layer("rms_norm"),
                      *feed = layer("feed_forward");
        set(feed, "hidden", 7);
        set(feed, "activation", 2);
        add(gate, attention(false, 1));
        add(l->points, residual(attention(true, 2)));
        add(l->points, residual(feed));
        add(l->points, norm);
        add(l->centers, residual(gate));
        add(l->centers, residual(attention(false, 2)));
        add(l->centers, rms);
        add(l->centers, layer("dropout"));
    }
    return a;
}

/* Slot attention: over queries and then keys, with gammas that are learned. */
static ts_architecture *slots(void) {
    ts_architecture *a = architecture(onehot);
    ts_architecture_layer *l = add_layer(a);
    ts_layer_spec *slot = attention(false, 1), *repeat = layer("repeat"), *feed = layer("feed_forward");
    set(slot, "normalise", 1);
    set(slot, "learn_gamma", 1);
    set(feed, "hidden", 5);
    set(feed, "activation", 2);
    set(repeat, "shared", 0);
    add(repeat, residual(feed));
    add(l->centers, residual(slot));
    add(l->centers, repeat);
    a->keeps_tokens = true;
    return a;
}

/* Equivariant weights everywhere. */
static ts_architecture *equivariant(void) {
    ts_architecture *a = architecture(marks);
    ts_architecture_layer *l = add_layer(a);
    ts_layer_spec *look = attention(true, 3), *move = attention(false, 2), *feed = layer("feed_forward"),
                  *linear = layer("linear"), *gate = layer("gate");
    ts_layer_spec *const all[] = {look, move, feed, linear, gate};
    for (int i = 0; i < 5; i++) set(all[i], "weights", 1);
    set(look, "width", 2);
    set(look, "writes", 2);
    set(look, "learn_gamma", 1);
    set(look, "gamma", 2);
    ts_layer_field(look, "gamma")[1] = 1;
    ts_layer_field(look, "gamma")[2] = 0.5;
    set(move, "output", 1);
    set(move, "normalise", 1);
    set(feed, "hidden", 5);
    set(feed, "activation", 3);
    set(feed, "length", 1);
    add(gate, move);
    add(l->points, residual(feed));
    add(l->points, residual(look));
    add(l->centers, residual(gate));
    add(l->centers, residual(linear));
    a->keeps_tokens = a->standardised = true;
    return a;
}

/* Soft assignments and gated moves. */
static ts_architecture *moves(void) {
    ts_architecture *a = architecture(marks);
    ts_architecture_layer *l = add_layer(a);
    ts_layer_spec *assign = layer("soft_assignment"), *move = layer("gated_move");
    for (int h = 0; h < 3; h++) {
        ts_layer_field(assign, "gamma")[h] = 4 - h;
        ts_layer_field(move, "gamma")[h] = 3 - h;
    }
    set(assign, "hidden", 5);
    set(move, "hidden", 6);
    set(move, "weight_hidden", 4);
    set(move, "gate_hidden", 5);
    add(l->points, assign);
    add(l->centers, move);
    add(l->centers, layer("sequence"));
    a->keeps_tokens = a->standardised = true;
    return a;
}

/* A code again in every step, and copies whose scales are learned. */
static ts_architecture *copies(void) {
    ts_architecture *a = architecture(onehot);
    ts_architecture_layer *l = add_layer(a);
    ts_layer_spec *linear = layer("linear");
    set(linear, "scales", 1);
    linear->n_copies = 2;
    linear->copy[0].copy = (ts_copy){{TS_GROUP_DATA, 0, 0}, {TS_GROUP_DATA, 0, 0}, 0.5};
    linear->copy[1].copy = (ts_copy){{TS_GROUP_DATA, 0, 0}, {TS_GROUP_CODE, 1, 1}, -1};
    add(l->points, residual(attention(true, 1)));
    add(l->centers, linear);
    add(l->centers, residual(attention(false, 1)));
    add(l->centers, layer("code"));
    l->times = 2;
    l->shared = false;
    a->keeps_tokens = true;
    return a;
}

static ts_architecture *papers(void) {
    const ts_definition d = ts_learner(TS_CONSTRUCTION_BINARY, 1.5, 0);
    return ts_architecture_of_definition(&d, &error);
}

typedef ts_architecture *maker(void);
static maker *const makers[] = {deep, slots, equivariant, moves, copies, papers};
enum { MAKERS = sizeof makers / sizeof *makers };

enum { N = 9, D = 4, K = 4, STEPS = 2 };

static void draw(ts_real *points, int64_t n, int64_t d, uint64_t seed) {
    const ts_rng rng = {seed, ts_rng_stream("points of the test"), 0};
    for (int64_t i = 0; i < n * d; i++) points[i] = (ts_real)ts_rng_uniform(rng, (uint64_t)i);
}

static ts_model built(maker *make, int64_t d, int64_t k) {
    ts_model model;
    error = (ts_error){.status = TS_OK};
    ck_assert_msg(ts_model_build(&model, make(), d, k, 5, &error) == TS_OK, "%s", error.text);
    return model;
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* The sum of the last centres times fixed random numbers. */
static double output(const ts_model *model, const ts_real *points, bool backward) {
    static ts_real weight[D * K];
    ts_tape *tape = ts_tape_create(TS_RECORD);
    ts_tensor *after[STEPS];
    const ts_model_task task = {
        .n = N, .d = D, .k = K, .points = points, .centers = points, .seed = 3, .training = true};
    draw(weight, K, D, 77);
    ts_model_unroll(model, model->params, tape, &task, STEPS, 0, after);
    ts_tensor *sum =
        ts_sum(tape, ts_mul(tape, after[STEPS - 1], ts_borrow(tape, TS_SHAPE(K, D), weight)), TS_ALL_AXES, false);
    if (backward) ck_assert_msg(ts_backward(tape, sum) == TS_OK, "%s", ts_tape_error(tape));
    ck_assert_msg(ts_tape_status(tape) == TS_OK, "%s", ts_tape_error(tape));
    const double value = (double)sum->data[0];
    ts_tape_free(tape);
    return value;
}

/* Every fifth number of every parameter, against central differences of four values. */
START_TEST(gradients_of_whole_models) {
    ts_real points[N * D];
    ts_model model = built(makers[_i], D, K);
    draw(points, N, D, test_seed());
    printf("model %d: %lld parameters\n", _i, (long long)ts_model_trained(&model));
    ts_params_zero_grads(model.params);
    output(&model, points, true);
    double worst = 0, largest = 0;
    for (int p = 0; p < ts_params_count(model.params); p++) {
        ts_real *value = ts_params_value(model.params, p);
        const ts_real *grad = ts_params_grad(model.params, p);
        if (grad == NULL) continue;
        for (int64_t i = 0; i < ts_shape_size(ts_params_shape(model.params, p)); i += 5) {
            const ts_real kept = value[i];
            const double h = 1e-5; /* small, for few units of relu change sides */
            double at[4];
            for (int s = 0; s < 4; s++) {
                value[i] = kept + (ts_real)(h * (double[]){-2, -1, 1, 2}[s]);
                at[s] = output(&model, points, false);
            }
            value[i] = kept;
            const double expected = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h), found = (double)grad[i];
            worst = fmax(worst, fabs(expected - found));
            largest = fmax(largest, fabs(found));
            ck_assert_msg(fabs(expected - found) < 1e-7 * (1 + fabs(expected)), "model %d, %s[%lld]: %.12g, not %.12g",
                          _i, ts_params_name(model.params, p), (long long)i, found, expected);
        }
    }
    ck_assert_double_gt(largest, 1e-6);
    ts_model_clear(&model);
}
END_TEST

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Steps without a graph, from tokens kept in memory, are those of the tape. */
START_TEST(steps_are_those_of_the_tape) {
    ts_real points[N * D];
    ts_model model = built(makers[_i], D, K);
    draw(points, N, D, 9);
    const ts_model_task task = {.n = N, .d = D, .k = K, .points = points, .centers = points, .seed = 8};
    ts_tape *tape = ts_tape_create(TS_RECORD);
    ts_tensor *after[STEPS];
    ts_model_unroll(&model, model.params, tape, &task, STEPS, 0, after);
    ck_assert_msg(ts_tape_status(tape) == TS_OK, "%s", ts_tape_error(tape));
    ts_model_run *run = ts_model_run_create(&model);
    ck_assert_int_eq(ts_model_run_begin(run, &task, TS_RUN_AS_MODEL, &error), TS_OK);
    for (int s = 0; s < STEPS; s++) {
        ck_assert_msg(ts_model_run_step(run, &error) == TS_OK, "%s", error.text);
        for (int i = 0; i < K * D; i++)
            ck_assert_double_eq_tol(ts_model_run_centers(run)[i], after[s]->data[i], IS_DOUBLE ? 1e-13 : 2e-5);
    }
    ts_model_run_free(run);
    ts_tape_free(tape);
    ts_model_clear(&model);
}
END_TEST

/* What attention does not write stays as it is in a residual layer. */
START_TEST(attention_writes_what_it_is_told) {
    for (int writes = 0; writes < 3; writes++) {
        ts_architecture *a = architecture(marks);
        ts_layer_spec *look = attention(true, 1);
        ts_model model;
        ts_real points[N * D];
        set(look, "writes", writes);
        add(add_layer(a)->points, residual(look));
        ck_assert_msg(ts_model_build(&model, a, D, K, 5, &error) == TS_OK, "%s", error.text);
        draw(points, N, D, 3);
        const ts_model_task task = {.n = N, .d = D, .k = K, .points = points, .centers = points, .seed = 8};
        ts_model_run *run = ts_model_run_create(&model);
        ck_assert_int_eq(ts_model_run_begin(run, &task, TS_RUN_AS_MODEL, &error), TS_OK);
        ts_real before[N * (D + 6)];
        memcpy(before, ts_model_run_points(run), sizeof before);
        ck_assert_msg(ts_model_run_step(run, &error) == TS_OK, "%s", error.text);
        for (int i = 0; i < N * (D + 6); i++) {
            const int c = i % (D + 6);
            const bool stays = writes == 1 ? c >= D : writes == 2 ? c < D : false;
            ck_assert((ts_model_run_points(run)[i] == before[i]) == stays);
        }
        ts_model_run_free(run);
        ts_model_clear(&model);
    }
}
END_TEST

/* A runner of a model has the labels of its centres: the nearest, or the codes that points carry. */
START_TEST(runners_label_points) {
    ts_real points[N * D];
    ts_model model = built(deep, D, K);
    draw(points, N, D, 12);
    const ts_problem problem = {.n = N, .d = D, .k = K, .points = points, .centers = points, .seed = 8};
    for (int codes = 0; codes < 2; codes++) {
        model.architecture->labels = codes ? TS_LABELS_CODE : TS_LABELS_NEAREST;
        ts_runner *runner = ts_runner_create_for(&model, &problem, TS_RUN_REEMBED, &error);
        ck_assert_msg(runner != NULL, "%s", error.text);
        const ts_clustering *state = ts_runner_state(runner);
        for (int i = 0; i < K; i++) ck_assert_int_eq(state->labels[i], i); /* the first rows are the centres */
        ck_assert_int_eq(ts_runner_step(runner, &error), TS_OK);
        ck_assert_int_eq(ts_runner_finish(runner, &error), TS_OK);
        ck_assert_int_eq(state->steps, 1);
        const ts_model_task task = {.n = N, .d = D, .k = K, .points = points, .centers = points, .seed = 8};
        ts_model_run *run = ts_model_run_create(&model);
        ck_assert_int_eq(ts_model_run_begin(run, &task, TS_RUN_REEMBED, &error), TS_OK);
        ck_assert_int_eq(ts_model_run_step(run, &error), TS_OK);
        for (int i = 0; i < N; i++) {
            double least = INFINITY;
            int64_t nearest = 0;
            for (int j = 0; j < K; j++) {
                double distance = 0;
                for (int a = 0; a < D; a++) {
                    const double x = (double)points[i * D + a] - state->exact_centers[j * D + a];
                    distance += x * x;
                }
                if (distance < least) least = distance, nearest = j;
            }
            const ts_real *token = ts_model_run_points(run) + i * model.layout.e;
            ck_assert_int_eq(state->labels[i], codes ? ts_layout_decode(&model.layout, token) : nearest);
        }
        ck_assert_int_eq(ts_runner_weights(runner, points, &error), TS_ERROR_USAGE);
        error = (ts_error){.status = TS_OK};
        ts_model_run_free(run);
        ts_runner_free(runner);
    }
    ts_model_clear(&model);
}
END_TEST

/* A model of equivariant layers serves any d and k, and a rotation of the data rotates what it does. */
START_TEST(equivariant_models_turn_with_the_data) {
    maker *const of[] = {equivariant, moves};
    ts_model model = built(of[_i], 2, 3);
    ck_assert(model.any_d && model.any_k);
    ts_real points[2][N * D], *at[2];
    draw(points[0], N, 2, 4);
    const double cosine = cos(0.7), sine = sin(0.7);
    for (int i = 0; i < N; i++) {
        const double x = (double)points[0][2 * i], y = (double)points[0][2 * i + 1];
        points[1][2 * i] = (ts_real)(cosine * x - sine * y + 3);
        points[1][2 * i + 1] = (ts_real)(sine * x + cosine * y - 1);
    }
    ts_model_run *run[2];
    for (int r = 0; r < 2; r++) {
        const ts_model_task task = {.n = N, .d = 2, .k = 4, .points = points[r], .centers = points[r], .seed = 6};
        run[r] = ts_model_run_create(&model);
        ck_assert_int_eq(ts_model_run_begin(run[r], &task, TS_RUN_AS_MODEL, &error), TS_OK);
        for (int s = 0; s < 3; s++) ck_assert_int_eq(ts_model_run_step(run[r], &error), TS_OK);
        at[r] = (ts_real *)ts_model_run_centers(run[r]);
    }
    for (int j = 0; j < 4; j++) {
        const double x = (double)at[0][2 * j], y = (double)at[0][2 * j + 1], tol = IS_DOUBLE ? 1e-12 : 1e-4;
        ck_assert_double_eq_tol(at[1][2 * j], cosine * x - sine * y + 3, tol);
        ck_assert_double_eq_tol(at[1][2 * j + 1], sine * x + cosine * y - 1, tol);
    }
    for (int r = 0; r < 2; r++) ts_model_run_free(run[r]);
    ts_model_clear(&model);
}
END_TEST

/* The constructions and variants, composed of layers, do what the blocks of a transformer do, to the bit. */
START_TEST(constructions_are_such_models) {
    int compared = 0;
    ts_real points[N * D];
    draw(points, N, D, 2);
    for (const ts_variant *v = ts_variants; v->name != NULL; v++) {
        ts_settings settings = ts_variant_settings(v);
        ts_definition definition;
        ts_transformer blocks;
        ts_model model;
        error = (ts_error){.status = TS_OK};
        if (!(settings.gamma > 0) || isinf(settings.gamma)) settings.gamma = v->gamma == TS_GAMMA_ASSIGN ? INFINITY : 2;
        if (ts_variant_define(v, &settings, &definition, &error) != TS_OK)
            error = (ts_error){.status = TS_OK}, settings.gamma = 2;
        if (ts_variant_define(v, &settings, &definition, &error) != TS_OK || definition.norm.present) continue;
        ck_assert_int_eq(ts_transformer_build(&blocks, &definition, D, K, 1, &error), TS_OK);
        ck_assert_msg(ts_model_build(&model, ts_architecture_of_definition(&definition, &error), D, K, 1, &error) ==
                          TS_OK,
                      "%s: %s", v->name, error.text);
        ts_tape *tape = ts_tape_create(TS_RECORD);
        const ts_model_task task = {.n = N, .d = D, .k = K, .points = points, .centers = points, .seed = 1};
        ts_tensor *after, *x = ts_constant(tape, TS_SHAPE(N, blocks.e), NULL),
                          *c = ts_constant(tape, TS_SHAPE(K, blocks.e), NULL);
        ts_model_unroll(&model, model.params, tape, &task, 1, 0, &after);
        ts_transformer_embed(&blocks, N, points, NULL, x->data);
        ts_transformer_embed(&blocks, K, points, blocks.book, c->data);
        const ts_tensor *moved =
            ts_transformer_update(&blocks, tape, ts_transformer_assign(&blocks, tape, x, c, 0), c, 0);
        ck_assert_msg(ts_tape_status(tape) == TS_OK, "%s: %s", v->name, ts_tape_error(tape));
        for (int j = 0; j < K; j++)
            for (int a = 0; a < D; a++)
                ck_assert_msg(moved->data[j * blocks.e + a] == after->data[j * D + a], "%s: centre %d", v->name, j);
        ts_tape_free(tape);
        ts_model_clear(&model);
        ts_transformer_clear(&blocks);
        compared++;
    }
    ck_assert_int_ge(compared, 6);
}
END_TEST

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void expect_refused(ts_architecture *a, const char *text) {
    ts_model model;
    error = (ts_error){.status = TS_OK};
    ck_assert_int_ne(ts_model_build(&model, a, 32, 10, 1, &error), TS_OK);
    ck_assert_msg(strcmp(error.text, text) == 0, "%s\nnot\n%s", error.text, text);
    ck_assert_ptr_null(model.params);
}

/* An architecture whose second layer's centres have one layer. */
static ts_architecture *with(ts_token_spec tokens, ts_layer_spec *spec) {
    ts_architecture *a = architecture(tokens);
    add(add_layer(a)->points, residual(attention(true, 1)));
    add(add_layer(a)->centers, spec);
    return a;
}

START_TEST(refusals_name_the_part) {
    const ts_token_spec none = {.construction = TS_CONSTRUCTION_NONE};
    ts_layer_spec *spec = attention(false, 3);
    expect_refused(with(none, spec), "layers[1].centers[0].attention: 3 heads do not divide 32");
    spec = residual(attention(false, 1));
    set(spec->part[0], "width", 8);
    expect_refused(with(none, spec),
                   "layers[1].centers[0].residual[0].attention: values of 8 numbers need `out`, which "
                   "gives them the 32 of a token");
    spec = attention(false, 0);
    expect_refused(with(none, spec),
                   "layers[1].centers[0].attention: heads must be a whole number from 1 to 16, not 0");
    spec = layer("attention");
    expect_refused(with(none, spec), "layers[1].centers[0].attention: over is missing");
    spec = attention(true, 2);
    set(spec, "identity", 1);
    ts_layer_field(spec, "gamma")[1] = 3;
    ts_layer_field(spec, "gamma")[2] = 3;
    expect_refused(with(none, spec), "layers[1].centers[0].attention: 3 gammas for 2 heads");
    spec = layer("feed_forward");
    set(spec, "weights", 1);
    expect_refused(with(none, spec), "layers[1].centers[0].feed_forward: tokens have nothing beside data");
    spec = layer("rms_norm");
    set(spec, "range", TS_GROUP_CODE);
    expect_refused(with(none, spec), "layers[1].centers[0].rms_norm: tokens have no such coordinates");
    spec = layer("soft_assignment");
    expect_refused(with(onehot, spec), "layers[1].centers[0].soft_assignment: only points are assigned");
    spec = layer("linear");
    set(spec, "width", 3);
    expect_refused(with(none, spec), "layers[1].centers[0].linear: 3 numbers are not the 32 of a token");
    expect_refused(architecture(onehot), "layers: at least one is needed");
    ts_architecture *a = with(none, layer("sequence"));
    a->labels = TS_LABELS_CODE;
    expect_refused(a, "labels: tokens without a code have none to read");
}
END_TEST

START_TEST(models_of_fixed_sizes_refuse_other_data) {
    ts_model model = built(deep, D, K);
    ts_layout layout;
    ck_assert(!model.any_d && !model.any_k);
    ck_assert_int_eq(ts_model_layout(&model, D + 1, K, &layout, &error), TS_ERROR_SHAPE);
    ck_assert_str_eq(error.text, "data of d = 5, k = 4 for a model of d = 4, k = 4");
    ts_model_clear(&model);
}
END_TEST

int main(void) {
    TCase *cases = tcase_create("architectures");
    tcase_set_timeout(cases, 60);
    if (IS_DOUBLE) tcase_add_loop_test(cases, gradients_of_whole_models, 0, MAKERS);
    tcase_add_loop_test(cases, steps_are_those_of_the_tape, 0, MAKERS);
    tcase_add_loop_test(cases, equivariant_models_turn_with_the_data, 0, 2);
    tcase_add_test(cases, attention_writes_what_it_is_told);
    tcase_add_test(cases, runners_label_points);
    tcase_add_test(cases, constructions_are_such_models);
    tcase_add_test(cases, refusals_name_the_part);
    tcase_add_test(cases, models_of_fixed_sizes_refuse_other_data);
    return run_case("architectures", cases);
}
