/* Seeding, and how clusterings are scored. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/parallel.h"
#include "../autograd/rng.h"
#include "../models/data/nearest.h"
#include "../models/data/scores.h"
#include "../models/data/seeding.h"
#include "test_main.h"

static ts_error error;

static void setup(void) {
    error = (ts_error){.status = TS_OK};
}

#define POINTS(rows, dims, x) ((ts_points){.n = (rows), .d = (dims), .real = (x)})

START_TEST(seeding_gives_different_rows) {
    ts_real x[40];
    int64_t rows[20];
    const ts_rng rng = {5, ts_rng_stream("grid"), 0};
    for (int i = 0; i < 40; i++) x[i] = (ts_real)ts_rng_uniform(rng, (uint64_t)i);
    for (int kind = 0; kind < 4; kind++)
        for (uint64_t seed = 0; seed < 50; seed++) {
            const int64_t k = 1 + (int64_t)seed % 20;
            ck_assert_int_eq(ts_seed_rows((ts_seeding)kind, &POINTS(20, 2, x), k, -1, seed, rows, &error), TS_OK);
            for (int64_t j = 0; j < k; j++) {
                ck_assert(rows[j] >= 0 && rows[j] < 20);
                for (int64_t l = 0; l < j; l++) ck_assert_int_ne(rows[j], rows[l]);
            }
        }
    ck_assert_int_ne(ts_seed_rows(TS_SEED_FIRST, &POINTS(20, 2, x), 21, -1, 0, rows, &error), TS_OK);
}
END_TEST

enum { SEED_ROWS = 20000, SEED_DIMS = 20, SEED_K = 30 };

static void fill_whole_numbers(int64_t range, uint64_t seed, ts_real *x) {
    const ts_rng rng = {seed, ts_rng_stream("whole numbers"), 0};
    for (int64_t i = 0; i < SEED_ROWS * SEED_DIMS; i++) {
        const int64_t cluster = i / SEED_DIMS % 7;
        x[i] = (ts_real)(20 * (cluster * cluster % 7) + ts_rng_below(rng, (uint64_t)i, range));
    }
}

static double squared_distance(const ts_real *a, const ts_real *b) {
    double sum = 0;
    for (int c = 0; c < SEED_DIMS; c++) sum += ((double)a[c] - (double)b[c]) * ((double)a[c] - (double)b[c]);
    return sum;
}

/* The same rows, found in the plainest way: distances of whole numbers are exact in any order. */
static void expect_rows(ts_seeding seeding, const ts_real *x, uint64_t seed, const int64_t *rows) {
    static double nearest[SEED_ROWS];
    const ts_rng rng = {seed, ts_rng_stream("seeding"), 0};
    for (int i = 0; i < SEED_ROWS; i++) nearest[i] = INFINITY;
    for (int j = 1; j < SEED_K; j++) {
        int64_t next = 0;
        for (int i = 0; i < SEED_ROWS; i++)
            nearest[i] = fmin(nearest[i], squared_distance(x + i * SEED_DIMS, x + rows[j - 1] * SEED_DIMS));
        for (int i = 0; i < SEED_ROWS; i++)
            if (nearest[i] > nearest[next]) next = i;
        if (!(nearest[next] > 0)) return;
        if (seeding == TS_SEED_KMEANS_PP) next = ts_pick_weighted(SEED_ROWS, nearest, ts_rng_uniform(rng, (uint64_t)j));
        ck_assert_msg(rows[j] == next, "seeding %d, seed %llu, centre %d: row %lld, not %lld", seeding,
                      (unsigned long long)seed, j, (long long)rows[j], (long long)next);
    }
}

START_TEST(seeding_of_many_rows) {
    ts_real *x = malloc(SEED_ROWS * SEED_DIMS * sizeof *x);
#ifdef _OPENMP
    const int before = omp_get_max_threads();
#endif
    ck_assert_ptr_nonnull(x);
    for (uint64_t seed = 0; seed < 6; seed++)
        for (int kind = 0; kind < 2; kind++) {
            const ts_seeding seeding = kind == 0 ? TS_SEED_KMEANS_PP : TS_SEED_GONZALEZ;
            int64_t rows[2][SEED_K];
            fill_whole_numbers((int64_t[]){1, 5, 60}[seed % 3], seed, x);
            for (int t = 0; t < 3; t++) {
#ifdef _OPENMP
                omp_set_num_threads((int[]){1, 2, 8}[t]);
#endif
                ck_assert_int_eq(
                    ts_seed_rows(seeding, &POINTS(SEED_ROWS, SEED_DIMS, x), SEED_K, -1, seed, rows[t > 0], &error),
                    TS_OK);
                ck_assert_mem_eq(rows[0], rows[t > 0], sizeof *rows);
            }
            expect_rows(seeding, x, seed, rows[0]);
        }
#ifdef _OPENMP
    omp_set_num_threads(before);
#endif
    free(x);
}
END_TEST

/* Of equal rows those not chosen yet are drawn with equal chances, the last ones too. */
START_TEST(seeding_without_spread_takes_all) {
    ts_real equal[5] = {0};
    int count[5][5] = {{0}};
    for (uint64_t seed = 0; seed < 3000; seed++) {
        int64_t rows[5];
        ts_seed_rows(TS_SEED_KMEANS_PP, &POINTS(5, 1, equal), 5, -1, seed, rows, &error);
        for (int j = 0; j < 5; j++) count[j][rows[j]]++;
    }
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 5; i++) ck_assert_double_eq_tol(count[j][i] / 3000.0, 0.2, 0.03);
}
END_TEST

START_TEST(seeding_without_spread) {
    ts_real equal[8];
    int64_t rows[8];
    for (int i = 0; i < 8; i++) equal[i] = 7;
    for (int kind = 0; kind < 4; kind++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            ck_assert_int_eq(ts_seed_rows((ts_seeding)kind, &POINTS(4, 2, equal), 2, -1, seed, rows, &error), TS_OK);
            ck_assert(rows[0] != rows[1] && rows[0] >= 0 && rows[0] < 4 && rows[1] >= 0 && rows[1] < 4);
        }
    const ts_real two[] = {0, 0, 0, 1, 1}; /* [0] three times, [1] twice: every seed finds both */
    for (uint64_t seed = 0; seed < 50; seed++) {
        ts_seed_rows(TS_SEED_KMEANS_PP, &POINTS(5, 1, two), 2, -1, seed, rows, &error);
        ck_assert(two[rows[0]] != two[rows[1]]);
    }
}
END_TEST

START_TEST(gonzalez_goes_farthest_first) {
    const ts_real x[] = {0, 1, 10, 4};
    int64_t rows[3];
    ts_seed_rows(TS_SEED_GONZALEZ, &POINTS(4, 1, x), 3, 0, 0, rows, &error);
    ck_assert(rows[0] == 0 && rows[1] == 2 && rows[2] == 3);
}
END_TEST

/* Frequencies of the second centre are proportional to squared distances 1, 4, 25 of the first. */
START_TEST(kmeanspp_draws_by_squared_distance) {
    const ts_real x[] = {0, 1, 2, 5};
    int count[4] = {0};
    for (uint64_t seed = 0; seed < 6000; seed++) {
        int64_t rows[2];
        ts_seed_rows(TS_SEED_KMEANS_PP, &POINTS(4, 1, x), 2, 0, seed, rows, &error);
        count[rows[1]]++;
    }
    ck_assert_int_eq(count[0], 0);
    ck_assert_double_eq_tol(count[1] / 6000.0, 1.0 / 30, 0.01);
    ck_assert_double_eq_tol(count[2] / 6000.0, 4.0 / 30, 0.02);
    ck_assert_double_eq_tol(count[3] / 6000.0, 25.0 / 30, 0.02);
}
END_TEST

START_TEST(weighted_pick_stays_inside) {
    const double below_one = 1 - 0x1p-53;
    const double weights[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0};
    ck_assert_int_eq(ts_pick_weighted(11, weights, below_one), 9); /* never the last, whose weight is 0 */
    ck_assert_int_eq(ts_pick_weighted(11, weights, 0), 0);
    ck_assert_int_eq(ts_pick_weighted(3, (double[]){0, 0, 0}, below_one), 0);
    ck_assert_int_eq(ts_pick_weighted(3, (double[]){0, 0, 1e-300}, below_one), 2);
    ck_assert_int_eq(ts_pick_weighted(3, (double[]){0, 1, 1}, 0), 1);
}
END_TEST

/* Of points (1,0), (0,2), (3,4) and 0 to the centre (0,1); the third is trimmed. */
START_TEST(costs_by_hand) {
    const double x[] = {1, 0, 0, 2, 3, 4, 0, 0}, c[] = {0, 1}, scale[] = {2, 3};
    const int64_t labels[] = {0, 0, -1, 0};
    const ts_points p = {.n = 4, .d = 2, .exact = x};
    ck_assert_double_eq_tol(ts_cost_of(TS_COST_SQUARED, &p, NULL, c, labels), 2 + 1 + 1, 1e-15);
    ck_assert_double_eq_tol(ts_cost_of(TS_COST_SQUARED, &p, scale, c, labels), 13 + 9 + 9, 1e-14);
    ck_assert_double_eq_tol(ts_cost_of(TS_COST_DISTANCE, &p, NULL, c, labels), sqrt(2) + 1 + 1, 1e-15);
    ck_assert_double_eq_tol(ts_cost_of(TS_COST_COSINE, &p, NULL, c, labels), 1 + 0 + 1, 1e-15);
    ck_assert_double_eq_tol(ts_trimmed_objective(&p, 1, c, 0), 2 + 1 + 18 + 1, 1e-14);
    ck_assert_double_eq_tol(ts_trimmed_objective(&p, 1, c, 0.3), 2 + 1 + 1, 1e-15); /* floor(1.2) are trimmed */
}
END_TEST

/* One point at 0, centres at 1 and 2. */
START_TEST(soft_costs_by_hand) {
    const double x[] = {0}, c[] = {1, 2};
    const ts_points p = {.n = 1, .d = 1, .exact = x};
    ck_assert_double_eq_tol(ts_free_energy(TS_COST_SQUARED, &p, 2, c, 2), -log(exp(-2) + exp(-8)) / 2, 1e-15);
    ck_assert_double_eq_tol(ts_fuzzy_objective(&p, 2, c, 2), 1 / (1 + 0.25), 1e-15);
    ck_assert_double_eq_tol(ts_fuzzy_objective(&p, 2, c, 3), 1 / (1.5 * 1.5), 1e-15);
}
END_TEST

START_TEST(nearest_of_some) {
    const double x[] = {2}, centers[] = {5, 1, 3}, undefined[] = {5, NAN, 3};
    int64_t label = -1;
    ck_assert(ts_nearest_exact(1, 3, x, centers, &label) == 1 && label == 1); /* the first of equals */
    ck_assert(isnan(ts_nearest_exact(1, 3, x, undefined, &label)) && label == 0);
}
END_TEST

START_TEST(adjusted_rand_index) {
    const int64_t a[] = {0, 0, 1, 1}, b[] = {1, 1, 0, 0}, c[] = {0, 1, 0, 1}, d[] = {0, 0, 1, 2}, one[] = {0, 0, 0, 0};
    ck_assert_double_eq_tol(ts_adjusted_rand_index(4, a, b), 1, 1e-12);
    ck_assert_double_eq_tol(ts_adjusted_rand_index(4, a, c), -0.5, 1e-12);
    ck_assert_double_eq_tol(ts_adjusted_rand_index(4, a, d), 4.0 / 7, 1e-12);
    ck_assert_double_eq_tol(ts_adjusted_rand_index(4, a, one), 0, 1e-12);
    ck_assert_double_eq_tol(ts_adjusted_rand_index(4, one, one), 1, 1e-12);
    ck_assert_double_eq_tol(ts_adjusted_rand_index(1, one, one), 1, 1e-12);
    const int64_t trimmed[] = {0, 0, 1, -1, 1}, classes[] = {1, 1, 0, 0, 0}; /* -1 does not count */
    ck_assert_double_eq_tol(ts_adjusted_rand_index(5, trimmed, classes), 1, 1e-12);
}
END_TEST

int main(void) {
    ts_parallel_cutoff = 1000; /* small work meets threads */
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_test(tests, seeding_gives_different_rows);
    tcase_add_test(tests, seeding_of_many_rows);
    tcase_add_test(tests, seeding_without_spread);
    tcase_add_test(tests, seeding_without_spread_takes_all);
    tcase_add_test(tests, gonzalez_goes_farthest_first);
    tcase_add_test(tests, kmeanspp_draws_by_squared_distance);
    tcase_add_test(tests, weighted_pick_stays_inside);
    tcase_add_test(tests, costs_by_hand);
    tcase_add_test(tests, soft_costs_by_hand);
    tcase_add_test(tests, nearest_of_some);
    tcase_add_test(tests, adjusted_rand_index);
    return run_case("seeding and scores", tests);
}
