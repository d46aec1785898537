/* Elementwise ops and reductions against values worked out by hand: what the generic test of gradients cannot see, as
 * infinities and ties; and the bits of all ops at any number of threads. */
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/parallel.h"
#include "op_values.h"

static const ts_real INF = (ts_real)INFINITY;

/* ---- elementwise ------------------------------------------------------------------------------------------------- */

START_TEST(derivatives_at_kinks) {
    ts_tensor *x = vector(4, (ts_real[]){0, (ts_real)-0.0, 2, -3});
    ts_tensor *y = ts_relu(tape, x);
    EXPECT(y->data, 0, 0, 2, 0);
    ts_backward_from(tape, y, (ts_real[]){INF, 1, 1, INF}); /* nothing, and not 0 times infinity */
    EXPECT(x->grad, 0, 0, 1, 0);
    ts_tensor *z = ts_variable(tape, TS_SHAPE(4), x->data);
    ts_tensor *square = ts_relu_squared(tape, z);
    EXPECT(square->data, 0, 0, 4, 0);
    ts_backward_from(tape, square, (ts_real[]){INF, 1, 1, INF});
    EXPECT(z->grad, 0, 0, 4, 0);
    ts_tensor *c = vector(5, (ts_real[]){-2, -1, 0, 1, 2});
    ts_tensor *clamped = ts_clamp(tape, c, -1, 1);
    EXPECT(clamped->data, -1, -1, 0, 1, 1);
    ts_backward_from(tape, clamped, (ts_real[]){INF, 1, 1, 1, INF});
    EXPECT(c->grad, 0, 1, 1, 1, 0);
}
END_TEST

START_TEST(not_a_number_passes_through) {
    ts_tensor *x = vector(2, (ts_real[]){(ts_real)NAN, 1});
    EXPECT(ts_relu(tape, x)->data, NAN, 1);
    EXPECT(ts_relu_squared(tape, x)->data, NAN, 1);
    EXPECT(ts_clamp(tape, x, -2, 2)->data, NAN, 1);
    EXPECT(ts_max(tape, x, 0, false)->data, NAN);
    EXPECT(ts_min(tape, x, 0, false)->data, NAN);
    EXPECT(ts_logsumexp(tape, x, 0, false)->data, NAN);
}
END_TEST

START_TEST(ends_of_the_domain) {
    ts_tensor *x = vector(4, (ts_real[]){-1000, 1000, -INF, INF});
    ts_tensor *y = ts_sigmoid(tape, x);
    EXPECT(y->data, 0, 1, 0, 1);
    backward_of_sum(y);
    EXPECT(x->grad, 0, 0, 0, 0);
    ts_tensor *z = vector(3, (ts_real[]){0, 0, 4});
    ts_tensor *root = ts_sqrt(tape, z);
    ts_backward_from(tape, root, (ts_real[]){0, 1, 1});
    EXPECT(z->grad, 0, INFINITY, 0.25);
    EXPECT(ts_log(tape, vector(3, (ts_real[]){0, -1, 1}))->data, -INFINITY, NAN, 0);
    const double half = (double)ts_sigmoid(tape, ts_constant(tape, TS_SCALAR, NULL))->data[0];
    ck_assert(half == 0.5);
    const double tail = (double)ts_sigmoid(tape, ts_constant(tape, TS_SCALAR, (ts_real[]){-80}))->data[0];
    ck_assert_double_eq_tol(tail / exp(-80), 1, fmax(4 * EPS, 1e-14)); /* small, but not lost */
}
END_TEST

START_TEST(broadcast_gradients_have_the_operands_shape) {
    ts_tensor *x = ts_variable(tape, TS_SHAPE(3, 4), NULL), *bias = ts_variable(tape, TS_SHAPE(1, 4), NULL);
    ts_tensor *y = ts_add(tape, x, bias);
    expect_shape(y, TS_SHAPE(3, 4));
    backward_of_sum(y);
    EXPECT(bias->grad, 3, 3, 3, 3);
    ts_tensor *a = ts_variable(tape, TS_SHAPE(2, 1, 3), (ts_real[]){0, 1, 2, 3, 4, 5});
    ts_tensor *b = ts_variable(tape, TS_SHAPE(4, 1), (ts_real[]){1, 2, 3, 4});
    ts_tensor *product = ts_mul(tape, a, b);
    expect_shape(product, TS_SHAPE(2, 4, 3));
    backward_of_sum(product);
    EXPECT(a->grad, 10, 10, 10, 10, 10, 10);
    EXPECT(b->grad, 15, 15, 15, 15);
    ts_tensor *d = ts_sub(tape, ts_constant(tape, TS_SHAPE(2), (ts_real[]){1, 2}), b);
    EXPECT(d->data, 0, 1, -1, 0, -2, -1, -3, -2);
    backward_of_sum(d);
    EXPECT(b->grad, 13, 13, 13, 13); /* added to the 15 of before */
}
END_TEST

START_TEST(one_and_zero_make_zero) {
    ts_tensor *one = ts_variable(tape, TS_SHAPE(1), (ts_real[]){7}), *none = ts_variable(tape, TS_SHAPE(0), NULL);
    ts_tensor *y = ts_add(tape, one, none);
    expect_shape(y, TS_SHAPE(0));
    backward_of_sum(y);
    EXPECT(one->grad, 0);
    ts_tensor *three = ts_variable(tape, TS_SHAPE(1, 3), NULL), *rows = ts_variable(tape, TS_SHAPE(0, 1), NULL);
    ts_tensor *z = ts_div(tape, three, rows);
    expect_shape(z, TS_SHAPE(0, 3));
    backward_of_sum(z);
    EXPECT(three->grad, 0, 0, 0);
}
END_TEST

START_TEST(one_tensor_as_both_operands) {
    ts_tensor *x = vector(3, (ts_real[]){1, 2, 4});
    backward_of_sum(ts_div(tape, x, x));
    EXPECT(x->grad, 0, 0, 0);
    backward_of_sum(ts_sub(tape, x, x));
    EXPECT(x->grad, 0, 0, 0);
    backward_of_sum(ts_add(tape, x, x));
    EXPECT(x->grad, 2, 2, 2);
}
END_TEST

/* ---- reductions -------------------------------------------------------------------------------------------------- */

START_TEST(sums_and_shapes) {
    ts_tensor *x = ts_variable(tape, TS_SHAPE(2, 3), (ts_real[]){1, 2, 3, 4, 5, 6});
    ts_tensor *rows = ts_sum(tape, x, 1, false), *columns = ts_mean(tape, x, -2, true);
    ts_tensor *all = ts_sum(tape, x, TS_ALL_AXES, true);
    expect_shape(rows, TS_SHAPE(2));
    expect_shape(columns, TS_SHAPE(1, 3));
    expect_shape(all, TS_SHAPE(1, 1));
    EXPECT(rows->data, 6, 15);
    EXPECT(columns->data, 2.5, 3.5, 4.5);
    EXPECT(all->data, 21);
    backward_of_sum(columns);
    EXPECT(x->grad, .5, .5, .5, .5, .5, .5);
    ts_tensor *none = ts_variable(tape, TS_SHAPE(3, 0), NULL);
    EXPECT(ts_sum(tape, none, 1, false)->data, 0, 0, 0);
    EXPECT(ts_sum(tape, none, TS_ALL_AXES, false)->data, 0);
    expect_shape(ts_max(tape, none, 0, false), TS_SHAPE(0));
    EXPECT(ts_logsumexp(tape, none, 1, false)->data, -INFINITY, -INFINITY, -INFINITY);
}
END_TEST

/* Many blocks, against the same sum of whole numbers. */
START_TEST(long_axes) {
    const int64_t n = 10007;
    ts_tensor *x = ts_variable(tape, TS_SHAPE(2, n, 3), NULL);
    for (int64_t i = 0; i < 6 * n; i++) x->data[i] = (ts_real)(i % 1009);
    double wanted[6] = {0}, most[6] = {0};
    for (int64_t i = 0; i < 6 * n; i++) {
        const int64_t q = i / (3 * n) * 3 + i % 3;
        wanted[q] += (double)(i % 1009);
        most[q] = fmax(most[q], (double)(i % 1009));
    }
    expect(ts_sum(tape, x, 1, false)->data, 6, wanted);
    expect(ts_max(tape, x, 1, true)->data, 6, most);
    ts_tensor *lowest = ts_min(tape, x, TS_ALL_AXES, false);
    EXPECT(lowest->data, 0);
    ck_assert_int_eq(ts_backward(tape, lowest), TS_OK);
    double share = 0;
    for (int64_t i = 0; i < 6 * n; i++) {
        share += (double)x->grad[i];
        ck_assert(x->data[i] == 0 ? x->grad[i] > 0 : x->grad[i] == 0);
    }
    ck_assert_double_eq_tol(share, 1, 8 * EPS);
    ts_tensor *z = ts_variable(tape, TS_SHAPE(n), NULL), *y = ts_logsumexp(tape, z, 0, false);
    EXPECT(y->data, log((double)n));
    ck_assert_double_eq_tol((double)ts_log_softmax(tape, z, 0)->data[n - 1], -log((double)n), 32 * EPS);
}
END_TEST

/* Ties share the gradient, and the shares sum to 1. */
START_TEST(ties) {
    ts_tensor *x = vector(3, (ts_real[]){3, 1, 3});
    backward_of_sum(ts_max(tape, x, 0, false));
    EXPECT(x->grad, .5, 0, .5);
    ts_tensor *both = vector(2, (ts_real[]){2, 2});
    backward_of_sum(ts_max(tape, both, TS_ALL_AXES, false));
    EXPECT(both->grad, .5, .5);
    ts_tensor *m = ts_variable(tape, TS_SHAPE(2, 4), (ts_real[]){1, 1, 1, 5, 1, 2, 1, 5});
    backward_of_sum(ts_min(tape, m, 0, true));
    EXPECT(m->grad, .5, 1, .5, .5, .5, 0, .5, .5);
    ts_tensor *r = ts_variable(tape, TS_SHAPE(2, 3), (ts_real[]){1, 1, 1, 0, -INF, -INF});
    backward_of_sum(ts_min(tape, r, -1, false));
    EXPECT(r->grad, 1. / 3, 1. / 3, 1. / 3, 0, .5, .5);
}
END_TEST

START_TEST(logsumexp_of_infinities) {
    ts_tensor *low = vector(2, (ts_real[]){-INF, -INF});
    ts_tensor *y = ts_logsumexp(tape, low, 0, false);
    EXPECT(y->data, -INFINITY);
    ck_assert_int_eq(ts_backward(tape, y), TS_OK);
    EXPECT(low->grad, 0, 0);
    ts_tensor *high = ts_variable(tape, TS_SHAPE(2, 3), (ts_real[]){INF, 0, -INF, INF, 7, INF});
    ts_tensor *z = ts_logsumexp(tape, high, 1, false);
    EXPECT(z->data, INFINITY, INFINITY);
    backward_of_sum(z);
    EXPECT(high->grad, 1, 0, 0, .5, 0, .5);
    ts_tensor *one = vector(3, (ts_real[]){-INF, 0, 0});
    ts_tensor *w = ts_logsumexp(tape, one, 0, false);
    EXPECT(w->data, log(2.));
    ck_assert_int_eq(ts_backward(tape, w), TS_OK);
    EXPECT(one->grad, 0, .5, .5);
}
END_TEST

/* Each row by its own maximum; no overflow; the gradient of large numbers is not the worse for the result's rounding.
 */
START_TEST(logsumexp_and_log_softmax_far_out) {
    ts_tensor *x = ts_variable(tape, TS_SHAPE(2, 2), (ts_real[]){1000, 1000, -1000, -1000});
    ts_tensor *y = ts_logsumexp(tape, x, 1, false);
    EXPECT(y->data, 1000 + log(2.), -1000 + log(2.));
    backward_of_sum(y);
    EXPECT(x->grad, .5, .5, .5, .5);
    EXPECT(ts_log_softmax(tape, x, 1)->data, -log(2.), -log(2.), -log(2.), -log(2.));
    const ts_real far[] = {(ts_real)-249.9, (ts_real)-424.1, (ts_real)-460.3, (ts_real)378.1, (ts_real)-292.6};
    ts_tensor *p = ts_exp(tape, ts_log_softmax(tape, vector(5, far), 0));
    EXPECT(p->data, 0, 0, 0, 1, 0);
    ts_tensor *masked = vector(3, (ts_real[]){0, -INF, 0});
    ts_tensor *logs = ts_log_softmax(tape, masked, 0);
    EXPECT(logs->data, -log(2.), -INFINITY, -log(2.));
    ts_backward_from(tape, logs, (ts_real[]){1, 0, 0});
    EXPECT(masked->grad, .5, 0, -.5);
    EXPECT(ts_log_softmax(tape, vector(2, (ts_real[]){-INF, -INF}), 0)->data, -INFINITY, -INFINITY);
    EXPECT(ts_log_softmax(tape, vector(3, (ts_real[]){INF, 1, INF}), 0)->data, -log(2.), -INFINITY, -log(2.));
}
END_TEST

/* ---- dropout ----------------------------------------------------------------------------------------------------- */

START_TEST(dropout_of_all_and_of_none) {
    const ts_rng rng = {1, 2, 3};
    ts_tensor *x = vector(4, (ts_real[]){1, INF, (ts_real)NAN, -2});
    ts_tensor *y = ts_dropout(tape, x, 1, rng);
    EXPECT(y->data, 0, 0, 0, 0);
    ts_backward_from(tape, y, (ts_real[]){1, INF, (ts_real)NAN, 1});
    EXPECT(x->grad, 0, 0, 0, 0);
    ts_tensor *z = ts_dropout(tape, x, 0, rng);
    EXPECT(z->data, 1, INFINITY, NAN, -2);
    ts_backward_from(tape, z, (ts_real[]){1, 2, 3, 4});
    EXPECT(x->grad, 1, 2, 3, 4);
}
END_TEST

START_TEST(dropout_follows_the_random_numbers) {
    const ts_rng rng = {test_seed(), 5, 6};
    const int64_t n = 100000;
    const double p = 0.3;
    ts_tensor *x = ts_variable(tape, TS_SHAPE(n), NULL);
    for (int64_t i = 0; i < n; i++) x->data[i] = i % 2 == 0 ? 1 : INF;
    ts_tensor *y = ts_dropout(tape, x, p, rng);
    backward_of_sum(y);
    int64_t dropped = 0;
    for (int64_t i = 0; i < n; i++) {
        const bool drop = ts_rng_uniform(rng, (uint64_t)i) < p;
        ck_assert(drop ? y->data[i] == 0 && x->grad[i] == 0 : x->grad[i] == (ts_real)(1 / (1 - p)));
        if (!drop) ck_assert(y->data[i] == (i % 2 == 0 ? (ts_real)(1 / (1 - p)) : INF));
        dropped += drop;
    }
    ck_assert_double_eq_tol((double)dropped / (double)n, p, 6 * sqrt(p * (1 - p) / (double)n));
}
END_TEST

/* ---- threads ----------------------------------------------------------------------------------------------------- */

#ifdef _OPENMP

/* FNV-1a over the bytes of everything that was computed. */
static uint64_t mix(uint64_t hash, const ts_real *x, int64_t n) {
    const unsigned char *bytes = (const unsigned char *)x;
    for (size_t i = 0; i < (size_t)n * sizeof *x; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

static uint64_t run_and_mix(ts_tensor *y, int n, ts_tensor *const in[]) {
    ts_tensor *dy = filled(y->shape, "dy");
    ck_assert_int_eq(ts_backward_from(tape, y, dy->data), TS_OK);
    uint64_t hash = mix(14695981039346656037u, y->data, ts_shape_size(&y->shape));
    for (int i = 0; i < n; i++) hash = mix(hash, in[i]->grad, ts_shape_size(&in[i]->shape));
    return hash;
}

enum { WORKLOADS = 14 };

static uint64_t workload(int which) {
    ts_tape_reset(tape);
    ts_tensor *x = filled(TS_SHAPE(403, 301), "x"), *row = filled(TS_SHAPE(301), "row");
    ts_tensor *a = filled(TS_SHAPE(5, 129, 67), "a"), *b = filled(TS_SHAPE(5, 67, 301), "b"),
              *w = filled(TS_SHAPE(67, 301), "w");
    ts_tensor *u = filled(TS_SHAPE(3, 211, 17), "u"), *v = filled(TS_SHAPE(307, 17), "v"), *s = filled(TS_SCALAR, "s");
    int64_t index[500];
    for (int64_t i = 0; i < 500; i++) index[i] = i * i % 403;
    switch (which) {
    case 0: return run_and_mix(ts_sum(tape, x, TS_ALL_AXES, false), 1, &x);
    case 1: return run_and_mix(ts_mean(tape, x, 0, false), 1, &x);
    case 2: return run_and_mix(ts_max(tape, x, TS_ALL_AXES, false), 1, &x);
    case 3: return run_and_mix(ts_logsumexp(tape, x, TS_ALL_AXES, false), 1, &x);
    case 4: return run_and_mix(ts_log_softmax(tape, x, 0), 1, &x);
    case 5: return run_and_mix(ts_mul(tape, x, row), 2, (ts_tensor *[]){x, row});
    case 6: return run_and_mix(ts_div(tape, s, x), 2, (ts_tensor *[]){s, x});
    case 7: return run_and_mix(ts_broadcast_to(tape, row, TS_SHAPE(403, 301)), 1, &row);
    case 8: return run_and_mix(ts_matmul(tape, a, b, false, false), 2, (ts_tensor *[]){a, b});
    case 9: return run_and_mix(ts_matmul(tape, a, w, false, false), 2, (ts_tensor *[]){a, w});
    case 10: return run_and_mix(ts_matmul(tape, w, a, true, true), 2, (ts_tensor *[]){w, a});
    case 11: return run_and_mix(ts_distances(tape, u, v), 2, (ts_tensor *[]){u, v});
    case 12: return run_and_mix(ts_gather_rows(tape, x, index, 500), 1, &x);
    default: return run_and_mix(ts_dropout(tape, x, 0.4, (ts_rng){1, 2, 3}), 1, &x);
    }
}

START_TEST(the_same_bits_on_any_number_of_threads) {
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    const uint64_t alone = workload(_i);
    for (int threads = 2; threads <= 8; threads *= 2) {
        omp_set_num_threads(threads);
        ck_assert_msg(workload(_i) == alone, "workload %d differs with %d threads", _i, threads);
    }
    omp_set_num_threads(before);
}
END_TEST

#endif

int main(void) {
    ts_parallel_cutoff = 1000; /* small work meets threads */
    TCase *tests = tape_case();
    tcase_add_test(tests, derivatives_at_kinks);
    tcase_add_test(tests, not_a_number_passes_through);
    tcase_add_test(tests, ends_of_the_domain);
    tcase_add_test(tests, broadcast_gradients_have_the_operands_shape);
    tcase_add_test(tests, one_and_zero_make_zero);
    tcase_add_test(tests, one_tensor_as_both_operands);
    tcase_add_test(tests, sums_and_shapes);
    tcase_add_test(tests, long_axes);
    tcase_add_test(tests, ties);
    tcase_add_test(tests, logsumexp_of_infinities);
    tcase_add_test(tests, logsumexp_and_log_softmax_far_out);
    tcase_add_test(tests, dropout_of_all_and_of_none);
    tcase_add_test(tests, dropout_follows_the_random_numbers);
#ifdef _OPENMP
    tcase_add_loop_test(tests, the_same_bits_on_any_number_of_threads, 0, WORKLOADS);
#else
    say_skipped("the_same_bits_on_any_number_of_threads", "no OpenMP");
#endif
    return run_case("values of ops", tests);
}
