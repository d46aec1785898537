/* The checking mode of a tape: what it finds, what it says, and that it changes no number. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../autograd/ops.h"
#include "test_main.h"

static ts_tape *tape;

static void setup(void) {
    setenv("TESSERA_CHECK", "1", 1);
    tape = ts_tape_create(TS_RECORD);
    ck_assert_ptr_nonnull(tape);
}

static void teardown(void) {
    ts_tape_free(tape);
    unsetenv("TESSERA_CHECK");
}

/* The tape failed with these words; then it is reset. */
static void expect_error(const char *message) {
    ck_assert_pstr_eq(ts_tape_error(tape), message);
    ts_tape_reset(tape);
}

/* ---- data that change ---------------------------------------------------------------------------------------- */

START_TEST(a_leaf_that_is_overwritten) {
    ts_real value[] = {1, 2, 3, 4}, grad[4] = {0};
    ts_tensor *p = ts_leaf(tape, TS_SHAPE(2, 2), value, grad);
    ts_tensor *loss = ts_sum(tape, ts_square(tape, p), TS_ALL_AXES, false);
    ck_assert_int_eq(ts_backward(tape, loss), TS_OK);
    ck_assert_int_eq(ts_backward(tape, loss), TS_OK); /* twice is fine */
    ck_assert(grad[3] == 16);
    value[2] = 3.5;
    ck_assert_int_eq(ts_backward(tape, loss), TS_ERROR_USAGE);
    expect_error("square [2,2]: input 0 was changed between forward and backward: 3 at [1,0] became 3.5");
}
END_TEST

START_TEST(other_data_that_are_overwritten) {
    ts_tensor *x = ts_variable(tape, TS_SHAPE(2), NULL);
    x->data[1] = 2; /* before any op has used it */
    ts_tensor *y = ts_exp(tape, x);
    ck_assert_int_eq(ts_backward_from(tape, y, (ts_real[]){1, 1}), TS_OK);
    y->data[0] = 0;
    ck_assert_int_eq(ts_backward_from(tape, y, (ts_real[]){1, 1}), TS_ERROR_USAGE);
    expect_error("exp [2]: the output was changed between forward and backward: 1 at [0] became 0");
    ts_real data[] = {1, 2};
    x = ts_variable(tape, TS_SHAPE(2), (ts_real[]){5, 7});
    y = ts_mul(tape, x, ts_borrow(tape, TS_SHAPE(2), data));
    ts_exp(tape, ts_borrow(tape, TS_SHAPE(2), data)); /* which nothing is asked of */
    data[0] = 0;
    ck_assert_int_eq(ts_backward_from(tape, y, (ts_real[]){1, 1}), TS_ERROR_USAGE);
    expect_error("mul [2] [2]: input 1 was changed between forward and backward: 1 at [0] became 0");
}
END_TEST

/* ---- numbers that are none ----------------------------------------------------------------------------------- */

START_TEST(the_first_op_that_makes_one) {
    ts_tensor *x = ts_variable(tape, TS_SHAPE(3), (ts_real[]){2, 0, 1});
    ts_exp(tape, ts_log(tape, x));
    expect_error("log [3]: makes -inf at [1]; input 0 there is 0");
    x = ts_variable(tape, TS_SHAPE(2, 2), (ts_real[]){0, 1, 2, 3});
    ts_div(tape, x, ts_constant(tape, TS_SHAPE(2), NULL));
    expect_error("div [2,2] [2]: makes a NaN at [0,0]; input 0 there is 0; input 1 is from 0 to 0");
    ts_mean(tape, ts_sqrt(tape, ts_constant(tape, TS_SCALAR, (ts_real[]){-1})), TS_ALL_AXES, false);
    expect_error("sqrt []: makes a NaN; input 0 is -1");
}
END_TEST

START_TEST(a_backward_pass_that_makes_one) {
    ts_tensor *x = ts_variable(tape, TS_SHAPE(2), (ts_real[]){4, 0});
    ts_tensor *y = ts_sum(tape, ts_sqrt(tape, x), 0, false);
    ck_assert_int_eq(ts_backward(tape, y), TS_ERROR_VALUE);
    expect_error("sqrt [2]: its backward pass makes inf in the gradient of input 0 at [1]; input 0 there is 0; the "
                 "upstream gradient there is 1");
    x = ts_variable(tape, TS_SHAPE(2), (ts_real[]){1, 2});
    ck_assert_int_eq(ts_backward_from(tape, ts_exp(tape, x), (ts_real[]){0, NAN}), TS_ERROR_VALUE);
    expect_error("exp [2]: the gradient of its output holds a NaN at [1]; no op made it, it was given so");
}
END_TEST

START_TEST(what_was_given_so) {
    ts_add(tape, ts_variable(tape, TS_SHAPE(2), NULL), ts_constant(tape, TS_SHAPE(2), (ts_real[]){0, NAN}));
    expect_error("add [2] [2]: input 1 holds a NaN at [1]; no op made it, it was given so");
    /* an infinity may be meant, a mask of scores for one: it is passed on, until an op makes a NaN of it */
    ts_tensor *x = ts_variable(tape, TS_SHAPE(2), (ts_real[]){1, 2});
    ts_tensor *mask = ts_constant(tape, TS_SHAPE(2), (ts_real[]){0, -INFINITY});
    ts_tensor *scores = ts_add(tape, x, mask), *y = ts_softmax(tape, scores, 0);
    ck_assert(isinf((double)scores->data[1]) && y->data[0] == 1 && y->data[1] == 0);
    ck_assert_int_eq(ts_backward_from(tape, y, (ts_real[]){1, 1}), TS_OK);
    ts_sub(tape, scores, mask);
    expect_error("sub [2] [2]: makes a NaN at [1]; input 0 there is -inf; input 1 there is -inf");
}
END_TEST

/* ---- what is old --------------------------------------------------------------------------------------------- */

START_TEST(tensors_from_before_many_resets) {
    ts_tensor *old = ts_variable(tape, TS_SHAPE(2), (ts_real[]){1, 2});
    const ts_real *data = old->data;
    for (int i = 0; i < 50; i++) {
        ts_tape_reset(tape);
        ts_exp(tape, ts_variable(tape, TS_SHAPE(2), NULL));
    }
    ts_tape_reset(tape);
    ck_assert(isnan((double)data[0]) && isnan((double)data[1]));
    ts_exp(tape, old);
    expect_error("exp: input 0 was made before the tape was reset; a reset forgets all tensors");
}
END_TEST

START_TEST(what_a_scope_gave_back) {
    ts_tape *infer = ts_tape_create(TS_INFER);
    const ts_scope scope = ts_scope_begin(infer);
    const ts_tensor *waste = ts_constant(infer, TS_SHAPE(3), (ts_real[]){1, 2, 3});
    ts_tensor *large = ts_constant(infer, TS_SHAPE(100000), NULL);
    const ts_real *of_large = large->data, *of_waste = waste->data;
    ts_constant(infer, TS_SHAPE(3), (ts_real[]){4, 5, 6});
    ts_tensor *last = ts_constant(infer, TS_SHAPE(3), (ts_real[]){7, 8, 9});
    const ts_real *of_last = last->data;
    ts_tensor *kept = ts_scope_end(infer, scope, ts_constant(infer, TS_SHAPE(3), (ts_real[]){10, 11, 12}));
    ck_assert(kept->data == of_waste && kept->data[2] == 12); /* it slid down */
    ck_assert(isnan((double)of_large[0]) && isnan((double)of_large[99999]));
    ck_assert(isnan((double)of_last[0]) && isnan((double)of_last[2]));
    ts_exp(infer, last);
    ck_assert_pstr_eq(ts_tape_error(infer),
                      "exp: input 0 was made before the tape was reset, or in a scope that ended");
    ts_tape_free(infer);
}
END_TEST

static ts_status same_shape(const ts_node *node, ts_shape *out) {
    *out = node->in[0]->shape;
    return TS_OK;
}

static void half(const ts_node *node) {
    node->out->data[0] = node->in[0]->data[0];
}

START_TEST(an_op_that_leaves_its_output_unwritten) {
    const ts_op op = {.name = "half", .min_in = 1, .max_in = 1, .shape = same_shape, .forward = half};
    ts_tensor *x = ts_constant(tape, TS_SHAPE(2), (ts_real[]){1, 2});
    ts_apply(tape, &op, NULL, 1, &x);
    expect_error("half [2]: makes a NaN at [1]; input 0 there is 2");
}
END_TEST

/* ---- as it is without ---------------------------------------------------------------------------------------- */

static double train(double gradient[2]) {
    ts_tape *own = ts_tape_create(TS_RECORD);
    ts_real w[2] = {1, -2}, dw[2] = {0};
    double last = 0;
    for (int step = 0; step < 20; step++) {
        ts_tape_reset(own);
        ts_tensor *p = ts_leaf(own, TS_SHAPE(2), w, dw);
        ts_tensor *loss = ts_sum(own, ts_square(own, ts_tanh(own, ts_add(own, p, p))), TS_ALL_AXES, false);
        ck_assert_int_eq(ts_backward(own, loss), TS_OK);
        for (int i = 0; i < 2; i++) w[i] -= (ts_real).1 * dw[i];
        last = (double)loss->data[0];
    }
    for (int i = 0; i < 2; i++) gradient[i] = (double)dw[i];
    ts_tape_free(own);
    return last;
}

START_TEST(the_numbers_are_the_same) {
    double with[2], without[2];
    const double loss = train(with);
    setenv("TESSERA_CHECK", "0", 1);
    ck_assert_double_eq(train(without), loss);
    ck_assert(with[0] == without[0] && with[1] == without[1]);
    ts_tape *plain = ts_tape_create(TS_RECORD);
    ts_log(plain, ts_variable(plain, TS_SCALAR, NULL));
    ck_assert_ptr_null(ts_tape_error(plain)); /* no checks there */
    ts_tape_free(plain);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_leaf_that_is_overwritten);
    tcase_add_test(tests, other_data_that_are_overwritten);
    tcase_add_test(tests, the_first_op_that_makes_one);
    tcase_add_test(tests, a_backward_pass_that_makes_one);
    tcase_add_test(tests, what_was_given_so);
    tcase_add_test(tests, tensors_from_before_many_resets);
    tcase_add_test(tests, what_a_scope_gave_back);
    tcase_add_test(tests, an_op_that_leaves_its_output_unwritten);
    tcase_add_test(tests, the_numbers_are_the_same);
    return run_case("checking tape", tests);
}
