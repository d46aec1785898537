/* Every op and case in float against the same in double, outputs and gradients. */
#include <math.h>
#include <stdio.h>

#include "../autograd/ops.h"
#include "op_runner.h"
#include "test_main.h"

static double in_float[OP_RUN_MAX], in_double[OP_RUN_MAX];

START_TEST(float_agrees_with_double) {
    const ts_op *op = ts_ops[_i];
    int compared = 0;
    for (int test = 0; op->cases[test].label != NULL; test++) {
        const int64_t n = op_run_float(_i, test, test_seed(), in_float);
        ck_assert_int_eq(n, op_run_double(_i, test, test_seed(), in_double));
        ck_assert_msg(n >= 0, "%s, case '%s' fails", op->name, op->cases[test].label);
        const double tolerance = op->cases[test].float_tolerance > 0 ? op->cases[test].float_tolerance : 2e-5;
        for (int64_t i = 0; i < n; i++) {
            const double error = fabs(in_float[i] - in_double[i]) / fmax(1, fabs(in_double[i]));
            ck_assert_msg(error <= tolerance || in_float[i] == in_double[i],
                          "%s, case '%s', number %lld: %.9g, in double %.17g", op->name, op->cases[test].label,
                          (long long)i, in_float[i], in_double[i]);
            compared++;
        }
    }
    ck_assert_int_gt(compared, 0);
}
END_TEST

/* Guards the arrangement itself: were both built in one precision, the comparison could not fail. */
START_TEST(the_two_precisions_differ) {
    bool differ = false;
    for (int op = 0; ts_ops[op] != NULL && !differ; op++) {
        const int64_t n = op_run_float(op, 0, test_seed(), in_float);
        op_run_double(op, 0, test_seed(), in_double);
        for (int64_t i = 0; i < n; i++) differ = differ || in_float[i] != in_double[i];
    }
    ck_assert(differ);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    int count = 0;
    while (ts_ops[count] != NULL) count++;
    tcase_add_loop_test(tests, float_agrees_with_double, 0, count);
    tcase_add_test(tests, the_two_precisions_differ);
    return run_case("ops, float against double", tests);
}
