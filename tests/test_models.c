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
#include "../models/definition/variants.h"
#include "../models/run/circuit.h"
#include "../models/run/transformer.h"
#include "test_main.h"

static ts_error error;

static void setup(void) {
    error = (ts_error){.status = TS_OK};
}

static ts_definition lloyd(double gamma, bool share_ties) {
    ts_settings settings = ts_variant_settings(ts_variants);
    ts_definition definition;
    settings.gamma = gamma;
    settings.share_ties = share_ties;
    ck_assert_int_eq(ts_variant_define(ts_variants, &settings, &definition, &error), TS_OK);
    return definition;
}

static ts_plain *plain_lloyd(const ts_problem *p) {
    const ts_settings settings = ts_variant_settings(ts_variants);
    return ts_plain_create(&ts_plain_lloyd, &settings, p, &error);
}

#define POINTS(rows, dims, x) ((ts_points){.n = (rows), .d = (dims), .real = (x)})

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
    ts_circuit *circuit = ts_circuit_create(&definition, p, &error);
    ck_assert_msg(circuit != NULL, "%s", error.text);
    ts_plain *plain = plain_lloyd(p);
    const ts_clustering *a = ts_circuit_state(circuit), *b = ts_plain_state(plain);
    for (int64_t t = 0; t < steps && !a->converged; t++) {
        ck_assert_int_eq(ts_circuit_step(circuit, &error), TS_OK);
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
    ck_assert_int_eq(ts_circuit_finish(circuit, &error), TS_OK);
    ck_assert_int_eq(ts_plain_finish(plain, &error), TS_OK);
    ck_assert_mem_eq(a->labels, b->labels, (size_t)p->n * sizeof(int64_t));
    outcome o = {.steps = a->steps, .repairs = a->empty_repairs};
    if (p->n <= 64 && p->k * p->d <= 64) o = outcome_of(p, a);
    ts_circuit_free(circuit);
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

#define ROWS(array) (int64_t)(sizeof(array) / sizeof *(array))
#define PROBLEM(dims, points_, centers_, policy)                                                   \
    (ts_problem) {                                                                                 \
        .n = ROWS(points_) / (dims), .d = (dims), .k = ROWS(centers_) / (dims), .points = points_, \
        .centers = centers_, .empty = policy                                                       \
    }

static void expect_labels(const outcome *o, int64_t n, const int64_t *labels) {
    ck_assert_mem_eq(o->labels, labels, (size_t)n * sizeof *labels);
}

/* ---- cases ------------------------------------------------------------------------------------------------------- */

static const ts_real line3[] = {1, 2, 3}, far_start[] = {4, 0, 1};

START_TEST(empty_cluster_keeps_its_centre) {
    const ts_problem p = PROBLEM(1, line3, far_start, TS_EMPTY_KEEP);
    const outcome o = run_both(&p, 100);
    expect_labels(&o, 3, (int64_t[]){2, 2, 0});
    ck_assert(o.centers[0] == 3 && o.centers[1] == 0 && o.centers[2] == (ts_real)1.5);
    ck_assert_double_eq_tol(o.objective, 0.5, 1e-12);
    ck_assert_int_eq(o.repairs, 0);
}
END_TEST

START_TEST(empty_cluster_takes_the_farthest_point) {
    const ts_problem p = PROBLEM(1, line3, far_start, TS_EMPTY_FARTHEST);
    const outcome o = run_both(&p, 100);
    ck_assert(o.objective == 0 && o.repairs >= 1);
}
END_TEST

START_TEST(empty_cluster_takes_a_random_point) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        ts_problem p = PROBLEM(1, line3, far_start, TS_EMPTY_RANDOM);
        p.seed = seed;
        const outcome o = run_both(&p, 100);
        ck_assert(o.repairs >= 1);
        for (int j = 0; j < 3; j++) ck_assert(isfinite((double)o.centers[j]));
    }
}
END_TEST

START_TEST(empty_cluster_is_an_error_when_asked) {
    const ts_problem p = PROBLEM(1, line3, far_start, TS_EMPTY_ERROR);
    const ts_definition definition = lloyd(INFINITY, false);
    ts_circuit *circuit = ts_circuit_create(&definition, &p, &error);
    ck_assert_int_ne(ts_circuit_step(circuit, &error), TS_OK);
    ck_assert_str_eq(error.text, "cluster 1 is empty at step 1");
    ts_circuit_free(circuit);
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
    const ts_problem same = PROBLEM(1, equal, starts, TS_EMPTY_FARTHEST);
    ck_assert_int_eq(run_both(&same, 10).repairs, 0);
    const ts_real spread[] = {0, 0, 9, 10}, both_empty[] = {1, 100, 200};
    const ts_problem two = PROBLEM(1, spread, both_empty, TS_EMPTY_FARTHEST);
    const outcome o = run_both(&two, 100);
    ck_assert(o.objective == 0 && o.repairs >= 2);
    const ts_real pair[] = {0, 10}, single[] = {0, 10};
    const ts_problem singletons = PROBLEM(1, pair, single, TS_EMPTY_FARTHEST);
    ck_assert_int_eq(run_both(&singletons, 10).repairs, 0);
}
END_TEST

START_TEST(objective_belongs_to_the_centres_returned) {
    const ts_real x[] = {0, 3, 4, 20}, c[] = {0, 4};
    const ts_problem p = PROBLEM(1, x, c, TS_EMPTY_KEEP);
    const outcome o = run_both(&p, 1);
    ck_assert(o.centers[0] == 0 && o.centers[1] == 9);
    expect_labels(&o, 4, (int64_t[]){0, 0, 0, 1});
    ck_assert_double_eq_tol(o.objective, 146, 1e-9);
}
END_TEST

START_TEST(far_from_the_origin) {
    const ts_real x[] = {100000, (ts_real)100000.5, (ts_real)100001.5, 100002}, c[] = {100000, 100002};
    const ts_problem p = PROBLEM(1, x, c, TS_EMPTY_KEEP);
    const outcome o = run_both(&p, 100);
    expect_labels(&o, 4, (int64_t[]){0, 0, 1, 1});
    ck_assert(o.centers[0] == (ts_real)100000.25 && o.centers[1] == (ts_real)100001.75);
    ck_assert_double_eq_tol(o.objective, 0.25, 1e-9);
}
END_TEST

START_TEST(stops_when_labels_repeat) {
    const ts_real x[] = {(ts_real).1, (ts_real).2, (ts_real).3, (ts_real)10.1, (ts_real)10.2, (ts_real)10.3};
    const ts_real c[] = {(ts_real).1, (ts_real)10.3};
    const ts_problem p = PROBLEM(1, x, c, TS_EMPTY_KEEP);
    const outcome o = run_both(&p, 100);
    ck_assert_int_eq(o.steps, 2);
    ck_assert_double_eq_tol((double)o.centers[0], .2, 1e-6);
    ck_assert_double_eq_tol((double)o.centers[1], 10.2, 1e-5);
    ck_assert_double_eq_tol(o.objective, 0.04, 1e-6);
}
END_TEST

START_TEST(six_points_on_two_lines) {
    const ts_real x[] = {1, 2, 1, 4, 1, 0, 4, 2, 4, 4, 4, 0}, c[] = {1, 2, 4, 2};
    const ts_problem p = PROBLEM(2, x, c, TS_EMPTY_KEEP);
    const outcome o = run_both(&p, 100);
    expect_labels(&o, 6, (int64_t[]){0, 0, 0, 1, 1, 1});
    ck_assert_double_eq_tol(o.objective, 16, 1e-9);
}
END_TEST

START_TEST(one_cluster_and_as_many_as_points) {
    const ts_real x[] = {0, 1, 10, 11}, one[] = {3}, all[] = {0, 1, 10, 11};
    const ts_problem p1 = PROBLEM(1, x, one, TS_EMPTY_KEEP), p4 = PROBLEM(1, x, all, TS_EMPTY_KEEP);
    const outcome a = run_both(&p1, 100), b = run_both(&p4, 100);
    ck_assert(a.centers[0] == (ts_real)5.5 && a.steps == 2);
    ck_assert_double_eq_tol(a.objective, 101, 1e-9);
    ck_assert(b.objective == 0);
}
END_TEST

START_TEST(bad_problems_are_refused) {
    const ts_definition definition = lloyd(INFINITY, false);
    const ts_real x[] = {0, 1}, c[] = {0, 1, 2};
    ts_problem p = PROBLEM(1, x, c, TS_EMPTY_KEEP);
    ck_assert_ptr_null(ts_circuit_create(&definition, &p, &error));
    ck_assert_str_eq(error.text, "k = 3 but only 2 rows");
    error.status = TS_OK;
    p.k = 0;
    ck_assert_ptr_null(ts_circuit_create(&definition, &p, &error));
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
    const ts_problem p = PROBLEM(1, x, c, TS_EMPTY_KEEP);
    const outcome o = run_both(&p, 1); /* lowest index, as plain Lloyd */
    ck_assert(o.centers[0] == (ts_real)0.5 && o.centers[1] == 2);
    const ts_definition share = lloyd(INFINITY, true);
    ts_circuit *circuit = ts_circuit_create(&share, &p, &error);
    ck_assert_int_eq(ts_circuit_step(circuit, &error), TS_OK);
    const ts_clustering *s = ts_circuit_state(circuit); /* half the point to each: (0 + 1/2) / (3/2) */
    ck_assert_double_eq_tol((double)s->centers[0], 1.0 / 3, 1e-6);
    ck_assert_double_eq_tol((double)s->centers[1], 5.0 / 3, 1e-6);
    ck_assert_int_eq(s->labels[1], 0); /* decoded to the lowest index */
    ts_circuit_free(circuit);
}
END_TEST

/* One step by hand: r_ij = softmax_j(-gamma ||x_i - c_j||^2), c_j = sum r_ij x_i / sum r_ij. */
START_TEST(finite_gamma_is_soft_kmeans) {
    const ts_real x[] = {0, 1, 5, 6, (ts_real)2.5}, c[] = {1, 5};
    for (int g = 0; g < 4; g++) {
        const double gamma = (double[]){0.01, 0.3, 2, 1e4}[g];
        const ts_problem p = PROBLEM(1, x, c, TS_EMPTY_KEEP);
        const ts_definition definition = lloyd(gamma, false);
        ts_circuit *circuit = ts_circuit_create(&definition, &p, &error);
        ck_assert_int_eq(ts_circuit_step(circuit, &error), TS_OK);
        double sum[2] = {0}, mass[2] = {0};
        for (int i = 0; i < 5; i++) {
            const double a = -gamma * pow((double)x[i] - 1, 2), b = -gamma * pow((double)x[i] - 5, 2);
            const double r = 1 / (1 + exp(b - a));
            sum[0] += r * (double)x[i], mass[0] += r;
            sum[1] += (1 - r) * (double)x[i], mass[1] += 1 - r;
        }
        for (int j = 0; j < 2; j++)
            ck_assert_double_eq_tol((double)ts_circuit_state(circuit)->centers[j], sum[j] / mass[j], 1e-5);
        ts_circuit_free(circuit);
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
    ts_circuit *circuit = ts_circuit_create(&definition, &p, &error);
    ck_assert_int_eq(ts_circuit_step(circuit, &error), TS_OK);
    const size_t after_one = ts_circuit_bytes(circuit);
    for (int t = 0; t < 5; t++) ck_assert_int_eq(ts_circuit_step(circuit, &error), TS_OK);
    ck_assert_uint_eq(ts_circuit_bytes(circuit), after_one);
    ck_assert_uint_lt(after_one, 4 * MANY * (DIMS + 4) * sizeof(ts_real) + (8u << 20));
    ts_circuit_free(circuit);
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
        ts_circuit *circuit = ts_circuit_create(&definition, &p, &error);
        for (int s = 0; s < 4; s++) ck_assert_int_eq(ts_circuit_step(circuit, &error), TS_OK);
        const ts_clustering *state = ts_circuit_state(circuit);
        const double value = ts_objective(MANY, DIMS, x, state->centers, state->labels);
        if (t == 0) {
            memcpy(centers, state->centers, sizeof centers);
            memcpy(labels, state->labels, sizeof labels);
            objective = value;
        }
        ck_assert_mem_eq(centers, state->centers, sizeof centers);
        ck_assert_mem_eq(labels, state->labels, sizeof labels);
        ck_assert(objective == value);
        ts_circuit_free(circuit);
    }
    free(x);
}
END_TEST
#endif

/* ---- definitions ------------------------------------------------------------------------------------------------- */

START_TEST(code_books) {
    ts_real book[18];
    ck_assert_int_eq(ts_scheme_width(TS_SCHEME_ONEHOT, 3), 3);
    ts_scheme_code_book(TS_SCHEME_ONEHOT, 3, book);
    for (int i = 0; i < 9; i++) ck_assert(book[i] == (i % 4 == 0));
    const int64_t widths[][2] = {{1, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {6, 3}, {8, 3}, {9, 4}, {1000, 10}};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        ck_assert_int_eq(ts_scheme_width(TS_SCHEME_BINARY, widths[i][0]), widths[i][1]);
    ts_scheme_code_book(TS_SCHEME_BINARY, 6, book);
    const char *rows = "000100010110001101";
    for (int i = 0; i < 18; i++) ck_assert(book[i] == rows[i] - '0');
    ck_assert_int_eq(ts_scheme_width(TS_SCHEME_NONE, 6), 0);
}
END_TEST

static void expect_refusal(ts_definition definition, const char *text) {
    error = (ts_error){.status = TS_OK};
    ck_assert_int_ne(ts_definition_check(&definition, 2, 3, &error), TS_OK);
    ck_assert_str_eq(error.text, text);
}

START_TEST(wrong_definitions_are_refused_by_name) {
    const ts_definition good = lloyd(5, false);
    ck_assert_int_eq(ts_definition_check(&good, 2, 3, &error), TS_OK);
    ts_definition bad = good;
    bad.cross_points.identity = true;
    expect_refusal(bad, "cross_points: identity weights need self-attention");
    bad = good;
    bad.cross_centers.simplex.map = NULL;
    expect_refusal(bad, "cross_centers: no simplex map");
    bad = good;
    bad.cross_points.gamma = 0;
    expect_refusal(bad, "cross_points: gamma must be positive and finite, not 0");
    bad = good;
    bad.cross_points.simplex = (ts_simplex_spec){.map = &ts_normmax_map, .parameter = 0.5};
    error = (ts_error){.status = TS_OK};
    ck_assert_int_ne(ts_definition_check(&bad, 2, 3, &error), TS_OK);
    ck_assert_ptr_nonnull(strstr(error.text, "cross_points: normmax"));
    bad = good;
    bad.self_points.value.n_copies = 9;
    expect_refusal(bad, "self_points.value: 9 copies; 1 to 4 fit");
    bad = good;
    bad.cross_points.value.copy[0].to.group = TS_GROUP_DATA;
    expect_refusal(bad, "cross_points.value: 3 coordinates of code do not fit into 2 of data");
    bad = good;
    bad.cross_points.query.copy[0].from = (ts_range){TS_GROUP_DATA, 1, 2};
    expect_refusal(bad, "cross_points.query: data[1:3] is out of range: there are 2");
    bad = good;
    bad.self_centers.value.copy[0].from.group = TS_GROUP_NORM;
    expect_refusal(bad, "self_centers.value: tokens of scheme onehot have no norm");
    bad = good;
    bad.cross_points.own_code = true;
    expect_refusal(bad, "cross_points: only centres that look at points (cross_centers) can be held to their own code");
    bad = good;
    bad.trims = true;
    expect_refusal(bad, "cross_centers: trimmed points need centres that see only the points of their own code");
    bad = good;
    bad.norm = (ts_norm){.present = true, .range = {.group = TS_GROUP_DATA}, .length = 0};
    expect_refusal(bad, "norm: the length must be positive and finite, not 0");
    bad.norm.length = 1e-300;
    expect_refusal(bad, "norm: the length must be from 1e-15 to 1e15, not 1e-300");
    bad.norm = (ts_norm){.present = true, .range = {.group = TS_GROUP_CODE}, .length = 1};
    expect_refusal(bad, "norm: only data have a direction, not code, which points enter without");
    bad = good;
    bad.feed_forward = (ts_feed_forward_definition){.present = true};
    expect_refusal(bad, "feed_forward: unknown activation");
    bad = good;
    bad.name[0] = '\0';
    expect_refusal(bad, "a definition needs a name of at most 63 bytes");
}
END_TEST

/* The weights of theorem 2.1, as a transformer has them. */
START_TEST(weights_of_the_construction) {
    const ts_definition definition = lloyd(INFINITY, false);
    ts_transformer model;
    ck_assert_int_eq(ts_transformer_build(&model, &definition, 2, 3, 0, &error), TS_OK);
    const struct {
        const char *name;
        ts_real weight[5];
    } expected[] = {{"cross_points.query.weight", {1, 1, 0, 0, 0}},  {"cross_points.key.weight", {1, 1, 0, 0, 0}},
                    {"cross_points.value.weight", {0, 0, 1, 1, 1}},  {"self_points.value.weight", {0, 0, -1, -1, -1}},
                    {"cross_centers.query.weight", {0, 0, 1, 1, 1}}, {"cross_centers.value.weight", {1, 1, 0, 0, 0}},
                    {"self_centers.value.weight", {-1, -1, 0, 0, 0}}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const int at = ts_params_find(model.params, expected[i].name);
        ck_assert_msg(at >= 0, "%s", expected[i].name);
        ck_assert_mem_eq(ts_params_value(model.params, at), expected[i].weight, sizeof expected[i].weight);
    }
    ts_transformer_clear(&model);
}
END_TEST

/* A layer of learned blocks: sizes, names, and gradients that reach every parameter. */
START_TEST(a_learned_layer_trains) {
    ts_definition definition = {.name = "learned", .scheme = TS_SCHEME_ONEHOT};
    ts_block *blocks[4] = {&definition.cross_points, &definition.self_points, &definition.cross_centers,
                           &definition.self_centers};
    for (int i = 0; i < 4; i++)
        *blocks[i] = (ts_block){.score = TS_SCORE_EUCLIDEAN,
                                .simplex = {.map = &ts_softmax_map},
                                .gamma = 1,
                                .scaled = true,
                                .dropout = 0.01,
                                .query = {.learned = true},
                                .key = {.learned = true},
                                .value = {.learned = true}};
    ts_transformer model;
    ck_assert_int_eq(ts_transformer_build(&model, &definition, 32, 10, 1, &error), TS_OK);
    ck_assert_int_eq(ts_params_size(model.params), 21672); /* 12 (e^2 + e), e = 42 */
    ts_tape *tape = ts_tape_create(TS_RECORD);
    ts_tensor *points = ts_constant(tape, TS_SHAPE(2, 20, 42), NULL),
              *centers = ts_constant(tape, TS_SHAPE(2, 10, 42), NULL);
    for (int64_t i = 0; i < ts_size(&points->shape); i++)
        points->data[i] = (ts_real)ts_rng_normal((ts_rng){1, 2, 3}, (uint64_t)i);
    for (int64_t i = 0; i < ts_size(&centers->shape); i++) centers->data[i] = points->data[i];
    points = ts_transformer_assign(&model, tape, points, centers, 1);
    centers = ts_transformer_update(&model, tape, points, centers, 1);
    ck_assert_int_eq(ts_backward(tape, ts_sum(tape, ts_square(tape, centers), TS_ALL_AXES, false)), TS_OK);
    for (int i = 0; i < ts_params_count(model.params); i++) {
        const ts_real *grad = ts_params_grad(model.params, i);
        double largest = 0;
        for (int64_t j = 0; j < ts_size(ts_params_shape(model.params, i)); j++)
            largest = fmax(largest, fabs((double)grad[j]));
        ck_assert_msg(largest > 0 && isfinite(largest), "%s has no gradient", ts_params_name(model.params, i));
    }
    ts_tape_free(tape);
    ts_transformer_clear(&model);
}
END_TEST

/* ---- seeding and scores ------------------------------------------------------------------------------------------ */

START_TEST(seeding_gives_different_rows) {
    ts_real x[40];
    int64_t rows[20];
    fill_points(&(grid_cell){20, 2, 20, 0}, 5, x);
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

START_TEST(adjusted_rand_index) {
    const int64_t a[] = {0, 0, 1, 1}, b[] = {1, 1, 0, 0}, c[] = {0, 1, 0, 1}, d[] = {0, 0, 1, 2}, one[] = {0, 0, 0, 0};
    ck_assert_double_eq_tol(ts_adjusted_rand_index(4, a, b), 1, 1e-12);
    ck_assert_double_eq_tol(ts_adjusted_rand_index(4, a, c), -0.5, 1e-12);
    ck_assert_double_eq_tol(ts_adjusted_rand_index(4, a, d), 4.0 / 7, 1e-12);
    ck_assert_double_eq_tol(ts_adjusted_rand_index(4, a, one), 0, 1e-12);
    ck_assert_double_eq_tol(ts_adjusted_rand_index(4, one, one), 1, 1e-12);
    ck_assert_double_eq_tol(ts_adjusted_rand_index(1, one, one), 1, 1e-12);
}
END_TEST

int main(void) {
    ts_parallel_cutoff = 1000; /* small work meets threads */
    Suite *suite = suite_create("models");
    TCase *tests = tcase_create("all");
    printf("seed %" PRIu64 "\n", test_seed());
    tcase_set_timeout(tests, 0);
    tcase_add_checked_fixture(tests, setup, NULL);
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
    tcase_add_test(tests, finite_gamma_is_soft_kmeans);
    tcase_add_test(tests, memory_is_linear_in_n);
#ifdef _OPENMP
    tcase_add_test(tests, the_same_bits_on_any_number_of_threads);
#else
    say_skipped("the_same_bits_on_any_number_of_threads", "no OpenMP");
#endif
    tcase_add_test(tests, code_books);
    tcase_add_test(tests, wrong_definitions_are_refused_by_name);
    tcase_add_test(tests, weights_of_the_construction);
    tcase_add_test(tests, a_learned_layer_trains);
    tcase_add_test(tests, seeding_gives_different_rows);
    tcase_add_test(tests, seeding_of_many_rows);
    tcase_add_test(tests, seeding_without_spread);
    tcase_add_test(tests, seeding_without_spread_takes_all);
    tcase_add_test(tests, gonzalez_goes_farthest_first);
    tcase_add_test(tests, kmeanspp_draws_by_squared_distance);
    tcase_add_test(tests, weighted_pick_stays_inside);
    tcase_add_test(tests, adjusted_rand_index);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
