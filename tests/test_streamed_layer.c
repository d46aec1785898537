/* The streamed layer against the same layer computed op by op: every label, every bit of the centres, every share. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/parallel.h"
#include "../autograd/rng.h"
#include "../models/run/streamed_layer.h"
#include "instruction_sets.h"
#include "variant_runs.h"

/* ---- problems ---------------------------------------------------------------------------------------------------- */

typedef enum data_kind {
    UNIFORM,
    BLOBS,
    GRID,
    DUPLICATES,
    FAR,
    VERY_FAR,
    TINY,
    HUGE_ONES,
    NEGATIVE_ZEROS,
    KINDS
} data_kind;

static double coordinate(data_kind kind, double u, int64_t cluster) {
    switch (kind) {
    case BLOBS: return (double)cluster + 0.3 * u;
    case GRID: return floor(5 * u);
    case DUPLICATES: return floor(2 * u);
    case FAR: return 1e4 + u;
    case VERY_FAR: return -1e6 + u;
    case TINY: return 1e-20 * (u - 0.5);
    case HUGE_ONES: return 1e15 * (u - 0.5);
    case NEGATIVE_ZEROS: return u < 0.5 ? -0.0 : u < 0.9 ? 0 : 1e-30 * (u - 0.95);
    default: return u;
    }
}

/* Points, and centres among them; with `lonely` the last centre lies where no point is near. */
static ts_problem problem_of(data_kind kind, int64_t n, int64_t d, int64_t k, bool lonely, uint64_t seed) {
    const ts_rng rng = {seed, ts_rng_stream("streamed"), (uint32_t)kind};
    ts_real *x = malloc((size_t)(n * d) * sizeof *x), *c = malloc((size_t)(k * d) * sizeof *c);
    ck_assert(x != NULL && c != NULL);
    for (int64_t i = 0; i < n * d; i++) x[i] = (ts_real)coordinate(kind, ts_rng_uniform(rng, (uint64_t)i), i / d % k);
    memcpy(c, x, (size_t)(k * d) * sizeof *c);
    for (int64_t a = 0; a < d && lonely; a++) c[(k - 1) * d + a] = 3 * x[a] + (kind == TINY ? (ts_real)1e-18 : 100);
    return (ts_problem){.n = n, .d = d, .k = k, .points = x, .centers = c, .seed = seed};
}

static void clear(const ts_problem *p) {
    free((ts_real *)p->points);
    free((ts_real *)p->centers);
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

/* One-hot, binary, one-hot with shared ties; spherical k-means, one-hot and binary; shared by distance on a sphere of
 * the first coordinates; shared by dot products, without a norm; trimming nothing. */
enum { CODES = 8 };

static ts_definition definition_of(int code) {
    static const char *const constructions[CODES] = {"onehot", "binary", "onehot", "onehot",
                                                     "binary", "onehot", "onehot", "binary"};
    const char *name = code == 3 || code == 4 ? "spherical" : code == 7 ? "trimmed" : "lloyd";
    ts_settings s = settings_of(name, constructions[code], 0);
    s.share_ties = code == 2 || code == 5 || code == 6;
    if (code == 7) s.trim = 0;
    ts_definition d = define(name, &s);
    if (code == 5)
        d.norm = (ts_norm_definition){
            .present = true, .range = {.group = TS_GROUP_DATA, .count = 1}, .length = 2, .eps = 0.1};
    if (code == 6) d.cross_points.score = TS_SCORE_DOT;
    return d;
}

static void expect_the_same_state(const ts_problem *p, const ts_runner *streamed, const ts_runner *composed,
                                  const char *what) {
    const ts_clustering *a = ts_runner_state(streamed), *b = ts_runner_state(composed);
    for (int64_t i = 0; i < p->n; i++)
        ck_assert_msg(a->labels[i] == b->labels[i], "%s: row %d: label %d, by ops %d", what, (int)i, (int)a->labels[i],
                      (int)b->labels[i]);
    for (int64_t i = 0; i < p->k * p->d; i++)
        ck_assert_msg(memcmp(&a->centers[i], &b->centers[i], sizeof(ts_real)) == 0,
                      "%s: centre entry %d: %.17g, by ops %.17g", what, (int)i, (double)a->centers[i],
                      (double)b->centers[i]);
    ck_assert_msg(a->converged == b->converged, "%s: converged %d, by ops %d", what, a->converged, b->converged);
    ck_assert_msg(a->empty_repairs == b->empty_repairs, "%s: repairs", what);
    ck_assert_msg(a->steps == b->steps && a->trimmed == b->trimmed, "%s: steps", what);
    ck_assert_msg(ts_runner_onehot_rows(streamed) == ts_runner_onehot_rows(composed), "%s: %d one-hot rows, by ops %d",
                  what, (int)ts_runner_onehot_rows(streamed), (int)ts_runner_onehot_rows(composed));
}

static void expect_the_same_weights(const ts_problem *p, ts_runner *streamed, ts_runner *composed) {
    const size_t size = (size_t)(p->n * p->k);
    ts_real *a = malloc(size * sizeof *a), *b = malloc(size * sizeof *b);
    ck_assert(a != NULL && b != NULL);
    ck_assert_int_eq(ts_runner_weights(streamed, a, &error), TS_OK);
    ck_assert_int_eq(ts_runner_weights(composed, b, &error), TS_OK);
    ck_assert_mem_eq(a, b, size * sizeof *a);
    free(a);
    free(b);
}

/* One of a pair of calls, or none, fails: then both, for one reason. */
static bool failed_alike(ts_status a, ts_status b, const ts_error *first, const ts_error *second, const char *what) {
    ck_assert_msg(a == b && strcmp(first->text, second->text) == 0, "%s: '%s', by ops '%s'", what, first->text,
                  second->text);
    return a != TS_OK;
}

/* Both from the start to the end. */
static void expect_the_same_run(const ts_definition *definition, const ts_problem *problem, int steps,
                                const char *what) {
    ts_problem by_ops = *problem;
    ts_error first = {.status = TS_OK}, second = {.status = TS_OK};
    by_ops.op_by_op = true;
    ts_runner *a = ts_runner_create(definition, problem, &first), *b = ts_runner_create(definition, &by_ops, &second);
    bool failed = failed_alike(first.status, second.status, &first, &second, what);
    if (!failed) expect_the_same_state(problem, a, b, what);
    for (int t = 0; t < steps && !failed && !ts_runner_state(a)->converged; t++) {
        failed = failed_alike(ts_runner_step(a, &first), ts_runner_step(b, &second), &first, &second, what);
        expect_the_same_state(problem, a, b, what);
    }
    if (!failed) {
        failed = failed_alike(ts_runner_finish(a, &first), ts_runner_finish(b, &second), &first, &second, what);
        expect_the_same_state(problem, a, b, what);
        if (!failed) expect_the_same_weights(problem, a, b);
    }
    ts_runner_free(a);
    ts_runner_free(b);
}

START_TEST(every_size_and_kind) {
    const int64_t ns[] = {1, 2, 7, 513}, ds[] = {1, 3, 32, 33, 64}, ks[] = {1, 2, 7, 10, 100};
    int count = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < (int)(ROWS(ns) * ROWS(ds) * ROWS(ks)); i++) {
            const int64_t n = ns[i % 4], d = ds[i / 4 % 5], k = ks[i / 20];
            if (k > n) continue;
            char what[80];
            const int code = count++ % CODES;
            ts_problem p = problem_of((data_kind)kind, n, d, k, count % 4 == 0, test_seed());
            const ts_definition definition = definition_of(code);
            p.empty = (ts_empty_policy)(count % 5 % 4);
            snprintf(what, sizeof what, "kind %d n %d d %d k %d code %d policy %d", kind, (int)n, (int)d, (int)k, code,
                     (int)p.empty);
            ck_assert(ts_streamed_layer_fits(&definition, d, k));
            expect_the_same_run(&definition, &p, 6, what);
            clear(&p);
        }
}
END_TEST

/* All policies with every code, where clusters do become empty. */
START_TEST(empty_clusters) {
    for (int policy = 0; policy < 4; policy++)
        for (int code = 0; code < CODES; code++)
            for (int kind = UNIFORM; kind <= DUPLICATES; kind++) {
                char what[80];
                ts_problem p = problem_of((data_kind)kind, 300, 2, 20, true, test_seed() + (uint64_t)policy);
                const ts_definition definition = definition_of(code);
                p.empty = (ts_empty_policy)policy;
                snprintf(what, sizeof what, "policy %d code %d kind %d", policy, code, kind);
                expect_the_same_run(&definition, &p, 20, what);
                clear(&p);
            }
}
END_TEST

/* Point 1 is equally near to three centres, point 4 to two; by hand, and by ops. */
START_TEST(shared_points) {
    const ts_real x[] = {0, 0, 1, 1, 5, 5, 2, 0, 2, 1}, c[] = {0, 1, 2, 1, 1, 0};
    const ts_problem p = PROBLEM(2, x, c);
    const ts_definition definition = definition_of(2);
    ts_runner *runner = ts_runner_create(&definition, &p, &error);
    ts_real weights[15];
    ck_assert_int_eq(ts_runner_onehot_rows(runner), 0);
    ck_assert_int_eq(ts_runner_finish(runner, &error), TS_OK);
    ck_assert_int_eq(ts_runner_weights(runner, weights, &error), TS_OK);
    const ts_real half = (ts_real)0.5, third = (ts_real)(1.0 / 3);
    ck_assert_mem_eq(weights, ((ts_real[]){half, 0, half, third, third, third, 0, 1, 0, 0, half, half, 0, 1, 0}),
                     sizeof weights);
    ck_assert_mem_eq(ts_runner_state(runner)->labels, ((int64_t[]){0, 0, 1, 1, 1}), 5 * sizeof(int64_t));
    ck_assert_int_eq(ts_runner_onehot_rows(runner), 2);
    ts_runner_free(runner);
    expect_the_same_run(&definition, &p, 10, "shared points");
}
END_TEST

/* Shares that move while labels stay: point 0 begins between the centres 0 and 1, and ends with 0 alone. */
START_TEST(shares_are_assignments_too) {
    const ts_real x[] = {0, -3, 3, 4}, c[] = {-2, 2};
    const ts_problem p = PROBLEM(1, x, c);
    const ts_definition definition = definition_of(2);
    ts_runner *runner = ts_runner_create(&definition, &p, &error);
    step(runner);
    ck_assert_int_eq(ts_runner_onehot_rows(runner), 3);
    step(runner);
    ck_assert_int_eq(ts_runner_onehot_rows(runner), 4);
    ck_assert(!ts_runner_state(runner)->converged);
    ts_runner_free(runner);
    expect_the_same_run(&definition, &p, 10, "shares");
}
END_TEST

/* A mean that vanishes from below is written onto a zero, as a positive one. */
START_TEST(no_mean_is_minus_zero) {
    const ts_real least = sizeof(ts_real) == sizeof(float) ? (ts_real)1e-45 : (ts_real)5e-324;
    const ts_real x[] = {-least, 0, 0, 5}, c[] = {0, 5};
    const ts_problem p = PROBLEM(1, x, c);
    for (int code = 0; code < CODES; code++) {
        const ts_definition definition = definition_of(code);
        ck_assert(x[0] < 0);
        expect_the_same_run(&definition, &p, 3, "minus zero");
    }
}
END_TEST

/* What is no number, or leaves the range of numbers, ends as it does op by op. */
START_TEST(numbers_that_are_none) {
    const double odd[] = {NAN, INFINITY, -INFINITY, sizeof(ts_real) == sizeof(float) ? 3e38 : 1e160};
    for (int i = 0; i < 4; i++)
        for (int where = 0; where < 2; where++)
            for (int code = 0; code < CODES; code++) {
                char what[80];
                const ts_problem p = problem_of(UNIFORM, 60, 3, 4, false, test_seed());
                const ts_definition definition = definition_of(code);
                ((ts_real *)(where == 0 ? p.points : p.centers))[7] = (ts_real)odd[i];
                snprintf(what, sizeof what, "%g among the %s, code %d", odd[i], where == 0 ? "points" : "centres",
                         code);
                expect_the_same_run(&definition, &p, 4, what);
                clear(&p);
            }
}
END_TEST

/* ---- many rows --------------------------------------------------------------------------------------------------- */

enum { MANY = 30011, MANY_D = 6, MANY_K = 23 };

typedef struct run {
    ts_real centers[MANY_K * MANY_D];
    int64_t labels[MANY];
} run;

static void run_many(const ts_definition *definition, const ts_problem *p, int steps, run *r) {
    ts_runner *runner = ts_runner_create(definition, p, &error);
    ck_assert_msg(runner != NULL, "%s", error.text);
    for (int t = 0; t < steps; t++) step(runner);
    memcpy(r->centers, ts_runner_state(runner)->centers, sizeof r->centers);
    memcpy(r->labels, ts_runner_state(runner)->labels, sizeof r->labels);
    ts_runner_free(runner);
}

/* Some row may be zero, and has no direction. */
static bool loses_direction(const ts_definition *definition, int kind) {
    return definition->norm.present && (kind == GRID || kind == DUPLICATES || kind == NEGATIVE_ZEROS);
}

/* Beyond 4096 rows the sums are added in another order: n roundings of a double, and then the last bit at most. */
START_TEST(many_rows_within_the_bound) {
    static run a, b;
    for (int kind = 0; kind < KINDS; kind++)
        for (int code = 0; code < CODES; code++) {
            const ts_definition definition = definition_of(code);
            if (loses_direction(&definition, kind)) continue;
            ts_problem p = problem_of((data_kind)kind, MANY, MANY_D, MANY_K, true, test_seed());
            double reach = definition.norm.present ? 2 : 0;
            for (int64_t i = 0; i < MANY * MANY_D; i++) reach = fmax(reach, fabs((double)p.points[i]));
            run_many(&definition, &p, 1, &a);
            p.op_by_op = true;
            run_many(&definition, &p, 1, &b);
            ck_assert_mem_eq(a.labels, b.labels, sizeof a.labels);
            for (int i = 0; i < MANY_K * MANY_D; i++) {
                const double bound = MANY * DBL_EPSILON * reach + EPS * fabs((double)b.centers[i]);
                ck_assert_msg(fabs((double)a.centers[i] - (double)b.centers[i]) <= bound,
                              "kind %d code %d: %.17g, by ops %.17g", kind, code, (double)a.centers[i],
                              (double)b.centers[i]);
            }
            clear(&p);
        }
}
END_TEST

#ifdef _OPENMP
START_TEST(the_same_bits_on_any_number_of_threads) {
    static run a, b;
    const int before = omp_get_max_threads();
    for (int kind = UNIFORM; kind <= GRID; kind++)
        for (int code = 0; code < CODES; code++) {
            const ts_definition definition = definition_of(code);
            if (loses_direction(&definition, kind)) continue;
            const ts_problem p = problem_of((data_kind)kind, MANY, MANY_D, MANY_K, false, test_seed());
            for (int t = 0; t < 3; t++) {
                omp_set_num_threads((int[]){1, 2, 8}[t]);
                run_many(&definition, &p, 4, t == 0 ? &a : &b);
                if (t > 0) ck_assert_mem_eq(&a, &b, sizeof a);
            }
            clear(&p);
        }
    omp_set_num_threads(before);
}
END_TEST
#endif

START_TEST(the_same_bits_on_every_instruction_set) {
    static run a, b;
    static const char *const isas[] = {"base", "avx2", "avx512"};
    for (int kind = 0; kind < KINDS; kind++) {
        const ts_definition definition = definition_of(kind % CODES);
        if (loses_direction(&definition, kind)) continue;
        const ts_problem p = problem_of((data_kind)kind, MANY, MANY_D, MANY_K, false, test_seed());
        for (int i = 0; i < 3; i++) {
            if (!ts_isa_use(isas[i])) continue;
            run_many(&definition, &p, 4, i == 0 ? &a : &b);
            if (i > 0) ck_assert_mem_eq(&a, &b, sizeof a);
        }
        clear(&p);
    }
    ts_isa_use(NULL);
}
END_TEST

/* No token of a point is ever made: 10 and 64 codes take the same memory, but for sums. */
START_TEST(memory_does_not_hold_tokens) {
    const ts_problem p = problem_of(UNIFORM, MANY, MANY_D, 64, false, test_seed());
    const ts_definition definition = definition_of(0);
    ts_runner *runner = ts_runner_create(&definition, &p, &error);
    step(runner);
    ck_assert_uint_lt(ts_runner_bytes(runner), MANY * MANY_D * sizeof(ts_real) + (1u << 20));
    ts_runner_free(runner);
    clear(&p);
}
END_TEST

/* ---- which definitions ------------------------------------------------------------------------------------------- */

static void expect_streams(const ts_definition *definition, bool streams, const char *what) {
    const ts_problem p = problem_of(GRID, 80, 3, 5, false, test_seed());
    ck_assert_msg(ts_streamed_layer_fits(definition, p.d, p.k) == streams, "%s", what);
    if (streams) expect_the_same_run(definition, &p, 8, what);
    clear(&p);
}

START_TEST(the_structure_decides) {
    ts_definition d = definition_of(0);
    snprintf(d.name, sizeof d.name, "whatever");
    expect_streams(&d, true, "another name");
    d.cross_points.gamma = 7;
    expect_streams(&d, true, "gamma");
    d.cross_points.gamma = 3;
    d.cross_points.scaled = true;
    expect_streams(&d, true, "scaled");
    d.cross_points.query.copy[0].from.count = 3;
    d.cross_points.query.copy[0].to.count = 3;
    expect_streams(&d, true, "all coordinates by number");
    d.cross_centers.score = TS_SCORE_EUCLIDEAN;
    d.cross_centers.simplex.map = &ts_hardmax_map;
    d.cross_centers.gamma = 0.3;
    expect_streams(&d, true, "matched one-hot codes");
    d.cross_centers.score = TS_SCORE_DOT;
    expect_streams(&d, true, "matched by dot products");
    d = definition_of(1);
    d.cross_centers.scaled = true;
    expect_streams(&d, true, "scaled matches");
}
END_TEST

typedef void change(ts_definition *d);

static void soft(ts_definition *d) {
    d->cross_points.simplex.map = &ts_softmax_map;
}
static void weak(ts_definition *d) {
    d->cross_points.gamma = 1e-13;
}
static void strong(ts_definition *d) {
    d->cross_points.gamma = 1e13;
}
static void part(ts_definition *d) {
    d->cross_points.query.copy[0].from.count = d->cross_points.query.copy[0].to.count = 2;
}
static void doubled_query(ts_definition *d) {
    d->cross_points.query.copy[0].scale = 2;
}
static void halved_code(ts_definition *d) {
    d->cross_points.value.copy[0].scale = 0.5;
}
static void data_too(ts_definition *d) {
    d->cross_points.value.copy[d->cross_points.value.n_copies++] = d->cross_points.query.copy[0];
}
static void drops_points(ts_definition *d) {
    d->cross_points.dropout = 0.1;
}
static void drops_centers(ts_definition *d) {
    d->cross_centers.dropout = 0.1;
}
static void own_code(ts_definition *d) {
    d->cross_centers.own_code = true;
}
static void keeps_code(ts_definition *d) {
    d->self_points.value.copy[0].scale = 1;
}
static void relaxes(ts_definition *d) {
    d->self_centers.value.copy[0].scale = -0.5;
}
static void looks_at_itself(ts_definition *d) {
    d->self_points.identity = false, d->self_points.gamma = 1, d->self_points.simplex.map = &ts_hardmax_map;
}
static void scaled_linear(ts_definition *d) {
    d->cross_centers.gamma = 2;
}
static void softmax_codes(ts_definition *d) {
    d->cross_centers.simplex.map = &ts_softmax_map;
}
static void first_match(ts_definition *d) {
    d->cross_centers.score = TS_SCORE_EUCLIDEAN, d->cross_centers.simplex.map = &ts_argmax_map;
}
static void feeds_forward(ts_definition *d) {
    d->feed_forward = (ts_feed_forward_definition){
        .present = true, .activation = ts_relu, .n_units = 1, .unit = {{.scale = 1, .weight = 1}}};
}
static void has_medoids(ts_definition *d) {
    d->medoids = true;
}
static void does_trim(ts_definition *d) {
    d->trims = true;
}
static void learned(ts_definition *d) {
    d->cross_points.query.learned = true;
}
static void shares_matches(ts_definition *d) {
    d->cross_points.simplex.map = &ts_hardmax_map, d->cross_centers.score = TS_SCORE_EUCLIDEAN,
    d->cross_centers.simplex.map = &ts_hardmax_map;
}

static const struct {
    const char *what;
    change *apply;
} changes[] = {{"soft", soft},

               {"weak", weak},
               {"strong", strong},
               {"part", part},
               {"doubled query", doubled_query},
               {"halved code", halved_code},
               {"data too", data_too},
               {"drops points", drops_points},
               {"drops centres", drops_centers},
               {"own code", own_code},
               {"keeps code", keeps_code},
               {"relaxes", relaxes},
               {"looks at itself", looks_at_itself},
               {"scaled linear", scaled_linear},
               {"softmax codes", softmax_codes},
               {"first match", first_match},

               {"feed-forward", feeds_forward},
               {"medoids", has_medoids},
               {"trims", does_trim},
               {"learned", learned},
               {"shares matches", shares_matches}};

START_TEST(other_structures_do_not_fit) {
    for (int i = 0; i < (int)ROWS(changes); i++) {
        ts_definition d = definition_of(0);
        changes[i].apply(&d);
        expect_streams(&d, false, changes[i].what);
    }
    ts_definition binary = definition_of(1);
    binary.cross_points.simplex.map = &ts_hardmax_map; /* of mixed codes the nearest is none of those mixed */
    expect_streams(&binary, false, "shares of binary codes");
    binary = definition_of(1);
    binary.cross_centers.score = TS_SCORE_DOT;
    expect_streams(&binary, false, "dot products of binary codes");
    for (const ts_variant *v = ts_variants; v->name != NULL; v++) {
        ts_settings s = ts_variant_settings(v);
        if (!(s.gamma > 0)) s.gamma = 1;
        const ts_definition d = define(v->name, &s);
        const bool fits = strcmp(v->name, "lloyd") == 0 || strcmp(v->name, "spherical") == 0;
        ck_assert_msg(ts_streamed_layer_fits(&d, 3, 5) == fits, "%s", v->name);
    }
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, every_size_and_kind);
    tcase_add_test(tests, empty_clusters);
    tcase_add_test(tests, shared_points);
    tcase_add_test(tests, shares_are_assignments_too);
    tcase_add_test(tests, no_mean_is_minus_zero);
    tcase_add_test(tests, numbers_that_are_none);
    tcase_add_test(tests, many_rows_within_the_bound);
#ifdef _OPENMP
    tcase_add_test(tests, the_same_bits_on_any_number_of_threads);
#else
    say_skipped("the_same_bits_on_any_number_of_threads", "no OpenMP");
#endif
    tcase_add_test(tests, the_same_bits_on_every_instruction_set);
    tcase_add_test(tests, memory_does_not_hold_tokens);
    tcase_add_test(tests, the_structure_decides);
    tcase_add_test(tests, other_structures_do_not_fit);
}

int main(void) {
    say_missing_instruction_sets();
    ts_parallel_cutoff = 1000; /* small work meets threads */
    return run_variant_tests("streamed layer", add_tests);
}
