/* A gradient that nobody asks for is 0 (op.h): every op on its singular points, on every instruction set; and what that
 * is good for, by values. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../autograd/gradcheck.h"
#include "../autograd/parallel.h"
#include "instruction_sets.h"

#ifdef _OPENMP
#include <omp.h>
#endif

static const ts_real INF = (ts_real)INFINITY, NONE = (ts_real)NAN;

static void expect(const ts_tensor *t, const double *wanted) {
    for (int64_t i = 0; i < ts_shape_size(&t->shape); i++)
        ck_assert_msg(fabs((double)t->grad[i] - wanted[i]) <= 2e-6 * fmax(1, fabs(wanted[i])) ||
                          (double)t->grad[i] == wanted[i],
                      "element %d is %g, not %g", (int)i, (double)t->grad[i], wanted[i]);
}
#define EXPECT(t, ...) expect(t, (const double[]){__VA_ARGS__})

START_TEST(every_op) {
    int checked = 0;
    for (int isa = 0; isa < ISA_COUNT; isa++)
        for (const ts_op_case *test = ts_ops[_i]->cases; ts_isa_use(ISAS[isa]) && test->label != NULL; test++) {
            ts_gradcheck_report report;
            if (test->kind == TS_CASE_REFUSED) continue;
            const ts_status status = ts_zero_upstream_check(ts_ops[_i], test, test_seed(), &report);
            ck_assert_msg(status == TS_OK, "%s, %s, case '%s': %s", ISAS[isa], ts_ops[_i]->name, test->label,
                          report.text);
            checked++;
        }
    ck_assert_int_gt(checked, 0);
}
END_TEST

/* The logarithm at 0 is cut off, and so is its infinite derivative; the other elements have theirs. */
START_TEST(clamp_of_log) {
    ts_tensor *x = vector(3, (ts_real[]){0, (ts_real)0.5, 1});
    ts_tensor *y = ts_clamp(tape, ts_log(tape, x), -5, 0);
    ck_assert_int_eq(ts_backward(tape, ts_sum(tape, y, TS_ALL_AXES, false)), TS_OK);
    EXPECT(x, 0, 2, 1);
}
END_TEST

/* A loss that is multiplied with 0 where it is infinite, op by op. */
START_TEST(elementwise) {
    const ts_real upstream[2] = {0, 1};
    ts_tensor *a = vector(2, (ts_real[]){1, 3}), *b = vector(2, (ts_real[]){0, 2});
    ts_backward_from(tape, ts_div(tape, a, b), upstream);
    EXPECT(a, 0, 0.5);
    EXPECT(b, 0, -0.75);
    ts_tensor *c = vector(2, (ts_real[]){INF, 3}), *d = vector(2, (ts_real[]){NONE, 2});
    ts_backward_from(tape, ts_mul(tape, c, d), upstream);
    EXPECT(c, 0, 2);
    EXPECT(d, 0, 3);
    ts_tensor *x = vector(2, (ts_real[]){INF, 0}), *z = vector(2, (ts_real[]){-INF, 3});
    ts_backward_from(tape, ts_exp(tape, x), upstream);
    EXPECT(x, 0, 1);
    ts_backward_from(tape, ts_square(tape, z), upstream);
    EXPECT(z, 0, 6);
}
END_TEST

/* An infinite element in a product of matrices, of which the rows or columns that it spoils are not asked for. */
START_TEST(product_of_matrices) {
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!ts_isa_use(ISAS[isa])) continue;
        ts_tape_reset(tape);
        ts_tensor *a = ts_variable(tape, TS_SHAPE(2, 2), (ts_real[]){1, INF, 3, 4});
        ts_tensor *b = ts_variable(tape, TS_SHAPE(2, 2), (ts_real[]){5, NONE, 7, 8});
        ts_tensor *y = ts_matmul(tape, a, b, false, false);
        ts_backward_from(tape, y, (ts_real[]){0, 0, 1, 0}); /* y_10 = 3 5 + 4 7 alone */
        EXPECT(a, 0, 0, 5, 7);
        EXPECT(b, 3, 0, 4, 0);
        ts_tensor *c = ts_variable(tape, TS_SHAPE(2, 2), (ts_real[]){1, INF, 3, 4});
        ts_backward_from(tape, ts_matmul(tape, c, c, true, true), (ts_real[]){0, 0, 0, 1}); /* inf 3 + 4 4 */
        ck_assert((double)c->grad[1] == 3 && (double)c->grad[2] == INFINITY && (double)c->grad[0] == 0);
    }
}
END_TEST

enum { ROWS = 311, INNER = 301, COLUMNS = 130 };
static ts_real right[2][ROWS * INNER + INNER * COLUMNS];

/* da and db of a product whose row 7 of a and column 3 of b are `value` in places, and are not asked for. */
static void large_product(int threads, ts_real value, ts_real *gradients) {
#ifdef _OPENMP
    omp_set_num_threads(threads);
#endif
    (void)threads;
    ts_tape_reset(tape);
    ts_tensor *a = filled(TS_SHAPE(ROWS, INNER), "a"), *b = filled(TS_SHAPE(INNER, COLUMNS), "b");
    ts_tensor *up = filled(TS_SHAPE(ROWS, COLUMNS), "up");
    a->data[7 * INNER + 290] = value;
    b->data[2 * COLUMNS + 3] = value;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++)
            if (i == 7 || j == 3) up->data[i * COLUMNS + j] = 0;
    ck_assert_int_eq(ts_backward_from(tape, ts_matmul(tape, a, b, false, false), up->data), TS_OK);
    memcpy(gradients, a->grad, ROWS * INNER * sizeof(ts_real));
    memcpy(gradients + ROWS * INNER, b->grad, INNER * COLUMNS * sizeof(ts_real));
}

/* The same bits as of ordinary numbers, on any number of threads, which cut the product into other blocks. */
START_TEST(large_products) {
    static const ts_real values[] = {(ts_real)INFINITY, (ts_real)-INFINITY, (ts_real)NAN};
    for (int c = 0; c < ISA_COUNT * 3 * 3; c++) {
        if (!ts_isa_use(ISAS[c / 9])) continue;
        large_product(1, 1, right[0]);
        large_product((int[]){1, 2, 8}[c % 3], values[c / 3 % 3], right[1]);
        for (int64_t i = 0; i < ROWS * INNER + INNER * COLUMNS; i++)
            ck_assert_msg(right[0][i] == right[1][i], "%s, %g: element %d is %g, not %g", ISAS[c / 9],
                          (double)values[c / 3 % 3], (int)i, (double)right[1][i], (double)right[0][i]);
    }
}
END_TEST

/* What is asked for is not hidden: an infinite or undefined derivative comes through where dy is not 0. */
START_TEST(what_is_asked_for_is_not_hidden) {
    ts_tensor *x = vector(2, (ts_real[]){0, 1}), *y = ts_log(tape, x);
    ts_backward_from(tape, y, (ts_real[]){1, 1});
    ck_assert((double)x->grad[0] == INFINITY && (double)x->grad[1] == 1);
    ts_tensor *a = ts_variable(tape, TS_SHAPE(2, 1), (ts_real[]){NONE, 1});
    ts_tensor *b = ts_variable(tape, TS_SHAPE(1, 1), (ts_real[]){2});
    ts_backward_from(tape, ts_matmul(tape, a, b, false, false), (ts_real[]){1, 1});
    ck_assert(isnan((double)b->grad[0]) && (double)a->grad[1] == 2);
    ts_tensor *s = vector(2, (ts_real[]){NONE, 1}), *p = ts_softmax(tape, s, 0);
    ts_backward_from(tape, p, (ts_real[]){0, 1});
    ck_assert(isnan((double)s->grad[0]) && isnan((double)s->grad[1]));
}
END_TEST

int main(void) {
    ts_parallel_cutoff = 1000; /* small work meets threads */
    TCase *tests = isa_case();
    int count = 0;
    while (ts_ops[count] != NULL) count++;
    tcase_add_loop_test(tests, every_op, 0, count);
    tcase_add_test(tests, clamp_of_log);
    tcase_add_test(tests, elementwise);
    tcase_add_test(tests, product_of_matrices);
    tcase_add_test(tests, large_products);
    tcase_add_test(tests, what_is_asked_for_is_not_hidden);
    return run_case("zero upstream", tests);
}
