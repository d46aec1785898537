/* Lloyd as a transformer against plain Lloyd, step by step: by hand, on a grid of random problems, and with soft
 * assignments. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/parallel.h"
#include "../models/data/scores.h"
#include "../models/data/seeding.h"
#include "variant_runs.h"

#define POINTS(rows, dims, x) ((ts_points){.n = (rows), .d = (dims), .real = (x)})

static ts_problem problem_of(ts_problem p, ts_empty_policy empty) {
    p.empty = empty;
    return p;
}

static ts_plain *plain_lloyd(const ts_problem *p) {
    const ts_settings settings = ts_variant_settings(ts_variants);
    return ts_plain_create(&ts_plain_lloyd, &settings, p, &error);
}

/* ---- running both, step by step ---------------------------------------------------------------------------------- */

typedef struct outcome {
    ts_real centers[64];
    int64_t labels[64];
    int64_t steps, repairs;
    double objective;
} outcome;

static outcome outcome_of(const ts_problem *p, const ts_clustering *state) {
    outcome o = {.steps = state->steps, .repairs = state->empty_repairs};
    memcpy(o.centers, state->centers, (size_t)(p->k * p->d) * sizeof(ts_real));
    memcpy(o.labels, state->labels, (size_t)p->n * sizeof(int64_t));
    o.objective = ts_objective(p->n, p->d, p->points, o.centers, o.labels);
    return o;
}

/* The transformer and plain Lloyd, until one of them converges or `steps` are done; every step must agree exactly. */
static outcome run_pair(const ts_problem *p, int64_t steps) {
    const ts_definition definition = lloyd(INFINITY, false);
    ts_runner *runner = ts_runner_create(&definition, p, &error);
    ck_assert_msg(runner != NULL, "%s", error.text);
    ts_plain *plain = plain_lloyd(p);
    const ts_clustering *a = ts_runner_state(runner), *b = ts_plain_state(plain);
    for (int64_t t = 0; t < steps && !a->converged; t++) {
        ck_assert_int_eq(ts_runner_step(runner, &error), TS_OK);
        ck_assert_int_eq(ts_plain_step(plain, &error), TS_OK);
        ck_assert_mem_eq(a->labels, b->labels, (size_t)p->n * sizeof(int64_t));
        for (int64_t i = 0; i < p->k * p->d; i++) {
            const double difference = fabs((double)(a->centers[i] - b->centers[i]));
            ck_assert_msg(difference <= 1e-7 * fmax(1, fabs((double)b->centers[i])),
                          "step %lld, centre entry %lld: %.9g, plain %.9g", (long long)t + 1, (long long)i,
                          (double)a->centers[i], (double)b->centers[i]);
        }
        ck_assert_int_eq(a->converged, b->converged);
        ck_assert_int_eq(a->empty_repairs, b->empty_repairs);
    }
    ck_assert_int_eq(ts_runner_finish(runner, &error), TS_OK);
    ck_assert_int_eq(ts_plain_finish(plain, &error), TS_OK);
    ck_assert_mem_eq(a->labels, b->labels, (size_t)p->n * sizeof(int64_t));
    outcome o = {.steps = a->steps, .repairs = a->empty_repairs};
    if (p->n <= 64 && p->k * p->d <= 64) o = outcome_of(p, a);
    ts_runner_free(runner);
    ts_plain_free(plain);
    return o;
}

/* The same, streamed and op by op. */
static outcome run_both(const ts_problem *p, int64_t steps) {
    ts_problem by_ops = *p;
    by_ops.op_by_op = true;
    run_pair(p, steps);
    return run_pair(&by_ops, steps);
}

static void expect_labels(const outcome *o, int64_t n, const int64_t *labels) {
    ck_assert_mem_eq(o->labels, labels, (size_t)n * sizeof *labels);
}

/* ---- cases ------------------------------------------------------------------------------------------------------- */

static const ts_real line3[] = {1, 2, 3}, far_start[] = {4, 0, 1};

START_TEST(empty_cluster_keeps_its_centre) {
    const ts_problem p = problem_of(PROBLEM(1, line3, far_start), TS_EMPTY_KEEP);
    const outcome o = run_both(&p, 100);
    expect_labels(&o, 3, (int64_t[]){2, 2, 0});
    ck_assert(o.centers[0] == 3 && o.centers[1] == 0 && o.centers[2] == (ts_real)1.5);
    ck_assert_double_eq_tol(o.objective, 0.5, 1e-12);
    ck_assert_int_eq(o.repairs, 0);
}
END_TEST

START_TEST(empty_cluster_takes_the_farthest_point) {
    const ts_problem p = problem_of(PROBLEM(1, line3, far_start), TS_EMPTY_FARTHEST);
    const outcome o = run_both(&p, 100);
    ck_assert(o.objective == 0 && o.repairs >= 1);
}
END_TEST

START_TEST(empty_cluster_takes_a_random_point) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        ts_problem p = problem_of(PROBLEM(1, line3, far_start), TS_EMPTY_RANDOM);
        p.seed = seed;
        const outcome o = run_both(&p, 100);
        ck_assert(o.repairs >= 1);
        for (int j = 0; j < 3; j++) ck_assert(isfinite((double)o.centers[j]));
    }
}
END_TEST

START_TEST(empty_cluster_is_an_error_when_asked) {
    const ts_problem p = problem_of(PROBLEM(1, line3, far_start), TS_EMPTY_ERROR);
    const ts_definition definition = lloyd(INFINITY, false);
    ts_runner *runner = ts_runner_create(&definition, &p, &error);
    ck_assert_int_ne(ts_runner_step(runner, &error), TS_OK);
    ck_assert_str_eq(error.text, "cluster 1 is empty at step 1");
    ts_runner_free(runner);
    error.status = TS_OK;
    ts_plain *plain = plain_lloyd(&p);
    ck_assert_int_ne(ts_plain_step(plain, &error), TS_OK);
    ck_assert_str_eq(error.text, "cluster 1 is empty at step 1");
    ts_plain_free(plain);
}
END_TEST

/* Duplicates everywhere: nothing may be taken from distance zero, and no point twice. */
START_TEST(farthest_point_has_limits) {
    const ts_real equal[] = {5, 5, 5, 5}, starts[] = {5, 5, 5};
    const ts_problem same = problem_of(PROBLEM(1, equal, starts), TS_EMPTY_FARTHEST);
    ck_assert_int_eq(run_both(&same, 10).repairs, 0);
    const ts_real spread[] = {0, 0, 9, 10}, both_empty[] = {1, 100, 200};
    const ts_problem two = problem_of(PROBLEM(1, spread, both_empty), TS_EMPTY_FARTHEST);
    const outcome o = run_both(&two, 100);
    ck_assert(o.objective == 0 && o.repairs >= 2);
    const ts_real pair[] = {0, 10}, single[] = {0, 10};
    const ts_problem singletons = problem_of(PROBLEM(1, pair, single), TS_EMPTY_FARTHEST);
    ck_assert_int_eq(run_both(&singletons, 10).repairs, 0);
    const ts_real row[] = {0, 1, 10}, lonely[] = {0, 8, 100}; /* 10 is farther from its centre, which has no other */
    const ts_problem leaves_one = problem_of(PROBLEM(1, row, lonely), TS_EMPTY_FARTHEST);
    const outcome first = run_both(&leaves_one, 1);
    ck_assert(first.repairs == 1 && first.centers[1] == 10 && first.centers[2] == 1);
}
END_TEST

START_TEST(objective_belongs_to_the_centres_returned) {
    const ts_real x[] = {0, 3, 4, 20}, c[] = {0, 4};
    const ts_problem p = problem_of(PROBLEM(1, x, c), TS_EMPTY_KEEP);
    const outcome o = run_both(&p, 1);
    ck_assert(o.centers[0] == 0 && o.centers[1] == 9);
    expect_labels(&o, 4, (int64_t[]){0, 0, 0, 1});
    ck_assert_double_eq_tol(o.objective, 146, 1e-9);
}
END_TEST

START_TEST(far_from_the_origin) {
    const ts_real x[] = {100000, (ts_real)100000.5, (ts_real)100001.5, 100002}, c[] = {100000, 100002};
    const ts_problem p = problem_of(PROBLEM(1, x, c), TS_EMPTY_KEEP);
    const outcome o = run_both(&p, 100);
    expect_labels(&o, 4, (int64_t[]){0, 0, 1, 1});
    ck_assert(o.centers[0] == (ts_real)100000.25 && o.centers[1] == (ts_real)100001.75);
    ck_assert_double_eq_tol(o.objective, 0.25, 1e-9);
}
END_TEST

START_TEST(stops_when_labels_repeat) {
    const ts_real x[] = {(ts_real).1, (ts_real).2, (ts_real).3, (ts_real)10.1, (ts_real)10.2, (ts_real)10.3};
    const ts_real c[] = {(ts_real).1, (ts_real)10.3};
    const ts_problem p = problem_of(PROBLEM(1, x, c), TS_EMPTY_KEEP);
    const outcome o = run_both(&p, 100);
    ck_assert_int_eq(o.steps, 2);
    ck_assert_double_eq_tol((double)o.centers[0], .2, 1e-7);
    ck_assert_double_eq_tol((double)o.centers[1], 10.2, 2e-6);
    ck_assert_double_eq_tol(o.objective, 0.04, 1e-7);
}
END_TEST

START_TEST(six_points_on_two_lines) {
    const ts_real x[] = {1, 2, 1, 4, 1, 0, 4, 2, 4, 4, 4, 0}, c[] = {1, 2, 4, 2};
    const ts_problem p = problem_of(PROBLEM(2, x, c), TS_EMPTY_KEEP);
    const outcome o = run_both(&p, 100);
    expect_labels(&o, 6, (int64_t[]){0, 0, 0, 1, 1, 1});
    ck_assert_double_eq_tol(o.objective, 16, 1e-9);
}
END_TEST

START_TEST(one_cluster_and_as_many_as_points) {
    const ts_real x[] = {0, 1, 10, 11}, one[] = {3}, all[] = {0, 1, 10, 11};
    const ts_problem p1 = problem_of(PROBLEM(1, x, one), TS_EMPTY_KEEP),
                     p4 = problem_of(PROBLEM(1, x, all), TS_EMPTY_KEEP);
    const outcome a = run_both(&p1, 100), b = run_both(&p4, 100);
    ck_assert(a.centers[0] == (ts_real)5.5 && a.steps == 2);
    ck_assert_double_eq_tol(a.objective, 101, 1e-9);
    ck_assert(b.objective == 0);
}
END_TEST

START_TEST(bad_problems_are_refused) {
    const ts_definition definition = lloyd(INFINITY, false);
    const ts_real x[] = {0, 1}, c[] = {0, 1, 2};
    ts_problem p = problem_of(PROBLEM(1, x, c), TS_EMPTY_KEEP);
    ck_assert_ptr_null(ts_runner_create(&definition, &p, &error));
    ck_assert_str_eq(error.text, "k = 3 but only 2 rows");
    error.status = TS_OK;
    p.k = 0;
    ck_assert_ptr_null(ts_runner_create(&definition, &p, &error));
    error.status = TS_OK;
    ck_assert_ptr_null(plain_lloyd(&p));
}
END_TEST

/* ---- a grid of random problems ----------------------------------------------------------------------------------- */

typedef struct grid_cell {
    int64_t n, d, k;
    int kind; /* 0 uniform, 1 small integers (ties and duplicates), 2 far from the origin, 3 heavy duplicates */
} grid_cell;

static const grid_cell grid[] = {{50, 1, 3, 0},   {200, 2, 5, 0}, {333, 3, 7, 0},  {1000, 10, 16, 0}, {64, 4, 64, 0},
                                 {100, 2, 1, 0},  {300, 2, 6, 1}, {300, 1, 4, 1},  {500, 3, 10, 1},   {400, 2, 5, 2},
                                 {400, 8, 12, 2}, {60, 2, 20, 3}, {200, 1, 50, 3}, {5000, 32, 10, 0}, {129, 5, 17, 1}};

static void fill_points(const grid_cell *cell, uint64_t seed, ts_real *x) {
    const ts_rng rng = {seed, ts_rng_stream("grid"), 0};
    for (int64_t i = 0; i < cell->n * cell->d; i++) {
        const double u = ts_rng_uniform(rng, (uint64_t)i);
        x[i] = (ts_real)(cell->kind == 0   ? u
                         : cell->kind == 1 ? floor(6 * u)
                         : cell->kind == 2 ? 1e5 + u
                                           : floor(2 * u));
    }
}

START_TEST(equals_plain_lloyd_on_a_grid) {
    const grid_cell *cell = &grid[_i];
    ts_real *x = malloc((size_t)(cell->n * cell->d) * sizeof *x), *c = malloc((size_t)(cell->k * cell->d) * sizeof *c);
    int64_t *rows = malloc((size_t)cell->k * sizeof *rows);
    for (int policy = TS_EMPTY_KEEP; policy <= TS_EMPTY_FARTHEST; policy++)
        for (int seeding = 0; seeding < 4; seeding++) {
            const uint64_t seed = test_seed() + (uint64_t)(4 * policy + seeding);
            fill_points(cell, seed, x);
            ck_assert_int_eq(
                ts_seed_rows((ts_seeding)seeding, &POINTS(cell->n, cell->d, x), cell->k, -1, seed, rows, &error),
                TS_OK);
            for (int64_t j = 0; j < cell->k; j++)
                memcpy(c + j * cell->d, x + rows[j] * cell->d, (size_t)cell->d * sizeof *c);
            const ts_problem p = {.n = cell->n,
                                  .d = cell->d,
                                  .k = cell->k,
                                  .points = x,
                                  .centers = c,
                                  .empty = (ts_empty_policy)policy,
                                  .seed = seed};
            run_both(&p, 30);
        }
    free(x);
    free(c);
    free(rows);
}
END_TEST

/* ---- ties, finite gamma, memory, threads ------------------------------------------------------------------------- */

START_TEST(ties) {
    /* Point 1 is equally near to 0 and 2. */
    const ts_real x[] = {0, 1, 2}, c[] = {0, 2};
    const ts_problem p = problem_of(PROBLEM(1, x, c), TS_EMPTY_KEEP);
    const outcome o = run_both(&p, 1); /* lowest index, as plain Lloyd */
    ck_assert(o.centers[0] == (ts_real)0.5 && o.centers[1] == 2);
    const ts_definition share = lloyd(INFINITY, true);
    ts_runner *runner = ts_runner_create(&share, &p, &error);
    ck_assert_int_eq(ts_runner_step(runner, &error), TS_OK);
    const ts_clustering *s = ts_runner_state(runner); /* half the point to each: (0 + 1/2) / (3/2) */
    ck_assert_double_eq_tol((double)s->centers[0], 1.0 / 3, 1e-7);
    ck_assert_double_eq_tol((double)s->centers[1], 5.0 / 3, 4e-7);
    ck_assert_int_eq(s->labels[1], 0); /* decoded to the lowest index */
    ts_runner_free(runner);
}
END_TEST

/* With ties shared, until nothing changes, streamed and op by op. */
static void expect_end(ts_problem p, int64_t steps, const ts_real *centers) {
    const ts_definition share = lloyd(INFINITY, true);
    for (int by_ops = 0; by_ops < 2; by_ops++) {
        p.op_by_op = by_ops;
        ts_runner *runner = ts_runner_create(&share, &p, &error);
        const ts_clustering *s = ts_runner_state(runner);
        while (!s->converged && s->steps < 10) ck_assert_int_eq(ts_runner_step(runner, &error), TS_OK);
        ck_assert_int_eq(s->steps, steps);
        ck_assert_mem_eq(s->centers, centers, (size_t)(p.k * p.d) * sizeof *centers);
        ts_runner_free(runner);
    }
}

/* Labels say nothing of ties: that of point 1 ends with the second step; those of 7 end as those of 13 begin; and the
 * origin, shared by the first two centres, is then shared by the first and the last. */
START_TEST(other_ties_are_a_change) {
    const ts_real x[] = {0, 1, 2, (ts_real)2.5}, c[] = {0, 2};
    const ts_real y[] = {4, 7, 7, 13, 13, 15}, e[] = {1, 13, 16};
    expect_end(problem_of(PROBLEM(1, x, c), TS_EMPTY_KEEP), 3, (ts_real[]){(ts_real)0.5, (ts_real)2.25});
    const ts_real z[] = {0, 0, -3, 0, 5, 0, 0, 2}, f[] = {-1, 0, 1, 0, 0, 4};
    expect_end(problem_of(PROBLEM(1, y, e), TS_EMPTY_KEEP), 4, (ts_real[]){6, 13, 15});
    expect_end(problem_of(PROBLEM(2, z, f), TS_EMPTY_KEEP), 4, (ts_real[]){-3, 0, 5, 0, 0, 1});
}
END_TEST

/* Of numbers in double a third is a third in double: each centre goes to 3/4 of its place. */
START_TEST(shares_of_doubles) {
    const double x[] = {0, 0, 1, 0, -1, 0, 0, 1}, c[] = {1, 0, -1, 0, 0, 1};
    const ts_real points[8] = {0}, centers[6] = {0};
    const ts_definition share = lloyd(INFINITY, true);
    ts_problem p = problem_of(PROBLEM(2, points, centers), TS_EMPTY_KEEP);
    p.exact_points = x, p.exact_centers = c;
    ts_runner *runner = ts_runner_create(&share, &p, &error);
    ck_assert_msg(runner != NULL, "%s", error.text);
    ck_assert_int_eq(ts_runner_step(runner, &error), TS_OK);
    ck_assert(ts_runner_is_exact(runner));
    for (int i = 0; i < 6; i++)
        ck_assert_msg(fabs(ts_runner_state(runner)->exact_centers[i] - 0.75 * c[i]) <= 1e-15, "%.17g",
                      ts_runner_state(runner)->exact_centers[i]);
    ts_runner_free(runner);
}
END_TEST

/* One step by hand: r_ij = softmax_j(-gamma ||x_i - c_j||^2), c_j = sum r_ij x_i / sum r_ij. */
START_TEST(finite_gamma_is_soft_kmeans) {
    const ts_real x[] = {0, 1, 5, 6, (ts_real)2.5}, c[] = {1, 5};
    for (int g = 0; g < 4; g++) {
        const double gamma = (double[]){0.01, 0.3, 2, 1e4}[g];
        const ts_problem p = problem_of(PROBLEM(1, x, c), TS_EMPTY_KEEP);
        const ts_definition definition = lloyd(gamma, false);
        ts_runner *runner = ts_runner_create(&definition, &p, &error);
        ck_assert_int_eq(ts_runner_step(runner, &error), TS_OK);
        double sum[2] = {0}, mass[2] = {0};
        for (int i = 0; i < 5; i++) {
            const double a = -gamma * pow((double)x[i] - 1, 2), b = -gamma * pow((double)x[i] - 5, 2);
            const double r = 1 / (1 + exp(b - a));
            sum[0] += r * (double)x[i], mass[0] += r;
            sum[1] += (1 - r) * (double)x[i], mass[1] += 1 - r;
        }
        for (int j = 0; j < 2; j++)
            ck_assert_double_eq_tol((double)ts_runner_state(runner)->centers[j], sum[j] / mass[j], 1e-6);
        ts_runner_free(runner);
    }
}
END_TEST

/* Inference memory of the tape: a few token arrays, nothing of size n x n (which would be 3.6 GB here). */
START_TEST(memory_is_linear_in_n) {
    enum { MANY = 30000, DIMS = 8 };
    ts_real *x = malloc(MANY * DIMS * sizeof *x);
    const grid_cell cell = {MANY, DIMS, 4, 0};
    fill_points(&cell, 1, x);
    const ts_problem p = {.n = MANY, .d = DIMS, .k = 4, .points = x, .centers = x, .op_by_op = true};
    const ts_definition definition = lloyd(INFINITY, false);
    ts_runner *runner = ts_runner_create(&definition, &p, &error);
    ck_assert_int_eq(ts_runner_step(runner, &error), TS_OK);
    const size_t after_one = ts_runner_bytes(runner);
    for (int t = 0; t < 5; t++) ck_assert_int_eq(ts_runner_step(runner, &error), TS_OK);
    ck_assert_uint_eq(ts_runner_bytes(runner), after_one);
    ck_assert_uint_lt(after_one, 4 * MANY * (DIMS + 4) * sizeof(ts_real) + (8u << 20));
    ts_runner_free(runner);
    free(x);
}
END_TEST

#ifdef _OPENMP
START_TEST(the_same_bits_on_any_number_of_threads) {
    enum { MANY = 20000, DIMS = 5, CLUSTERS = 9 };
    static ts_real centers[CLUSTERS * DIMS];
    static int64_t labels[MANY];
    double objective = 0;
    ts_real *x = malloc(MANY * DIMS * sizeof *x);
    const grid_cell cell = {MANY, DIMS, CLUSTERS, 0};
    fill_points(&cell, 3, x);
    for (int t = 0; t < 4; t++) {
        omp_set_num_threads((int[]){1, 2, 3, 8}[t]);
        const ts_problem p = {.n = MANY, .d = DIMS, .k = CLUSTERS, .points = x, .centers = x, .op_by_op = true};
        const ts_definition definition = lloyd(INFINITY, false);
        ts_runner *runner = ts_runner_create(&definition, &p, &error);
        for (int s = 0; s < 4; s++) ck_assert_int_eq(ts_runner_step(runner, &error), TS_OK);
        const ts_clustering *state = ts_runner_state(runner);
        const double value = ts_objective(MANY, DIMS, x, state->centers, state->labels);
        if (t == 0) {
            memcpy(centers, state->centers, sizeof centers);
            memcpy(labels, state->labels, sizeof labels);
            objective = value;
        }
        ck_assert_mem_eq(centers, state->centers, sizeof centers);
        ck_assert_mem_eq(labels, state->labels, sizeof labels);
        ck_assert(objective == value);
        ts_runner_free(runner);
    }
    free(x);
}
END_TEST
#endif

static void add_tests(TCase *tests) {
#ifdef _OPENMP
    omp_set_num_threads(omp_get_num_procs()); /* on the grid, too */
#endif
    tcase_add_test(tests, empty_cluster_keeps_its_centre);
    tcase_add_test(tests, empty_cluster_takes_the_farthest_point);
    tcase_add_test(tests, empty_cluster_takes_a_random_point);
    tcase_add_test(tests, empty_cluster_is_an_error_when_asked);
    tcase_add_test(tests, farthest_point_has_limits);
    tcase_add_test(tests, objective_belongs_to_the_centres_returned);
    tcase_add_test(tests, far_from_the_origin);
    tcase_add_test(tests, stops_when_labels_repeat);
    tcase_add_test(tests, six_points_on_two_lines);
    tcase_add_test(tests, one_cluster_and_as_many_as_points);
    tcase_add_test(tests, bad_problems_are_refused);
    tcase_add_loop_test(tests, equals_plain_lloyd_on_a_grid, 0, (int)(sizeof grid / sizeof *grid));
    tcase_add_test(tests, ties);
    tcase_add_test(tests, other_ties_are_a_change);
    tcase_add_test(tests, shares_of_doubles);
    tcase_add_test(tests, finite_gamma_is_soft_kmeans);
    tcase_add_test(tests, memory_is_linear_in_n);
#ifdef _OPENMP
    tcase_add_test(tests, the_same_bits_on_any_number_of_threads);
#else
    say_skipped("the_same_bits_on_any_number_of_threads", "no OpenMP");
#endif
}

int main(void) {
    ts_parallel_cutoff = 1000; /* small work meets threads */
    return run_variant_tests("Lloyd", add_tests);
}
