/* The generic op test, in double: every op of the list, every case, by ts_op_check. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../autograd/gradcheck.h"
#include "../autograd/ops.h"
#include "../examples/cube_op.h"
#include "test_main.h"

static const double TOLERANCE = 1e-7;

static void check_op(const ts_op *op) {
    ck_assert_msg(op->cases != NULL && op->cases[0].label != NULL, "%s has no cases", op->name);
    int refused = 0;
    for (const ts_op_case *test = op->cases; test->label != NULL; test++) {
        ts_gradcheck_report report;
        const ts_status status = ts_op_check(op, test, test_seed(), TOLERANCE, &report);
        ck_assert_msg(status == TS_OK, "%s, case '%s': %s", op->name, test->label, report.text);
        refused += test->kind == TS_CASE_REFUSED;
    }
    ck_assert_msg(refused > 0 || op->min_in == 1, "%s: no case is refused", op->name);
}

START_TEST(every_op_of_the_list) {
    int count = 0;
    while (ts_ops[count] != NULL) count++;
    ck_assert_int_lt(_i, count);
    check_op(ts_ops[_i]);
}
END_TEST

START_TEST(the_list_is_whole) {
    int count = 0;
    for (; ts_ops[count] != NULL; count++)
        for (int i = 0; i < count; i++) ck_assert_str_ne(ts_ops[i]->name, ts_ops[count]->name);
#define COUNT_OP(name) +1
    ck_assert_int_eq(count, 0 TS_OPS(COUNT_OP));
}
END_TEST

START_TEST(an_op_of_the_users_own) {
    check_op(&cube_op);
}
END_TEST

/* ---- the checker itself must catch what it is there for ------------------------------------------------------ */

static ts_status same_shape(const ts_node *node, ts_shape *out) {
    *out = node->in[0]->shape;
    return TS_OK;
}

static void square_forward(const ts_node *node) {
    for (int64_t i = 0; i < ts_shape_size(&node->out->shape); i++)
        node->out->data[i] = node->in[0]->data[i] * node->in[0]->data[i];
}

static double planted_factor; /* of a right gradient's 2 x dy */
static bool planted_overwrite, planted_nan;
static enum { EACH, ALL, NOTHING } planted_asking = EACH; /* which upstream of 0 it heeds */

static void square_backward(const ts_node *node) {
    ts_real *dx = node->in[0]->grad;
    const int64_t size = ts_shape_size(&node->out->shape);
    const bool heeds = planted_asking == EACH || (planted_asking == ALL && !ts_any_nonzero(node->out->grad, size));
    for (int64_t i = 0; i < size; i++) {
        const double dy = (double)node->out->grad[i], term = planted_factor * (double)node->in[0]->data[i] * dy;
        const double g = heeds ? TS_IF_NONZERO(dy, term) : term;
        dx[i] = (ts_real)(planted_nan ? NAN : planted_overwrite ? g : (double)dx[i] + g);
    }
}

static const ts_op_case square_cases[] = {{.label = "plain", .n_in = 1, .in = {TS_DIMS(2, 3)}}, {.label = NULL}};
static const ts_op planted = {.name = "planted",
                              .min_in = 1,
                              .max_in = 1,
                              .shape = same_shape,
                              .forward = square_forward,
                              .backward = square_backward,
                              .cases = square_cases};

/* Claims to assign fresh gradients. */
static ts_status check_assigning(bool overwrite) {
    ts_op op = planted;
    ts_gradcheck_report report;
    op.assigns_in = 1;
    planted_factor = 2, planted_overwrite = overwrite, planted_nan = false;
    return ts_op_check(&op, square_cases, test_seed(), TOLERANCE, &report);
}

static ts_status check_planted(double factor, bool overwrite, bool nan) {
    ts_gradcheck_report report;
    planted_factor = factor, planted_overwrite = overwrite, planted_nan = nan;
    return ts_op_check(&planted, square_cases, test_seed(), TOLERANCE, &report);
}

START_TEST(a_planted_wrong_gradient_is_caught) {
    ck_assert_int_eq(check_planted(2, false, false), TS_OK);
    ck_assert_int_ne(check_planted(-2, false, false), TS_OK);       /* a flipped sign */
    ck_assert_int_ne(check_planted(2.000002, false, false), TS_OK); /* a millionth too large */
    ck_assert_int_ne(check_planted(2, true, false), TS_OK);         /* overwrites instead of adding */
    ck_assert_int_ne(check_planted(2, false, true), TS_OK);         /* not a number */
    ck_assert_int_ne(check_assigning(false), TS_OK);                /* adds to what a fresh gradient does not hold */
    ck_assert_int_ne(check_assigning(true), TS_OK);                 /* assigns where it should add */
}
END_TEST

/* Without TS_IF_NONZERO: where all upstream is 0, and where that of an infinite element is. */
START_TEST(a_gradient_that_nobody_asks_for_is_caught) {
    ts_gradcheck_report report;
    planted_asking = NOTHING;
    ck_assert_int_ne(check_planted(2, false, false), TS_OK);
    ts_zero_upstream_check(&planted, square_cases, test_seed(), &report);
    ck_assert_msg(strstr(report.text, "upstream all 0; input 0, element 0 is inf: its gradient is ") != NULL, "%s",
                  report.text);
    planted_asking = ALL;
    ck_assert_int_ne(check_planted(2, false, false), TS_OK);
    ts_zero_upstream_check(&planted, square_cases, test_seed(), &report);
    ck_assert_msg(strstr(report.text, "which is inf: the gradient of input 0, element ") != NULL, "%s", report.text);
    planted_asking = EACH;
    ck_assert_int_eq(check_planted(2, false, false), TS_OK);
}
END_TEST

/* ---- gradients that nobody wants ---- */

static unsigned careless; /* bit i set: the gradient of input i is written even where it is NULL */

static void product_forward(const ts_node *node) {
    for (int64_t i = 0; i < ts_shape_size(&node->out->shape); i++)
        node->out->data[i] = node->in[0]->data[i] * node->in[1]->data[i];
}

static void product_backward(const ts_node *node) {
    for (int input = 0; input < 2; input++) {
        ts_real *volatile dx = ts_grad_of(node, input); /* volatile: the compiler shall not see what is done to NULL */
        for (int64_t i = 0; (dx != NULL || careless >> input & 1u) && i < ts_shape_size(&node->out->shape); i++)
            dx[i] += TS_IF_NONZERO(node->out->grad[i], node->in[1 - input]->data[i] * node->out->grad[i]);
    }
}

static const ts_op_case product_cases[] = {{.label = "plain", .n_in = 2, .in = {TS_DIMS(2, 3), TS_DIMS(2, 3)}},
                                           {.label = NULL}};
static const ts_op product = {.name = "product",
                              .min_in = 2,
                              .max_in = 2,
                              .shape = same_shape,
                              .forward = product_forward,
                              .backward = product_backward,
                              .cases = product_cases};

START_TEST(a_gradient_that_nobody_wants_is_named) {
    ts_gradcheck_report report;
    char wanted[2][100];
    for (careless = 1; careless <= 3; careless++) {
        const int input = careless == 2 ? 1 : 0;
        ck_assert_int_eq(ts_op_check(&product, product_cases, test_seed(), TOLERANCE, &report), TS_ERROR_VALUE);
        snprintf(wanted[0], sizeof wanted[0], " when input %d wants no gradient: ", input);
        snprintf(wanted[1], sizeof wanted[1], "if (ts_grad_of(node, %d) != NULL) ...", input);
        for (int i = 0; i < 2; i++) ck_assert_msg(strstr(report.text, wanted[i]) != NULL, "%s", report.text);
    }
    careless = 2;
    ts_op masked = product;
    masked.constant_in = 2;
    ck_assert_int_eq(ts_op_check(&masked, product_cases, test_seed(), TOLERANCE, &report), TS_ERROR_VALUE);
    ck_assert_msg(strstr(report.text, "input of constant_in? There is none") != NULL, "%s", report.text);
    careless = 0;
    ck_assert_int_eq(ts_op_check(&product, product_cases, test_seed(), TOLERANCE, &report), TS_OK);
}
END_TEST

static void crash(const ts_node *node) {
    (void)node;
    abort();
}

START_TEST(an_op_that_crashes_is_reported) {
    ts_gradcheck_report report;
    ts_op op = product;
    op.backward = crash;
    ck_assert_int_eq(ts_op_check(&op, product_cases, test_seed(), TOLERANCE, &report), TS_ERROR_VALUE);
    ck_assert_ptr_nonnull(strstr(report.text, "backward: ended by signal 6 ("));
    ck_assert_ptr_nonnull(strstr(report.text, ", though all gradients are wanted"));
    op.forward = crash;
    ck_assert_int_eq(ts_op_check(&op, product_cases, test_seed(), TOLERANCE, &report), TS_ERROR_VALUE);
    ck_assert_ptr_eq(strstr(report.text, "forward: ended by signal 6 ("), report.text);
}
END_TEST

START_TEST(an_incomplete_descriptor_is_reported) {
    ts_gradcheck_report report;
    ts_op op = product;
    op.backward = NULL;
    ck_assert_int_eq(ts_op_check(&op, product_cases, test_seed(), TOLERANCE, &report), TS_ERROR_USAGE);
    ck_assert_str_eq(report.text, "product: a gradient is asked of it, and it has no backward function");
    op.forward = NULL;
    ck_assert_int_eq(ts_op_check(&op, product_cases, test_seed(), TOLERANCE, &report), TS_ERROR_USAGE);
    ck_assert_str_eq(report.text, "product: the op's descriptor has no forward function");
    ck_assert_int_eq(ts_op_check(NULL, product_cases, test_seed(), TOLERANCE, &report), TS_ERROR_USAGE);
    ck_assert_int_eq(ts_op_check(&product, NULL, test_seed(), TOLERANCE, &report), TS_ERROR_USAGE);
    ck_assert_int_eq(ts_op_check(&product, product_cases + 1, test_seed(), TOLERANCE, &report), TS_ERROR_USAGE);
    ck_assert_str_ne(report.text, "");
}
END_TEST

/* Three subsets, and both inputs as one tensor. */
START_TEST(the_report_is_of_all_checks) {
    ts_gradcheck_report report, wrong;
    careless = 0;
    ck_assert_int_eq(ts_op_check(&product, product_cases, test_seed(), TOLERANCE, &report), TS_OK);
    ck_assert_int_eq(report.checked + report.skipped, 6 * (1 + 1 + 2) + 6);
    ck_assert(report.worst > 0 && report.worst < TOLERANCE && report.input >= 0);
    ck_assert_int_eq(ts_op_check(&product, product_cases, test_seed(), report.worst / 2, &wrong), TS_ERROR_VALUE);
    ck_assert_str_ne(wrong.text, "");
}
END_TEST

static const ts_op_case wanted_refusal[] = {{.label = "r", .n_in = 1, .in = {TS_DIMS(2)}, .kind = TS_CASE_REFUSED}};

START_TEST(a_refusal_that_does_not_come_is_caught) {
    ts_gradcheck_report report;
    ck_assert_int_ne(ts_op_check(&planted, wanted_refusal, test_seed(), TOLERANCE, &report), TS_OK);
    ck_assert_ptr_nonnull(strstr(report.text, "should have been refused"));
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    int count = 0;
    while (ts_ops[count] != NULL) count++;
    tcase_add_loop_test(tests, every_op_of_the_list, 0, count);
    tcase_add_test(tests, the_list_is_whole);
    tcase_add_test(tests, an_op_of_the_users_own);
    tcase_add_test(tests, a_planted_wrong_gradient_is_caught);
    tcase_add_test(tests, a_gradient_that_nobody_asks_for_is_caught);
    tcase_add_test(tests, a_gradient_that_nobody_wants_is_named);
    tcase_add_test(tests, an_op_that_crashes_is_reported);
    tcase_add_test(tests, an_incomplete_descriptor_is_reported);
    tcase_add_test(tests, the_report_is_of_all_checks);
    tcase_add_test(tests, a_refusal_that_does_not_come_is_caught);
    return run_case("ops, gradients in double", tests);
}
