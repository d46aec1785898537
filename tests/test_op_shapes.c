/* Products, distances and ops that rearrange, against plain loops; and the texts of what ops refuse. */
#include "../autograd/parallel.h"
#include "op_values.h"

/* ---- products and distances -------------------------------------------------------------------------------------- */

/* op(x) at (i,j) of a matrix stored with `cols` columns. */
static double at(const ts_real *x, int64_t cols, bool transpose, int64_t i, int64_t j) {
    return (double)(transpose ? x[j * cols + i] : x[i * cols + j]);
}

static void check_matmul(int64_t m, int64_t k, int64_t n, bool ta, bool tb) {
    ts_tape_reset(tape);
    ts_tensor *a = filled(ta ? TS_SHAPE(k, m) : TS_SHAPE(m, k), "a"),
              *b = filled(tb ? TS_SHAPE(n, k) : TS_SHAPE(k, n), "b");
    const int64_t ca = ts_shape_cols(&a->shape), cb = ts_shape_cols(&b->shape);
    ts_tensor *y = ts_matmul(tape, a, b, ta, tb), *dy = filled(TS_SHAPE(m, n), "dy");
    expect_shape(y, TS_SHAPE(m, n));
    const double near = 16 * EPS; /* for the root of each term of a sum, all of them at most 1 */
    ck_assert_int_eq(ts_backward_from(tape, y, dy->data), TS_OK);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < k; l++) sum += at(a->data, ca, ta, i, l) * at(b->data, cb, tb, l, j);
            ck_assert_double_eq_tol((double)y->data[i * n + j], sum, near * sqrt((double)k));
        }
    for (int64_t l = 0; l < k; l++) {
        for (int64_t i = 0; i < m; i++) {
            double sum = 0;
            for (int64_t j = 0; j < n; j++) sum += at(dy->data, n, false, i, j) * at(b->data, cb, tb, l, j);
            ck_assert_double_eq_tol(at(a->grad, ca, ta, i, l), sum, near * sqrt((double)n));
        }
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t i = 0; i < m; i++) sum += at(dy->data, n, false, i, j) * at(a->data, ca, ta, i, l);
            ck_assert_double_eq_tol(at(b->grad, cb, tb, l, j), sum, near * sqrt((double)m));
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
            for (int64_t i = 0; i < ts_shape_size(&shape); i++) {
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

int main(void) {
    ts_parallel_cutoff = 1000; /* small work meets threads */
    TCase *tests = tape_case();
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
    return run_case("shapes of ops", tests);
}
