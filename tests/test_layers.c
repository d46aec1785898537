#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../autograd/gradcheck.h"
#include "../layers/attention_block.h"
#include "../layers/feed_forward.h"
#include "../layers/norm_layer.h"
#include "test_main.h"

static const double TOLERANCE = sizeof(ts_real) == sizeof(double) ? 1e-8 : 1e-3; /* of numeric gradients */
static ts_params *params;
static ts_error error;

static void setup(void) {
    params = ts_params_create();
    error = (ts_error){.status = TS_OK};
}

static void teardown(void) {
    ts_params_free(params);
}

static const ts_init uniform = {.kind = TS_INIT_UNIFORM, .bound = 0.5};

START_TEST(parameters_are_named_and_lie_in_one_block) {
    const int a = ts_params_add(params, "a", TS_SHAPE(2, 3), uniform, &error);
    const int b = ts_params_add(params, "b", TS_SHAPE(4), (ts_init){.kind = TS_INIT_ONES}, &error);
    ck_assert_int_eq(ts_params_allocate(params, 7, &error), TS_OK);
    ck_assert_int_eq(ts_params_size(params), 10);
    ck_assert_int_eq(ts_params_find(params, "b"), b);
    ck_assert_int_eq(ts_params_find(params, "c"), -1);
    ck_assert_str_eq(ts_params_name(params, a), "a");
    ck_assert_ptr_eq(ts_params_value(params, b), ts_params_values(params) + 6);
    for (int i = 0; i < 6; i++) ck_assert(fabs((double)ts_params_value(params, a)[i]) < 0.5);
    for (int i = 0; i < 4; i++) ck_assert(ts_params_value(params, b)[i] == 1);
}
END_TEST

START_TEST(bad_parameters_are_refused) {
    ck_assert_int_eq(ts_params_add(params, "a", TS_SHAPE(2), uniform, &error), 0);
    ck_assert_int_eq(ts_params_add(params, "a", TS_SHAPE(2), uniform, &error), -1);
    ck_assert_str_eq(error.text, "there are two parameters 'a'");
    error.status = TS_OK;
    ck_assert_int_eq(ts_params_add(params, "", TS_SHAPE(2), uniform, &error), -1);
    error.status = TS_OK;
    ck_assert_int_eq(ts_params_add(params, "empty", TS_SHAPE(2, 0), uniform, &error), -1);
    error.status = TS_OK;
    ck_assert_int_eq(ts_params_allocate(params, 0, &error), TS_OK);
    ck_assert_int_eq(ts_params_add(params, "late", TS_SHAPE(2), uniform, &error), -1);
    error.status = TS_OK;
    ck_assert_int_ne(ts_params_allocate(params, 0, &error), TS_OK);
}
END_TEST

/* A parameter starts from the seed and its name: what else the model holds does not matter. */
START_TEST(initial_values_depend_on_the_name_only) {
    ts_params *other = ts_params_create();
    ts_params_add(params, "w", TS_SHAPE(8), uniform, &error);
    ts_params_add(other, "new layer", TS_SHAPE(5), uniform, &error);
    const int w = ts_params_add(other, "w", TS_SHAPE(8), uniform, &error);
    ts_params_allocate(params, 3, &error);
    ts_params_allocate(other, 3, &error);
    ck_assert_mem_eq(ts_params_value(params, 0), ts_params_value(other, w), 8 * sizeof(ts_real));
    ck_assert_mem_ne(ts_params_value(other, 0), ts_params_value(other, w), 5 * sizeof(ts_real));
    ts_params_free(other);
}
END_TEST

START_TEST(fixed_parameters_get_no_gradient) {
    ts_linear layer;
    ck_assert_int_eq(ts_linear_add_fixed(&layer, params, "p", 3, 3, true, &error), TS_OK);
    ts_params_allocate(params, 0, &error);
    memcpy(ts_params_value(params, layer.weight), (ts_real[]){1, 0, -1}, 3 * sizeof(ts_real));
    ts_tape *tape = ts_tape_create(TS_RECORD);
    ts_tensor *x = ts_variable(tape, TS_SHAPE(2, 3), (ts_real[]){1, 2, 3, 4, 5, 6});
    ts_tensor *y = ts_linear_forward(&layer, params, tape, x);
    ck_assert(y->data[0] == 1 && y->data[1] == 0 && y->data[2] == -3 && y->data[5] == -6);
    ck_assert_int_eq(ts_backward(tape, ts_sum(tape, y, TS_ALL_AXES, false)), TS_OK);
    ck_assert(x->grad[0] == 1 && x->grad[2] == -1);
    for (int i = 0; i < 3; i++) ck_assert(ts_params_grads(params)[i] == 0);
    ts_tape_free(tape);
}
END_TEST

/* Gradients with respect to every parameter, by differences. */
static ts_linear linear_layer;
static ts_norm_layer rms_layer, norm_layer;
static ts_feed_forward feed_layer;
static ts_attention_block block;

static ts_tensor *through_all(ts_tape *tape, ts_tensor *x) {
    ts_tensor *y = ts_linear_forward(&linear_layer, params, tape, x);
    y = ts_norm_layer_forward(&rms_layer, params, tape, y);
    y = ts_feed_forward_forward(&feed_layer, params, tape, y);
    y = ts_norm_layer_forward(&norm_layer, params, tape, y);
    return ts_attention_block_forward(&block, params, tape, y, x, NULL, 3);
}

static double loss_at(const ts_real *x, bool backward) {
    ts_tape *tape = ts_tape_create(TS_RECORD);
    ts_tensor *y = through_all(tape, ts_constant(tape, TS_SHAPE(2, 3, 4), x));
    ts_tensor *loss = ts_sum(tape, ts_square(tape, y), TS_ALL_AXES, false);
    ck_assert_msg(ts_tape_error(tape) == NULL, "%s", ts_tape_error(tape));
    if (backward) ck_assert_int_eq(ts_backward(tape, loss), TS_OK);
    const double value = (double)loss->data[0];
    ts_tape_free(tape);
    return value;
}

START_TEST(gradients_of_all_layers) {
    ck_assert_int_eq(ts_linear_add(&linear_layer, params, "linear", 4, 4, true, &error), TS_OK);
    ck_assert_int_eq(ts_norm_layer_add(&rms_layer, params, "rms", false, 0, 3, 1e-5, &error), TS_OK);
    ck_assert_int_eq(ts_norm_layer_add(&norm_layer, params, "norm", true, 1, 3, 1e-5, &error), TS_OK);
    ck_assert_int_eq(ts_feed_forward_add(&feed_layer, params, "ffn", 4, 6, ts_relu_squared, &error), TS_OK);
    block =
        (ts_attention_block){.spec = {.score = TS_SCORE_EUCLIDEAN, .simplex = {.map = &ts_softmax_map}, .gamma = 1}};
    ts_linear *parts[3] = {&block.query, &block.key, &block.value};
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(
            ts_linear_add(parts[i], params, (const char *[]){"query", "key", "value"}[i], 4, 4, true, &error), TS_OK);
    ck_assert_int_eq(ts_params_allocate(params, test_seed(), &error), TS_OK);

    ts_real x[24];
    for (int i = 0; i < 24; i++) x[i] = (ts_real)(2 * ts_rng_uniform((ts_rng){test_seed(), 1, 0}, (uint64_t)i) - 1);
    loss_at(x, true);
    ts_real *values = ts_params_values(params), *grads = ts_params_grads(params);
    const double h = sizeof(ts_real) == sizeof(double) ? 1e-3 : 1e-2;
    for (int64_t i = 0; i < ts_params_size(params); i++) {
        const ts_real v = values[i];
        double f[4];
        for (int s = 0; s < 4; s++) {
            values[i] = (ts_real)((double)v + h * (double[]){-2, -1, 1, 2}[s]);
            f[s] = loss_at(x, false);
        }
        values[i] = v;
        const double numeric = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h), scale = fmax(1, fabs(numeric));
        ck_assert_msg(fabs(numeric - (double)grads[i]) <= TOLERANCE * scale, "number %lld: %.10g, numeric %.10g",
                      (long long)i, (double)grads[i], numeric);
    }
}
END_TEST

/* What a block draws is that of the step it is told: dropout, and the noise of its weights. */
START_TEST(draws_are_those_of_the_step) {
    static const ts_simplex *const maps[] = {&ts_softmax_map, &ts_gumbel_softmax_map};
    ts_attention_block self = {.spec = {.score = TS_SCORE_DOT, .gamma = 1}};
    ts_linear *parts[3] = {&self.query, &self.key, &self.value};
    for (int i = 0; i < 3; i++)
        ts_linear_add(parts[i], params, (const char *[]){"query", "key", "value"}[i], 4, 4, true, &error);
    ck_assert_int_eq(ts_params_allocate(params, 1, &error), TS_OK);
    ts_tape *tape = ts_tape_create(TS_INFER);
    ts_real values[48];
    for (int i = 0; i < 48; i++) values[i] = (ts_real)sin(i);
    ts_tensor *x = ts_constant(tape, TS_SHAPE(12, 4), values);
    for (int m = 0; m < 2; m++) {
        self.spec.simplex = (ts_simplex_spec){.map = maps[m], .parameter = 1};
        self.spec.dropout = m == 0 ? 0.5 : 0;
        const ts_tensor *y[3];
        for (int s = 0; s < 3; s++)
            y[s] = ts_attention_block_forward(&self, params, tape, x, x, NULL, (uint32_t[]){4, 5, 4}[s]);
        ck_assert_msg(ts_tape_error(tape) == NULL, "%s", ts_tape_error(tape));
        ck_assert_mem_eq(y[0]->data, y[2]->data, sizeof values);
        ck_assert_mem_ne(y[0]->data, y[1]->data, sizeof values);
    }
    ts_tape_free(tape);
}
END_TEST

START_TEST(identity_attention_is_its_values) {
    ts_attention_block self = {.identity = true};
    ck_assert_int_eq(ts_linear_add(&self.value, params, "value", 4, 4, true, &error), TS_OK);
    ts_params_allocate(params, 1, &error);
    ts_tape *tape = ts_tape_create(TS_RECORD);
    ts_tensor *x = ts_constant(tape, TS_SHAPE(3, 4), (ts_real[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    const ts_tensor *y = ts_attention_block_forward(&self, params, tape, x, x, NULL, 0);
    const ts_tensor *v = ts_linear_forward(&self.value, params, tape, x);
    ck_assert_mem_eq(y->data, v->data, 12 * sizeof(ts_real));
    ts_tape_free(tape);
}
END_TEST

/* A layer is used too early, or was never added. */
static void expect_refusal(ts_tape *tape, const char *message) {
    ck_assert_pstr_eq(ts_tape_error(tape), message);
    ts_tape_reset(tape);
}

START_TEST(layers_without_their_parameters) {
    ts_linear linear;
    ts_norm_layer norm;
    ts_feed_forward forward;
    ck_assert_int_eq(ts_linear_add(&linear, params, "first", 2, 2, true, &error), TS_OK);
    ck_assert_int_eq(ts_norm_layer_add(&norm, params, "norm", true, 0, 2, 0, &error), TS_OK);
    ck_assert_int_eq(ts_feed_forward_add(&forward, params, "ff", 2, 3, NULL, &error), TS_OK);
    const ts_attention_block attention = {.query = linear, .key = linear, .value = linear};
    ck_assert(ts_params_value(params, 1) == NULL && ts_params_grad(params, 1) == NULL);
    ts_params_zero_grads(params);
    ts_tape *tape = ts_tape_create(TS_RECORD);
    ts_linear_forward(&linear, params, tape, ts_variable(tape, TS_SHAPE(1, 2), NULL));
    expect_refusal(tape, "parameter 'first.weight' is used before ts_params_allocate");
    ts_norm_layer_forward(&norm, params, tape, ts_variable(tape, TS_SHAPE(1, 2), NULL));
    expect_refusal(tape, "parameter 'norm.gain' is used before ts_params_allocate");
    ts_tensor *x = ts_variable(tape, TS_SHAPE(1, 2), NULL);
    ts_attention_block_forward(&attention, params, tape, x, x, NULL, 0);
    expect_refusal(tape, "parameter 'first.weight' is used before ts_params_allocate");
    ts_feed_forward_forward(&forward, params, tape, ts_variable(tape, TS_SHAPE(1, 2), NULL));
    expect_refusal(tape, "feed_forward: the activation is NULL");
    ck_assert_int_eq(ts_params_allocate(params, 1, &error), TS_OK);
    ck_assert_int_ne(ts_linear_add(&linear, params, "late", 2, 2, true, &error), TS_OK);
    ts_linear_forward(&linear, params, tape, ts_variable(tape, TS_SHAPE(1, 2), NULL));
    expect_refusal(tape, "there is no parameter -1: was its layer added to these parameters?");
    ts_params_use(NULL, 0, tape);
    expect_refusal(tape, "there is no parameter 0: was its layer added to these parameters?");
    ts_tape_free(tape);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, parameters_are_named_and_lie_in_one_block);
    tcase_add_test(tests, bad_parameters_are_refused);
    tcase_add_test(tests, initial_values_depend_on_the_name_only);
    tcase_add_test(tests, fixed_parameters_get_no_gradient);
    tcase_add_test(tests, gradients_of_all_layers);
    tcase_add_test(tests, draws_are_those_of_the_step);
    tcase_add_test(tests, identity_attention_is_its_values);
    tcase_add_test(tests, layers_without_their_parameters);
    return run_case("layers", tests);
}
