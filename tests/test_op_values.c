/* Ops against values worked out by hand or by plain loops; what the generic test of gradients cannot see: infinities,
 * ties, refusals' texts, and bits at any number of threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/ops.h"
#include "../autograd/parallel.h"
#include "test_main.h"

static const double NEAR = sizeof(ts_real) == sizeof(double) ? 1e-13 : 2e-6;
static ts_tape *tape;

static void setup(void) {
    tape = ts_tape_create(TS_RECORD);
    ck_assert_ptr_nonnull(tape);
}

static void teardown(void) {
    ts_tape_free(tape);
}

static void fill(ts_tensor *t, const char *name) {
    const ts_rng rng = {test_seed(), ts_rng_stream(name), 0};
    for (int64_t i = 0; i < ts_size(&t->shape); i++) t->data[i] = (ts_real)(2 * ts_rng_uniform(rng, (uint64_t)i) - 1);
}

static ts_tensor *filled(ts_shape shape, const char *name) {
    ts_tensor *t = ts_variable(tape, shape, NULL);
    ck_assert_ptr_null(ts_tape_error(tape));
    fill(t, name);
    return t;
}

static ts_tensor *vector(int64_t n, const ts_real *values) {
    return ts_variable(tape, TS_SHAPE(n), values);
}

/* Equal, infinities included; NaN equals NaN. */
static void expect(const ts_real *got, int64_t n, const double *wanted) {
    for (int64_t i = 0; i < n; i++) {
        const double g = (double)got[i], w = wanted[i];
        const bool same = g == w || (isnan(g) && isnan(w)) || fabs(g - w) <= NEAR * fmax(1, fabs(w));
        ck_assert_msg(same, "element %lld is %.17g, not %.17g", (long long)i, g, w);
    }
}

#define COUNT(...) (int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double))
#define EXPECT(got, ...) expect(got, COUNT(__VA_ARGS__), (double[]){__VA_ARGS__})

static void expect_shape(const ts_tensor *t, ts_shape wanted) {
    char a[TS_SHAPE_TEXT], b[TS_SHAPE_TEXT];
    ck_assert_ptr_null(ts_tape_error(tape));
    ck_assert_str_eq(ts_shape_text(&t->shape, a), ts_shape_text(&wanted, b));
}

/* Gradients of the sum of y. */
static void backward_of_sum(ts_tensor *y) {
    ck_assert_int_eq(ts_backward(tape, ts_sum(tape, y, TS_ALL_AXES, false)), TS_OK);
}

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
    ck_assert_double_eq_tol(tail / exp(-80), 1, 1e-6); /* small, but not lost */
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
    ck_assert_double_eq_tol(share, 1, 1e-5);
    ts_tensor *z = ts_variable(tape, TS_SHAPE(n), NULL), *y = ts_logsumexp(tape, z, 0, false);
    EXPECT(y->data, log((double)n));
    ck_assert_double_eq_tol((double)ts_log_softmax(tape, z, 0)->data[n - 1], -log((double)n), 1e-5);
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

/* ---- products and distances -------------------------------------------------------------------------------------- */

/* op(x) at (i,j) of a matrix stored with `cols` columns. */
static double at(const ts_real *x, int64_t cols, bool transpose, int64_t i, int64_t j) {
    return (double)(transpose ? x[j * cols + i] : x[i * cols + j]);
}

static void check_matmul(int64_t m, int64_t k, int64_t n, bool ta, bool tb) {
    ts_tape_reset(tape);
    ts_tensor *a = filled(ta ? TS_SHAPE(k, m) : TS_SHAPE(m, k), "a"),
              *b = filled(tb ? TS_SHAPE(n, k) : TS_SHAPE(k, n), "b");
    const int64_t ca = ts_cols(&a->shape), cb = ts_cols(&b->shape);
    ts_tensor *y = ts_matmul(tape, a, b, ta, tb), *dy = filled(TS_SHAPE(m, n), "dy");
    expect_shape(y, TS_SHAPE(m, n));
    const double near = sizeof(ts_real) == sizeof(double) ? 1e-12 : 1e-4;
    ck_assert_int_eq(ts_backward_from(tape, y, dy->data), TS_OK);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < k; l++) sum += at(a->data, ca, ta, i, l) * at(b->data, cb, tb, l, j);
            ck_assert_double_eq_tol((double)y->data[i * n + j], sum, near);
        }
    for (int64_t l = 0; l < k; l++) {
        for (int64_t i = 0; i < m; i++) {
            double sum = 0;
            for (int64_t j = 0; j < n; j++) sum += at(dy->data, n, false, i, j) * at(b->data, cb, tb, l, j);
            ck_assert_double_eq_tol(at(a->grad, ca, ta, i, l), sum, near);
        }
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t i = 0; i < m; i++) sum += at(dy->data, n, false, i, j) * at(a->data, ca, ta, i, l);
            ck_assert_double_eq_tol(at(b->grad, cb, tb, l, j), sum, near);
        }
    }
}

START_TEST(matmul_against_plain_loops) {
    const int64_t sizes[] = {1, 7, 42, 65};
    for (int i = 0; i < 64; i++)
        for (int flags = 0; flags < 4; flags++)
            check_matmul(sizes[i % 4], sizes[i / 4 % 4], sizes[i / 16], flags & 1, flags & 2);
    check_matmul(5, 600, 3, false, false); /* the inner length in several runs */
    check_matmul(50, 257, 270, true, true);
    check_matmul(300, 3, 300, false, true);
}
END_TEST

/* [2,1,m,k] x [3,k,n] against the products of the single matrices, added up where one matrix serves several. */
static void check_batches(bool ta, bool tb) {
    enum { M = 3, K = 5, N = 4 };
    ts_tape_reset(tape);
    ts_tensor *a = filled(ta ? TS_SHAPE(2, 1, K, M) : TS_SHAPE(2, 1, M, K), "a");
    ts_tensor *b = filled(tb ? TS_SHAPE(3, N, K) : TS_SHAPE(3, K, N), "b"), *dy = filled(TS_SHAPE(2, 3, M, N), "dy");
    ts_tensor *y = ts_matmul(tape, a, b, ta, tb);
    expect_shape(y, TS_SHAPE(2, 3, M, N));
    ts_backward_from(tape, y, dy->data);
    double da[2 * M * K] = {0}, db[3 * K * N] = {0};
    for (int64_t s = 0; s < 6; s++) {
        ts_tensor *a1 = ts_variable(tape, ta ? TS_SHAPE(K, M) : TS_SHAPE(M, K), a->data + s / 3 * M * K);
        ts_tensor *b1 = ts_variable(tape, tb ? TS_SHAPE(N, K) : TS_SHAPE(K, N), b->data + s % 3 * K * N);
        ts_tensor *y1 = ts_matmul(tape, a1, b1, ta, tb);
        for (int64_t i = 0; i < M * N; i++) ck_assert(y1->data[i] == y->data[s * M * N + i]);
        ts_backward_from(tape, y1, dy->data + s * M * N);
        for (int64_t i = 0; i < M * K; i++) da[s / 3 * M * K + i] += (double)a1->grad[i];
        for (int64_t i = 0; i < K * N; i++) db[s % 3 * K * N + i] += (double)b1->grad[i];
    }
    expect(a->grad, 2 * M * K, da);
    expect(b->grad, 3 * K * N, db);
}

START_TEST(matmul_of_batches) {
    for (int flags = 0; flags < 4; flags++) check_batches(flags & 1, flags & 2);
    ts_tape_reset(tape);
    ts_tensor *none = ts_variable(tape, TS_SHAPE(2, 0), NULL), *y = ts_matmul(tape, none, none, false, true);
    expect_shape(y, TS_SHAPE(2, 2));
    EXPECT(y->data, 0, 0, 0, 0);
    ts_tensor *x = ts_variable(tape, TS_SHAPE(2, 2), (ts_real[]){1, 2, 3, 4}),
              *square = ts_matmul(tape, x, x, false, false);
    EXPECT(square->data, 7, 10, 15, 22);
    backward_of_sum(square);
    EXPECT(x->grad, 7, 11, 9, 13); /* both places of x */
}
END_TEST

START_TEST(distance_at_zero_has_no_gradient) {
    ts_tensor *x = ts_variable(tape, TS_SHAPE(1, 2), (ts_real[]){1, 1});
    ts_tensor *c = ts_variable(tape, TS_SHAPE(2, 2), (ts_real[]){1, 1, 4, 5});
    ts_tensor *d = ts_distances(tape, x, c);
    expect_shape(d, TS_SHAPE(1, 2));
    EXPECT(d->data, 0, 5);
    backward_of_sum(d);
    EXPECT(x->grad, -.6, -.8);
    EXPECT(c->grad, 0, 0, .6, .8);
    ts_tensor *self = ts_variable(tape, TS_SHAPE(2, 2), (ts_real[]){1, 1, 4, 5});
    backward_of_sum(ts_distances(tape, self, self));
    EXPECT(self->grad, -1.2, -1.6, 1.2, 1.6);
}
END_TEST

/* Differences are taken before squares: exact far from the origin. */
START_TEST(distances_far_from_the_origin) {
    ts_tensor *x = ts_variable(tape, TS_SHAPE(4, 1), (ts_real[]){100000, (ts_real)100000.5, (ts_real)100001.5, 100002});
    ts_tensor *c = ts_variable(tape, TS_SHAPE(2, 1), (ts_real[]){100000, 100002});
    ts_tensor *d = ts_squared_distances(tape, x, c);
    const double wanted[] = {0, 4, .25, 2.25, 2.25, .25, 4, 0};
    for (int i = 0; i < 8; i++) ck_assert((double)d->data[i] == wanted[i]);
    backward_of_sum(d);
    EXPECT(x->grad, -4, -2, 2, 4);
    EXPECT(c->grad, -8, 8);
}
END_TEST

START_TEST(distances_of_batches) {
    enum { N = 3, M = 19, D = 200 };
    ts_tensor *a = filled(TS_SHAPE(2, 1, N, D), "a"), *b = filled(TS_SHAPE(3, M, D), "b");
    ts_tensor *y = ts_squared_distances(tape, a, b), *root = ts_distances(tape, a, b);
    expect_shape(y, TS_SHAPE(2, 3, N, M));
    for (int64_t e = 0; e < 6 * N * M; e++) {
        const int64_t s = e / (N * M), i = e / M % N, j = e % M;
        double sum = 0;
        for (int64_t c = 0; c < D; c++) {
            const double difference =
                (double)a->data[(s / 3 * N + i) * D + c] - (double)b->data[(s % 3 * M + j) * D + c];
            sum += difference * difference;
        }
        ck_assert(y->data[e] == (ts_real)sum && root->data[e] == (ts_real)sqrt(sum));
    }
}
END_TEST

/* ---- shape ------------------------------------------------------------------------------------------------------- */

START_TEST(parts_and_wholes) {
    ts_tensor *a = ts_variable(tape, TS_SHAPE(2, 2), (ts_real[]){1, 2, 3, 4});
    ts_tensor *b = ts_variable(tape, TS_SHAPE(2, 1), (ts_real[]){5, 6});
    ts_tensor *y = ts_concat(tape, 3, (ts_tensor *[]){a, b, a}, -1);
    expect_shape(y, TS_SHAPE(2, 5));
    EXPECT(y->data, 1, 2, 5, 1, 2, 3, 4, 6, 3, 4);
    ts_backward_from(tape, y, (ts_real[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    EXPECT(a->grad, 5, 7, 15, 17);
    EXPECT(b->grad, 3, 8);
    ts_tensor *part = ts_slice(tape, y, 1, 1, 3);
    expect_shape(part, TS_SHAPE(2, 3));
    EXPECT(part->data, 2, 5, 1, 4, 6, 3);
    expect_shape(ts_slice(tape, y, 0, 2, 0), TS_SHAPE(0, 5));
    ts_tensor *x = ts_variable(tape, TS_SHAPE(2, 3), (ts_real[]){1, 2, 3, 4, 5, 6});
    ts_tensor *slice = ts_slice(tape, x, -1, 1, 2);
    ts_backward_from(tape, slice, (ts_real[]){1, 2, 3, 4});
    EXPECT(x->grad, 0, 1, 2, 0, 3, 4);
    ts_tensor *shaped = ts_reshape(tape, x, TS_SHAPE(3, 1, 2));
    expect_shape(shaped, TS_SHAPE(3, 1, 2));
    EXPECT(shaped->data, 1, 2, 3, 4, 5, 6);
}
END_TEST

START_TEST(transposed_values) {
    ts_tensor *x = ts_variable(tape, TS_SHAPE(2, 3), (ts_real[]){1, 2, 3, 4, 5, 6});
    ts_tensor *y = ts_transpose(tape, x, 0, 1);
    expect_shape(y, TS_SHAPE(3, 2));
    EXPECT(y->data, 1, 4, 2, 5, 3, 6);
    ts_backward_from(tape, y, (ts_real[]){1, 2, 3, 4, 5, 6});
    EXPECT(x->grad, 1, 3, 5, 2, 4, 6);
    const int64_t dim[] = {3, 42, 2, 37};
    ts_tensor *t = filled(TS_SHAPE(3, 42, 2, 37), "t");
    for (int p = 0; p < 4; p++)
        for (int q = 0; q < 4; q++) {
            ts_shape shape = t->shape;
            shape.dim[p] = dim[q], shape.dim[q] = dim[p];
            ts_tensor *z = ts_transpose(tape, t, p, q - 4);
            expect_shape(z, shape);
            int64_t to[4];
            for (int64_t i = 0; i < ts_size(&shape); i++) {
                int64_t rest = i;
                for (int a = 3; a >= 0; a--) to[a] = rest % dim[a], rest /= dim[a];
                const int64_t swapped = to[p];
                to[p] = to[q], to[q] = swapped;
                const int64_t at_z = ((to[0] * shape.dim[1] + to[1]) * shape.dim[2] + to[2]) * shape.dim[3] + to[3];
                ck_assert(z->data[at_z] == t->data[i]);
            }
        }
}
END_TEST

START_TEST(stretched_values) {
    ts_tensor *x = ts_variable(tape, TS_SHAPE(2, 1), (ts_real[]){1, 2});
    ts_tensor *y = ts_broadcast_to(tape, x, TS_SHAPE(2, 2, 3));
    EXPECT(y->data, 1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2);
    backward_of_sum(y);
    EXPECT(x->grad, 6, 6);
}
END_TEST

START_TEST(gathered_rows_add_up) {
    int64_t index[] = {2, 0, 2};
    ts_tensor *x = ts_variable(tape, TS_SHAPE(3, 2), (ts_real[]){1, 2, 3, 4, 5, 6});
    ts_tensor *y = ts_gather_rows(tape, x, index, 3);
    index[0] = 99; /* the tape has its own copy */
    expect_shape(y, TS_SHAPE(3, 2));
    EXPECT(y->data, 5, 6, 1, 2, 5, 6);
    ts_backward_from(tape, y, (ts_real[]){1, 2, 3, 4, 5, 6});
    EXPECT(x->grad, 3, 4, 0, 0, 6, 8);
    ts_tensor *b = ts_variable(tape, TS_SHAPE(2, 2, 1), (ts_real[]){1, 2, 3, 4});
    ts_tensor *z = ts_gather_rows(tape, b, (const int64_t[]){1, 1, 0}, 3);
    EXPECT(z->data, 2, 2, 1, 4, 4, 3);
    backward_of_sum(z);
    EXPECT(b->grad, 1, 2, 1, 2);
    expect_shape(ts_gather_rows(tape, x, NULL, 0), TS_SHAPE(0, 2));
}
END_TEST

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void refused(const char *text, ts_status status) {
    ck_assert_ptr_nonnull(ts_tape_error(tape));
    ck_assert_str_eq(ts_tape_error(tape), text);
    ck_assert_int_eq(ts_tape_status(tape), status);
    ts_tape_reset(tape);
}

static ts_tensor *of(ts_shape shape) {
    return ts_variable(tape, shape, NULL);
}

START_TEST(refusals_of_shapes) {
    ts_add(tape, of(TS_SHAPE(2, 3)), of(TS_SHAPE(4)));
    refused("add [2,3] [4]: the shapes do not broadcast", TS_ERROR_SHAPE);
    ts_sum(tape, of(TS_SHAPE(2, 3)), 3, false);
    refused("sum [2,3]: axis 3 of a tensor of rank 2", TS_ERROR_SHAPE);
    ts_mean(tape, of(TS_SHAPE(2, 0)), -1, false);
    refused("mean [2,0]: axis -1 is empty", TS_ERROR_SHAPE);
    ts_max(tape, of(TS_SHAPE(0)), TS_ALL_AXES, false);
    refused("max [0]: the tensor is empty", TS_ERROR_SHAPE);
    ts_log_softmax(tape, of(TS_SCALAR), 0);
    refused("log_softmax []: axis 0 of a tensor of rank 0", TS_ERROR_SHAPE);
    ts_matmul(tape, of(TS_SHAPE(3, 4)), of(TS_SHAPE(5, 2)), false, false);
    refused("matmul [3,4] [5,2]: inner lengths 4 and 5 differ", TS_ERROR_SHAPE);
    ts_matmul(tape, of(TS_SHAPE(4)), of(TS_SHAPE(4, 2)), false, false);
    refused("matmul [4] [4,2]: both must have rank 2 or more", TS_ERROR_SHAPE);
    ts_distances(tape, of(TS_SHAPE(3, 4)), of(TS_SHAPE(5, 2)));
    refused("distances [3,4] [5,2]: widths 4 and 2 differ", TS_ERROR_SHAPE);
    ts_squared_distances(tape, of(TS_SHAPE(2, 3, 4)), of(TS_SHAPE(3, 3, 4)));
    refused("squared_distances [2,3,4] [3,3,4]: the axes before the last two do not broadcast", TS_ERROR_SHAPE);
    ts_concat(tape, 2, (ts_tensor *[]){of(TS_SHAPE(2, 3)), of(TS_SHAPE(3, 3))}, 1);
    refused("concat [2,3] [3,3]: lengths 2 and 3 of axis 0 differ", TS_ERROR_SHAPE);
    ts_concat(tape, 0, (ts_tensor *[]){NULL}, 0);
    refused("concat: 0 inputs given, 1 to 16 taken", TS_ERROR_USAGE);
    ts_reshape(tape, of(TS_SHAPE(2, 3)), TS_SHAPE(4, 2));
    refused("reshape [2,3]: [4,2] does not hold 6 elements", TS_ERROR_SHAPE);
    ts_broadcast_to(tape, of(TS_SHAPE(2, 3)), TS_SHAPE(2, 6));
    refused("broadcast_to [2,3]: does not stretch to [2,6]", TS_ERROR_SHAPE);
    ts_transpose(tape, of(TS_SHAPE(2, 3)), 0, TS_ALL_AXES);
    refused("transpose [2,3]: one axis must be named, not all", TS_ERROR_SHAPE);
}
END_TEST

START_TEST(refusals_of_values) {
    ts_clamp(tape, of(TS_SHAPE(2)), 1, 0);
    refused("clamp [2]: the lower bound 1 is not at most the upper bound 0", TS_ERROR_VALUE);
    ts_dropout(tape, of(TS_SHAPE(2)), 1.5, (ts_rng){0, 0, 0});
    refused("dropout [2]: the probability must be in [0,1], not 1.5", TS_ERROR_VALUE);
    ts_slice(tape, of(TS_SHAPE(3, 7)), 1, 5, 3);
    refused("slice [3,7]: 3 from 5 on of axis 1, which has length 7", TS_ERROR_VALUE);
    ts_slice(tape, of(TS_SHAPE(3, 7)), 1, 1, INT64_MAX);
    refused("slice [3,7]: 9223372036854775807 from 1 on of axis 1, which has length 7", TS_ERROR_VALUE);
    ts_gather_rows(tape, of(TS_SHAPE(5, 3)), (const int64_t[]){0, 1, 7}, 3);
    refused("gather_rows [5,3]: index 7 at position 2 is outside 0..4", TS_ERROR_VALUE);
    ts_gather_rows(tape, of(TS_SHAPE(5, 3)), (const int64_t[]){-1}, 1);
    refused("gather_rows [5,3]: index -1 at position 0 is outside 0..4", TS_ERROR_VALUE);
    ts_gather_rows(tape, of(TS_SHAPE(5, 3)), NULL, -2);
    refused("gather_rows [5,3]: -2 rows asked for", TS_ERROR_VALUE);
}
END_TEST

/* After a failure every op returns at once, and the first failure stays. */
START_TEST(the_first_failure_stays) {
    ts_tensor *x = of(TS_SHAPE(2, 3)), *bad = ts_sum(tape, x, 9, false);
    ts_gather_rows(tape, bad, (const int64_t[]){4}, 1);
    ts_concat(tape, 2, (ts_tensor *[]){bad, x}, 0);
    ck_assert_int_ne(ts_backward(tape, ts_matmul(tape, x, bad, true, false)), TS_OK);
    refused("sum [2,3]: axis 9 of a tensor of rank 2", TS_ERROR_SHAPE);
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
    uint64_t hash = mix(14695981039346656037u, y->data, ts_size(&y->shape));
    for (int i = 0; i < n; i++) hash = mix(hash, in[i]->grad, ts_size(&in[i]->shape));
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

static void add_tests(TCase *tests) {
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
    tcase_add_test(tests, matmul_against_plain_loops);
    tcase_add_test(tests, matmul_of_batches);
    tcase_add_test(tests, distance_at_zero_has_no_gradient);
    tcase_add_test(tests, distances_far_from_the_origin);
    tcase_add_test(tests, distances_of_batches);
    tcase_add_test(tests, parts_and_wholes);
    tcase_add_test(tests, transposed_values);
    tcase_add_test(tests, stretched_values);
    tcase_add_test(tests, gathered_rows_add_up);
    tcase_add_test(tests, refusals_of_shapes);
    tcase_add_test(tests, refusals_of_values);
    tcase_add_test(tests, the_first_failure_stays);
#ifdef _OPENMP
    tcase_add_loop_test(tests, the_same_bits_on_any_number_of_threads, 0, WORKLOADS);
#else
    say_skipped("the_same_bits_on_any_number_of_threads", "no OpenMP");
#endif
}

int main(void) {
    ts_parallel_cutoff = 1000; /* small work meets threads */
    Suite *suite = suite_create("values of ops");
    TCase *tests = tcase_create("all");
    printf("seed %llu\n", (unsigned long long)test_seed());
    tcase_set_timeout(tests, 0);
    tcase_add_checked_fixture(tests, setup, teardown);
    add_tests(tests);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
