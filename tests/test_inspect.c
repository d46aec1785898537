/* `tessera inspect` as its users meet it. TESSERA is the path of the program. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../io/safetensors.h"
#include "../train/checkpoint.h"
#include "program.h"

static ts_train_options options_of(ts_construction construction) {
    ts_train_options o = ts_train_defaults();
    o.n = 32;
    o.d = 2;
    o.k = 3;
    o.batch = 4;
    o.steps = 40;
    o.eval_batches = 1;
    o.construction = construction;
    return o;
}

/* Trains for some steps, with a validation after the tenth. */
static void make_checkpoint(const char *path, const ts_train_options *o, int64_t steps) {
    ts_error error = {.status = TS_OK};
    ts_trainer *t = ts_trainer_create(o, &error);
    ts_train_step report;
    ts_train_test result;
    ck_assert_msg(t != NULL, "%s", error.text);
    while (t->step < steps) {
        ck_assert_int_eq(ts_trainer_step(t, &report, &error), TS_OK);
        if (t->step != 10) continue;
        ck_assert_int_eq(ts_trainer_test(t, &result, &error), TS_OK);
        ck_assert(ts_trainer_observe(t, &result));
    }
    ck_assert_msg(ts_checkpoint_write(t, path, &error) == TS_OK, "%s", error.text);
    ts_trainer_free(t);
}

static void make_model(void) {
    const ts_train_options o = options_of(TS_CONSTRUCTION_ONEHOT);
    if (!file_exists("model.safetensors")) make_checkpoint("model.safetensors", &o, 20);
}

static const json_t *tensor_of(const json_t *report, const char *name) {
    const json_t *list = json_object_get(report, "tensors");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(list, i), "name")), name) == 0)
            return json_array_get(list, i);
    ck_abort_msg("no tensor %s", name);
    return NULL;
}

static double state_of(const json_t *report, const char *key) {
    return number(json_object_get(report, "training"), key);
}

static void expect_text(const char *text) {
    ck_assert_msg(strstr(out, text) != NULL, "'%s' is not in\n%s", text, out);
}

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

START_TEST(what_a_checkpoint_is) {
    make_model();
    ck_assert_int_eq(tessera("inspect model.safetensors"), 0);
    ck_assert_str_eq(err, "");
    expect_text("model.safetensors: checkpoint of tessera\n");
    expect_text("tokens of d = 2 coordinates and 3 of code (onehot), e = 5; k = 3 clusters\n");
    expect_text("cross_points, self_points, cross_centers, self_centers:\n");
    expect_text("euclidean softmax attention, gamma 1 / sqrt(e), dropout 0.01\n");
    expect_text("parameters    360\n");
    expect_text("step 20 of 40; learning rate of the next 0.01\n");
    expect_text("after step 10\n");
    expect_text("n 32  (default 512)\n");
    expect_text("steps 40  (default 10000)\n");
    expect_text("and 48 of the optimiser's moments");
    expect_text("\n  cross_points.query.weight   F32   [5,5] ");
    ck_assert(strstr(out, "dropout 0.01  (default") == NULL && strstr(out, "\n  optimiser.") == NULL);
    ck_assert_int_eq(tessera("inspect model.safetensors --all"), 0);
    expect_text("\n  optimiser.1.self_centers.key.bias ");
    const ts_train_options usual = ts_train_defaults();
    ts_train_options o = options_of(TS_CONSTRUCTION_ONEHOT);
    o.n = usual.n;
    o.steps = usual.steps;
    make_checkpoint("fresh.safetensors", &o, 0);
    ck_assert_int_eq(tessera("inspect fresh.safetensors"), 0);
    expect_text("step 0 of 10000");
    expect_text("no validation loss yet\n");
}
END_TEST

START_TEST(a_checkpoint_as_json) {
    ts_error error = {.status = TS_OK};
    make_model();
    json_t *report = tessera_json("inspect model.safetensors");
    ts_trainer *t = ts_checkpoint_resume("model.safetensors", &error);
    ck_assert_ptr_nonnull(t);
    ck_assert(json_is_true(json_object_get(report, "checkpoint")));
    ck_assert_uint_eq(json_array_size(json_object_get(report, "tensors")), 72);
    const json_t *model = json_object_get(report, "model");
    ck_assert_str_eq(json_string_value(json_object_get(model, "scheme")), "onehot");
    ck_assert_double_eq(number(model, "parameters"), 360);
    ck_assert_double_eq(number(model, "d") + number(model, "k"), number(model, "e"));
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(model, "definition"), "name")), "learned");
    ck_assert_double_eq(state_of(report, "step"), 20);
    ck_assert_double_eq(state_of(report, "steps"), 40);
    ck_assert_double_eq(state_of(report, "best_step"), 10);
    ck_assert_double_eq(state_of(report, "best_relative"), t->best);
    ck_assert_double_eq(state_of(report, "lr"), 0.01);
    ck_assert_double_eq(state_of(report, "skipped"), 0);
    ck_assert_double_eq(number(json_object_get(report, "options"), "batch"), 4);
    ck_assert_uint_eq(json_array_size(json_object_get(report, "changed")), 6); /* n d k batch steps eval_batches */
    const int at = ts_params_find(t->model.params, "self_points.value.weight");
    const ts_real *value = ts_params_value(t->model.params, at);
    double sum = 0, squares = 0, least = INFINITY, most = -INFINITY;
    for (int i = 0; i < 25; i++) {
        sum += (double)value[i];
        squares += (double)value[i] * (double)value[i];
        least = fmin(least, (double)value[i]);
        most = fmax(most, (double)value[i]);
    }
    const json_t *tensor = tensor_of(report, "self_points.value.weight");
    ck_assert_double_eq_tol(number(tensor, "mean"), sum / 25, 1e-12);
    ck_assert_double_eq_tol(number(tensor, "deviation"), sqrt(squares / 25 - sum * sum / 625), 1e-9);
    ck_assert_double_eq(number(tensor, "smallest"), least);
    ck_assert_double_eq(number(tensor, "largest"), most);
    ck_assert_double_eq_tol(number(tensor, "norm"), sqrt(squares), 1e-12);
    ts_trainer_free(t);
    json_decref(report);
}
END_TEST

START_TEST(training_that_did_not_go_well) {
    ts_train_options o = options_of(TS_CONSTRUCTION_NONE);
    ts_error error = {.status = TS_OK};
    ts_train_step report;
    o.seed = UINT64_MAX;
    ts_trainer *t = ts_trainer_create(&o, &error);
    ts_real *weight = ts_params_value(t->model.params, ts_params_find(t->model.params, "cross_centers.value.weight"));
    const ts_real kept = weight[0];
    weight[0] = NAN;
    ck_assert_int_eq(ts_trainer_step(t, &report, &error), TS_OK);
    weight[0] = kept;
    ck_assert_int_eq(ts_checkpoint_write(t, "skipped.safetensors", &error), TS_OK);
    ts_trainer_free(t);
    ck_assert_int_eq(tessera("inspect skipped.safetensors"), 0);
    expect_text("; 1 step skipped, the gradient not being finite, or too large\n");
    expect_text("and 0 of code (none), e = 2;");
    expect_text("seed 18446744073709551615  (default 0)\n");
    expect_text("scratch none  (default onehot)\n");
    json_t *json = tessera_json("inspect skipped.safetensors");
    ck_assert_double_eq(state_of(json, "skipped"), 1);
    ck_assert(json_is_null(json_object_get(json_object_get(json, "training"), "best_relative")));
    json_decref(json);
}
END_TEST

/* ---- other files ------------------------------------------------------------------------------------------------- */

static void expect_numbers(const json_t *report, const char *name, const char *dtype, double least, double most,
                           double mean) {
    const json_t *tensor = tensor_of(report, name);
    ck_assert_str_eq(json_string_value(json_object_get(tensor, "dtype")), dtype);
    ck_assert_double_eq(number(tensor, "smallest"), least);
    ck_assert_double_eq(number(tensor, "largest"), most);
    ck_assert_double_eq_tol(number(tensor, "mean"), mean, 1e-12 * fabs(mean));
}

static const float f32[] = {1, -2, NAN, 4};
static const double f64[] = {0.5, 1.5};
static const uint16_t f16[] = {0x3C00, 0xC000, 0x7C00, 0x0001}; /* 1, -2, inf, 2^-24 */
static const uint16_t bf16[] = {0x3F80, 0xC040};                /* 1, -3 */
static const int8_t i8[] = {-128, 127};
static const int64_t i64[] = {INT64_MIN, 0};
static const uint64_t u64[] = {UINT64_MAX, 0};
static const uint8_t logical[] = {0, 1, 1, 0};
static const ts_safetensor tensors[] = {
    {.name = "floats", .dtype = TS_SAFETENSORS_F32, .rank = 2, .dim = {2, 2}, .data = f32},
    {.name = "doubles", .dtype = TS_SAFETENSORS_F64, .rank = 1, .dim = {2}, .data = f64},
    {.name = "halves", .dtype = TS_SAFETENSORS_F16, .rank = 1, .dim = {4}, .data = f16},
    {.name = "brains", .dtype = TS_SAFETENSORS_BF16, .rank = 1, .dim = {2}, .data = bf16},
    {.name = "bytes", .dtype = TS_SAFETENSORS_I8, .rank = 1, .dim = {2}, .data = i8},
    {.name = "long", .dtype = TS_SAFETENSORS_I64, .rank = 1, .dim = {2}, .data = i64},
    {.name = "unsigned", .dtype = TS_SAFETENSORS_U64, .rank = 1, .dim = {2}, .data = u64},
    {.name = "truth", .dtype = TS_SAFETENSORS_BOOL, .rank = 1, .dim = {4}, .data = logical},
    {.name = "scalar", .dtype = TS_SAFETENSORS_F64, .rank = 0, .data = f64},
    {.name = "nothing\n", .dtype = TS_SAFETENSORS_F32, .rank = 8, .dim = {0, 1, 1, 1, 1, 1, 1, 99}}};

START_TEST(any_file_of_tensors) {
    ts_io_error error;
    ck_assert_msg(ts_safetensors_write("any.safetensors", tensors, 10, NULL, 0, &error), "%s", error.text);
    json_t *report = tessera_json("inspect any.safetensors");
    ck_assert(json_is_false(json_object_get(report, "checkpoint")));
    ck_assert_ptr_null(json_object_get(report, "model"));
    expect_numbers(report, "floats", "F32", -2, 4, 1);
    ck_assert_double_eq(number(tensor_of(report, "floats"), "not_finite"), 1);
    ck_assert_double_eq(number(tensor_of(report, "floats"), "count"), 4);
    ck_assert_double_eq_tol(number(tensor_of(report, "floats"), "norm"), sqrt(21), 1e-12);
    expect_numbers(report, "doubles", "F64", 0.5, 1.5, 1);
    ck_assert_double_eq(number(tensor_of(report, "doubles"), "deviation"), 0.5);
    expect_numbers(report, "halves", "F16", -2, 1, (ldexp(1, -24) - 1) / 3);
    expect_numbers(report, "brains", "BF16", -3, 1, -1);
    expect_numbers(report, "bytes", "I8", -128, 127, -0.5);
    expect_numbers(report, "long", "I64", -ldexp(1, 63), 0, -ldexp(1, 62));
    expect_numbers(report, "unsigned", "U64", 0, ldexp(1, 64), ldexp(1, 63));
    expect_numbers(report, "truth", "BOOL", 0, 1, 0.5);
    expect_numbers(report, "scalar", "F64", 0.5, 0.5, 0.5);
    ck_assert(json_is_null(json_object_get(tensor_of(report, "nothing\n"), "mean")));
    json_decref(report);
}
END_TEST

START_TEST(any_file_as_text) {
    ts_io_error error;
    ck_assert_msg(ts_safetensors_write("any.safetensors", tensors, 10, NULL, 0, &error), "%s", error.text);
    ck_assert_int_eq(tessera("inspect any.safetensors"), 0);
    expect_text("any.safetensors: 10 tensors, 23 numbers (not a checkpoint of tessera)\n");
    expect_text("  1 not finite\n");
    expect_text("  nothing?  F32   [0,1,1,1,1,1,1,99] ");
    ck_assert_msg(ts_safetensors_write("empty.safetensors", tensors, 0, NULL, 0, &error), "%s", error.text);
    ck_assert_int_eq(tessera("inspect empty.safetensors"), 0);
    ck_assert_str_eq(out, "empty.safetensors: 0 tensors, 0 numbers (not a checkpoint of tessera)\n");
    if (have_program("gnuplot")) {
        expect_failure(1, "any.safetensors: not a checkpoint", "inspect any.safetensors --plot any.svg");
        expect_failure(1, "any.safetensors: not a checkpoint", "inspect any.safetensors --attention any.svg");
    } else {
        skip_part("no gnuplot");
    }
}
END_TEST

START_TEST(wrong_files_and_words) {
    static const ts_safetensors_note notes[] = {{"format", "tessera checkpoint 1"}};
    ts_io_error error;
    make_model();
    ck_assert(ts_safetensors_write("claims.safetensors", NULL, 0, notes, 1, &error));
    write_file("text", "no tensors here");
    expect_failure(1, "claims.safetensors: no metadata 'options'", "inspect claims.safetensors");
    expect_failure(1, "text: not a safetensors file (", "inspect text");
    expect_failure(1, "absent: No such file", "inspect absent");
    expect_failure(1, ".: Is a directory", "inspect .");
    expect_failure(2, "which CHECKPOINT?", "inspect");
    expect_failure(2, "--plot: a.gif: the name must end in", "inspect model.safetensors --plot a.gif");
    expect_failure(2, "--attention: a.gif: the name must end in", "inspect model.safetensors --attention a.gif");
    expect_failure(2, "both would write a.svg", "inspect model.safetensors --plot a.svg --attention ./a.svg");
    if (have_program("gnuplot"))
        expect_failure(1, "nowhere/a.svg: No such file", "inspect model.safetensors --plot nowhere/a.svg");
    else
        skip_part("no gnuplot");
    ck_assert_int_eq(shell("ln -s model.safetensors link.svg; touch out.txt err.txt"), 0);
    expect_failure(2, "--plot: would write over model.safetensors", "inspect model.safetensors --plot link.svg");
    ck_assert(!file_exists("a.svg"));
}
END_TEST

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

START_TEST(pictures) {
    static const ts_construction constructions[] = {TS_CONSTRUCTION_ONEHOT, TS_CONSTRUCTION_BINARY,
                                                    TS_CONSTRUCTION_NONE};
    make_model();
    if (!have_program("gnuplot")) {
        skip_test("no gnuplot");
        return;
    }
    ck_assert_int_eq(tessera("inspect model.safetensors --plot w.svg --attention a.svg"), 0);
    expect_text("plot          w.svg\n");
    expect_text("attention     a.svg\n");
    ck_assert_int_eq(tessera("inspect model.safetensors --plot w2.svg --attention a2.svg --json"), 0);
    expect_same_files("w.svg", "w2.svg");
    expect_same_files("a.svg", "a2.svg");
    char *svg = read_file("w.svg", NULL);
    ck_assert(strstr(svg, "</svg>") != NULL && strstr(svg, "cross_centers") != NULL &&
              strstr(svg, "looks at itself") != NULL);
    free(svg);
    svg = read_file("a.svg", NULL);
    ck_assert(strstr(svg, "</svg>") != NULL && strstr(svg, "centres look") != NULL && strstr(svg, "at points") != NULL);
    free(svg);
    for (int i = 1; i < 3; i++) {
        const ts_train_options o = options_of(constructions[i]);
        make_checkpoint("other.safetensors", &o, 2);
        ck_assert_int_eq(tessera("inspect other.safetensors --plot w%d.png --attention a%d.pdf", i, i), 0);
    }
    ck_assert(file_exists("w1.png") && file_exists("a1.pdf") && file_exists("w2.png") && file_exists("a2.pdf"));
    ck_assert_int_eq(shell("PATH=/nowhere \"$TESSERA\" inspect model.safetensors --plot n.svg >out.txt 2>err.txt"), 1);
    expect_failure_line("gnuplot is not installed");
}
END_TEST

/* The bars of colours have numbers at their ends. */
START_TEST(what_is_drawn) {
    make_model();
    char *script = script_of("inspect model.safetensors --plot w.svg");
    expect_readable(script);
    expect_drawn(script, "'learned Q, K, V'");
    expect_drawn(script, "'-1' at screen");
    expect_drawn(script, "'1' at screen");
    expect_drawn(script, "'cross_centers: centres look at points'");
    free(script);
    script = script_of("inspect model.safetensors --attention a.svg");
    expect_readable(script);
    expect_drawn(script, "'centres look'");
    expect_drawn(script, "'0' at screen");
    expect_drawn(script, "'step 10' at screen");
    free(script);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("inspect");
    tcase_add_test(tests, what_a_checkpoint_is);
    tcase_add_test(tests, a_checkpoint_as_json);
    tcase_add_test(tests, training_that_did_not_go_well);
    tcase_add_test(tests, any_file_of_tensors);
    tcase_add_test(tests, any_file_as_text);
    tcase_add_test(tests, wrong_files_and_words);
    tcase_add_test(tests, pictures);
    tcase_add_test(tests, what_is_drawn);
    return run_program_case("inspect", tests);
}
