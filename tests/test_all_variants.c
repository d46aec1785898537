/* What holds for all variants: their constructions as weights, settings, empty clusters, ends, threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/parallel.h"
#include "../autograd/rng.h"
#include "../models/run/transformer.h"
#include "variant_runs.h"

/* ---- constructions ----------------------------------------------------------------------------------------------- */

static void expect_matrix(const ts_transformer *model, const char *name, size_t count, const ts_real *expected) {
    const int at = ts_params_find(model->params, name);
    ck_assert_msg(at >= 0, "%s", name);
    const ts_shape *shape = ts_params_shape(model->params, at);
    ck_assert_msg(ts_shape_size(shape) == (int64_t)count, "%s has %lld entries", name, (long long)ts_shape_size(shape));
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(ts_params_value(model->params, at)[i] == expected[i], "%s[%zu] is %g", name, i,
                      (double)ts_params_value(model->params, at)[i]);
}

/* Tokens [x1 x2 | e_j | ||x||^2 | 1]; theorem 2.2. */
START_TEST(weights_of_dot_products) {
    const ts_settings s = settings_of("lloyd", "dot", 0);
    const ts_definition definition = define("lloyd", &s);
    ts_transformer model;
    ck_assert_int_eq(ts_transformer_build(&model, &definition, 2, 2, 0, &error), TS_OK);
    ck_assert_int_eq(model.e, 6);
    ts_real query[36] = {[0] = 2, [7] = 2, [5 * 6 + 4] = -1}; /* q = [2 x, -1] against k = [c, ||c||^2] */
    ts_real in[24] = {[0] = 1, [2] = -1, [5] = 1, [7] = -1}, out[24] = {[4] = 1, [10] = 1, [16] = 1, [22] = 1};
    expect_matrix(&model, "cross_points.query.weight", 36, query);
    expect_matrix(&model, "cross_points.key.weight", 6, (ts_real[]){1, 1, 0, 0, 1, 0});
    expect_matrix(&model, "cross_points.value.weight", 6, (ts_real[]){0, 0, 1, 1, 0, 0});
    expect_matrix(&model, "self_points.value.weight", 6, (ts_real[]){0, 0, -1, -1, 0, 0});
    expect_matrix(&model, "cross_centers.query.weight", 6, (ts_real[]){0, 0, 1, 1, 0, 0});
    expect_matrix(&model, "cross_centers.key.weight", 6, (ts_real[]){0, 0, 1, 1, 0, 0});
    expect_matrix(&model, "cross_centers.value.weight", 6, (ts_real[]){1, 1, 0, 0, 0, 0});
    expect_matrix(&model, "self_centers.value.weight", 6, (ts_real[]){-1, -1, 0, 0, -1, 0});
    expect_matrix(&model, "feed_forward.in.weight", 24, in);
    expect_matrix(&model, "feed_forward.out.weight", 24, out);
    ck_assert(model.cross_points.spec.score == TS_SCORE_DOT && model.cross_centers.spec.score == TS_SCORE_DOT);
    ts_transformer_clear(&model);
}
END_TEST

/* The coordinate that holds ||c||^2 is right again after every step, the constant stays 1, the code stays the code. */
START_TEST(norms_of_centres_are_kept) {
    enum { N = 30, D = 3, K = 4, E = D + K + 2 };
    const ts_settings s = settings_of("lloyd", "dot", 0);
    const ts_definition definition = define("lloyd", &s);
    ts_real x[N * D], points[N * E], centers[K * E];
    ts_transformer model;
    fill_blobs(N, D, K, 3, test_seed(), x);
    ck_assert_int_eq(ts_transformer_build(&model, &definition, D, K, 0, &error), TS_OK);
    ck_assert_int_eq(model.e, E);
    ts_transformer_embed(&model, N, x, NULL, points);
    ts_transformer_embed(&model, K, x, model.book, centers);
    for (uint32_t t = 1; t <= 4; t++) {
        ts_tape *tape = ts_tape_create(TS_INFER);
        ts_tensor *px = ts_borrow(tape, TS_SHAPE(N, E), points), *pc = ts_borrow(tape, TS_SHAPE(K, E), centers);
        px = ts_transformer_assign(&model, tape, px, pc, t);
        pc = ts_transformer_update(&model, tape, px, pc, t);
        ck_assert_msg(ts_tape_status(tape) == TS_OK, "%s", ts_tape_error(tape));
        memcpy(points, px->data, sizeof points);
        memcpy(centers, pc->data, sizeof centers);
        ts_tape_free(tape);
        for (int j = 0; j < K; j++) {
            const ts_real *c = centers + j * E;
            const double norm = pow(length_of(D, c), 2);
            ck_assert(near((double)c[D + K], norm, 4 * EPS) && c[D + K + 1] == 1);
            for (int l = 0; l < K; l++) ck_assert(c[D + l] == (l == j));
        }
    }
    ts_transformer_clear(&model);
}
END_TEST

START_TEST(widths_of_binary_tokens) {
    const int64_t width[][2] = {{1, 1}, {2, 1}, {3, 2}, {6, 3}, {8, 3}, {9, 4}};
    const ts_settings s = settings_of("lloyd", "binary", 0);
    const ts_definition definition = define("lloyd", &s);
    for (size_t i = 0; i < sizeof width / sizeof *width; i++) {
        ts_transformer model;
        ck_assert_int_eq(ts_transformer_build(&model, &definition, 5, width[i][0], 0, &error), TS_OK);
        ck_assert_int_eq(model.e, 5 + width[i][1]);
        ts_transformer_clear(&model);
    }
}
END_TEST

/* Rows of weights: of sum 1; exactly one-hot where the assignment is exact; zero where a point was left out. */
static void expect_weights(const setting *s, const ts_problem *p) {
    ts_runner *runner = runner_of(s->variant->name, &s->settings, p);
    ts_real *w = malloc((size_t)(p->n * p->k) * sizeof *w);
    for (int t = 0; t < 3; t++) step(runner);
    const ts_clustering *state = finish(runner);
    const bool hard =
        s->variant->assign == &ts_argmax_map && (s->variant->gamma == TS_GAMMA_UPDATE || !isfinite(s->settings.gamma));
    int64_t left_out = 0;
    ck_assert_int_eq(ts_runner_weights(runner, w, &error), TS_OK);
    for (int64_t i = 0; i < p->n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < p->k; j++) {
            const ts_real weight = w[i * p->k + j];
            sum += (double)weight;
            if (hard) ck_assert(weight == (j == state->labels[i]));
        }
        left_out += state->labels[i] < 0;
        ck_assert_msg(near(sum, state->labels[i] < 0 ? 0 : 1, 4 * EPS), "%s %s: row %lld: %.9g", s->variant->name,
                      s->settings.construction, (long long)i, sum);
    }
    ck_assert_int_eq(left_out, state->trimmed);
    if (s->settings.trim > 0) ck_assert_int_gt(left_out, 0);
    const int64_t onehot = ts_runner_onehot_rows(runner);
    if (strcmp(s->settings.construction, "binary") == 0)
        ck_assert_int_eq(onehot, -1);
    else if (hard)
        ck_assert_int_eq(onehot, p->n);
    ts_runner_free(runner);
    free(w);
}

START_TEST(weights_are_shares) {
    enum { N = 60, D = 2, K = 5 };
    ts_real x[N * D];
    setting list[MOST_SETTINGS];
    for (int data = 0; data < 2; data++) {
        if (data == 0) fill_blobs(N, D, 3, 8, test_seed(), x);
        if (data == 1) fill_duplicates(N, D, test_seed(), x);
        const ts_problem p = {.n = N, .d = D, .k = K, .points = x, .centers = x, .seed = 7};
        const int count = all_settings(&p, list);
        for (int i = 0; i < count; i++) expect_weights(&list[i], &p);
    }
}
END_TEST

/* ---- settings ---------------------------------------------------------------------------------------------------- */

static void expect_refusal(const char *name, ts_settings s, const char *text) {
    ts_definition definition;
    error = (ts_error){.status = TS_OK};
    ck_assert_int_ne(ts_variant_define(variant(name), &s, &definition, &error), TS_OK);
    ck_assert_str_eq(error.text, text);
}

START_TEST(settings_are_refused_by_name) {
    ts_settings s = settings_of("soft", "binary", 1);
    expect_refusal("soft", s, "soft has no construction binary, only onehot|dot");
    s.construction = "one";
    expect_refusal("soft", s, "soft has no construction one, only onehot|dot");
    s.construction = "none";
    expect_refusal("lloyd", s, "lloyd has no construction none, only onehot|binary|dot");
    expect_refusal("fuzzy", settings_of("fuzzy", "dot", 0), "fuzzy has no construction dot, only onehot");
    expect_refusal("soft", settings_of("soft", "onehot", INFINITY), "soft needs a gamma above 0 and finite, not inf");
    expect_refusal("robust", settings_of("robust", "onehot", 0), "robust needs a gamma above 0 and finite, not 0");
    expect_refusal("trimmed", settings_of("trimmed", "onehot", 0), "trimmed needs a gamma above 0 and finite, not 0");
    s = settings_of("lloyd", "onehot", 0);
    s.gamma = -1;
    expect_refusal("lloyd", s, "lloyd needs a gamma above 0, not -1");
    s.gamma = NAN;
    expect_refusal("lloyd", s, "lloyd needs a gamma above 0, not nan");
    expect_refusal("fuzzy", settings_of("fuzzy", "onehot", 2), "fuzzy has no gamma");
    s = settings_of("robust", "onehot", 1);
    s.trim = 0.1;
    expect_refusal("robust", s, "robust trims nothing");
    const char *const ties = "ties are shared only by exact lloyd with one-hot codes";
    s = settings_of("lloyd", "binary", 0);
    s.share_ties = true;
    expect_refusal("lloyd", s, ties);
    s = settings_of("lloyd", "onehot", 3);
    s.share_ties = true;
    expect_refusal("lloyd", s, ties);
    s = settings_of("spherical", "onehot", 0);
    s.share_ties = true;
    expect_refusal("spherical", s, ties);
    s = settings_of("trimmed", "onehot", 1);
    s.share_ties = true;
    expect_refusal("trimmed", s, ties);
}
END_TEST

/* Parameters of the maps: by the definition's check, as the map says them. */
static void expect_map_refusal(const char *name, const ts_settings *s, const char *text) {
    const ts_definition definition = define(name, s);
    error = (ts_error){.status = TS_OK};
    ck_assert_int_ne(ts_definition_check(&definition, 2, 3, &error), TS_OK);
    ck_assert_str_eq(error.text, text);
}

START_TEST(parameters_are_refused_by_name) {
    ts_settings s = settings_of("trimmed", "onehot", 0);
    s.trim = 1;
    expect_map_refusal("trimmed", &s, "cross_centers: top-m: the trimmed share F must be >= 0 and < 1, not 1");
    s.trim = 1.5;
    expect_map_refusal("trimmed", &s, "cross_centers: top-m: the trimmed share F must be >= 0 and < 1, not 1.5");
    s.trim = INFINITY;
    expect_map_refusal("trimmed", &s, "cross_centers: top-m: the trimmed share F must be >= 0 and < 1, not inf");
    s = settings_of("fuzzy", "onehot", 0);
    s.fuzziness = 1;
    expect_map_refusal("fuzzy", &s, "cross_points: fuzzy: the fuzzifier m must be > 1 and finite, not 1");
    s = settings_of("normmax", "onehot", 1);
    s.alpha = 1;
    expect_map_refusal("normmax", &s, "cross_centers: normmax: alpha must be > 1 and finite, not 1");
    s.alpha = INFINITY;
    expect_map_refusal("normmax", &s, "cross_centers: normmax: alpha must be > 1 and finite, not inf");
}
END_TEST

/* d / (2 v) and k / (16 n v), v the median squared distance to the nearest centre, else the mean, else 1. */
START_TEST(gamma_of_the_data) {
    const ts_real x[] = {0, 0, 0, 1, 0, 2, 10, 3, 10, 0}, c[] = {0, 0, 10, 0}; /* squared distances 0 1 4 9 0 */
    const ts_problem p = PROBLEM(2, x, c);
    ck_assert_double_eq_tol(ts_variant_gamma(variant("soft"), &p), 2 / (2 * 1.0), 1e-15);
    ck_assert_double_eq_tol(ts_variant_gamma(variant("kmedoids"), &p), 2 / (2 * 1.0), 1e-15);
    ck_assert_double_eq_tol(ts_variant_gamma(variant("trimmed"), &p), 2 / (16 * 5 * 1.0), 1e-15);
    ck_assert_double_eq_tol(ts_variant_gamma(variant("robust"), &p), 2 / (16 * 5 * 1.0), 1e-15);
    const ts_problem even = {.n = 4, .d = 2, .k = 2, .points = x, .centers = c}; /* 0 1 4 9: between 1 and 4 */
    ck_assert_double_eq_tol(ts_variant_gamma(variant("soft"), &even), 2 / (2 * 2.5), 1e-15);
    ck_assert_double_eq_tol(ts_variant_gamma(variant("trimmed"), &even), 2 / (16 * 4 * 2.5), 1e-15);
    const ts_real most[] = {0, 0, 0, 0, 0, 0, 10, 3, 10, 0}; /* median 0, mean 9/5 */
    const ts_problem q = PROBLEM(2, most, c), r = {.n = 2, .d = 2, .k = 1, .points = most, .centers = most};
    ck_assert_double_eq_tol(ts_variant_gamma(variant("soft"), &q), 2 / (2 * 1.8), 1e-12);
    ck_assert_double_eq_tol(ts_variant_gamma(variant("entmax"), &q), 2 / (16 * 5 * 1.8), 1e-12);
    ck_assert_double_eq_tol(ts_variant_gamma(variant("soft"), &r), 1, 1e-15); /* all on centres: v = 1 */
    ck_assert_double_eq_tol(ts_variant_gamma(variant("normmax"), &r), 1 / 32.0, 1e-15);
    ts_settings s = ts_variant_settings(variant("trimmed"));
    ck_assert(ts_variant_chooses_gamma(variant("trimmed"), &s));
    s.trim = 0;
    ck_assert(!ts_variant_chooses_gamma(variant("trimmed"), &s)); /* only the order of distances counts */
    s.trim = -1, s.gamma = 3;
    ck_assert(!ts_variant_chooses_gamma(variant("trimmed"), &s));
    s = ts_variant_settings(variant("lloyd"));
    ck_assert(!ts_variant_chooses_gamma(variant("lloyd"), &s));
}
END_TEST

/* ---- what holds for all of them ---------------------------------------------------------------------------------- */

#if defined _OPENMP && !defined TS_DOUBLE /* one precision is enough: the sums are the same code */
enum { MANY = 4500, MANY_D = 3, MANY_K = 5 };

/* Everything a run gives, after a step. */
static void run_once(const setting *s, const ts_problem *p, ts_real *centers, int64_t *labels, ts_real *weights) {
    ts_runner *runner = runner_of(s->variant->name, &s->settings, p);
    step(runner);
    const ts_clustering *state = finish(runner);
    memcpy(centers, state->centers, MANY_K * MANY_D * sizeof *centers);
    memcpy(labels, state->labels, MANY * sizeof *labels);
    ck_assert_int_eq(ts_runner_weights(runner, weights, &error), TS_OK);
    ts_runner_free(runner);
}

START_TEST(the_same_bits_on_any_number_of_threads) {
    static ts_real x[MANY * MANY_D], centers[2][MANY_K * MANY_D], weights[2][MANY * MANY_K];
    static int64_t labels[2][MANY];
    setting list[MOST_SETTINGS];
    const int before = omp_get_max_threads();
    fill_blobs(MANY, MANY_D, 3, 14, test_seed(), x);
    const ts_problem p = {.n = MANY, .d = MANY_D, .k = MANY_K, .points = x, .centers = x, .seed = test_seed()};
    const int count = all_settings(&p, list);
    for (int i = 0; i < count; i++)
        for (int t = 0; t < 3; t++) {
            const int now = t == 0 ? 0 : 1;
            omp_set_num_threads((int[]){1, 2, 8}[t]);
            if (ts_variant_chooses_gamma(list[i].variant, &list[i].settings))
                ck_assert(list[i].settings.gamma == ts_variant_gamma(list[i].variant, &p));
            run_once(&list[i], &p, centers[now], labels[now], weights[now]);
            if (t == 0) continue;
            ck_assert_mem_eq(centers[0], centers[1], sizeof *centers);
            ck_assert_mem_eq(labels[0], labels[1], sizeof *labels);
            ck_assert_mem_eq(weights[0], weights[1], sizeof *weights);
        }
    omp_set_num_threads(before);
}
END_TEST
#endif

/* Centre 1 is on the far side of everything: nothing is assigned to it. */
static const ts_real quarter[] = {1, 2, 2, 1, 3, 3, 4, 1, 1, 4, 5, 5}, two_starts[] = {1, 1, -9, -8};

/* Can the cluster be without any point? Soft shares reach everywhere, and a medoid is a point of its own. */
static bool may_empty(const setting *s) {
    const bool soft = s->variant->gamma != TS_GAMMA_UPDATE && isfinite(s->settings.gamma);
    return !soft && !s->variant->medoids && s->variant->assign != &ts_fuzzy_map;
}

START_TEST(empty_clusters_in_every_variant) {
    setting list[MOST_SETTINGS];
    ts_problem p = PROBLEM(2, quarter, two_starts);
    const int count = all_settings(&p, list);
    for (int i = 0; i < 4 * count; i++) {
        const setting *s = &list[i / 4];
        p.empty = (ts_empty_policy)(i % 4);
        p.seed = test_seed() + (uint64_t)i;
        ts_runner *runner = runner_of(s->variant->name, &s->settings, &p);
        if (p.empty == TS_EMPTY_ERROR && may_empty(s)) {
            error = (ts_error){.status = TS_OK};
            ck_assert_int_ne(ts_runner_step(runner, &error), TS_OK);
            ck_assert_str_eq(error.text, "cluster 1 is empty at step 1");
            error = (ts_error){.status = TS_OK};
        } else {
            for (int t = 0; t < 8; t++) expect_sane(s, &p, step(runner));
            const int64_t repairs = ts_runner_state(runner)->empty_repairs;
            if (may_empty(s)) ck_assert((repairs > 0) == (p.empty != TS_EMPTY_KEEP));
            if (p.empty == TS_EMPTY_KEEP) ck_assert_int_eq(repairs, 0);
            expect_sane(s, &p, finish(runner));
        }
        ts_runner_free(runner);
    }
}
END_TEST

/* What the policies do, in numbers, in every construction of Lloyd's algorithm. */
START_TEST(empty_clusters_in_every_construction) {
    const ts_real x[] = {1, 2, 3, 10}, c[] = {2, 50};
    for (int construction = 0; construction < 3; construction++)
        for (int policy = 0; policy < 3; policy++) {
            ts_problem p = PROBLEM(1, x, c);
            p.empty = (ts_empty_policy)policy;
            p.seed = test_seed();
            const ts_settings s = settings_of("lloyd", (const char *[]){"onehot", "binary", "dot"}[construction], 0);
            ts_runner *runner = runner_of("lloyd", &s, &p);
            ts_plain *plain = plain_of("lloyd", &s, &p);
            for (int t = 0; t < 4; t++) {
                ck_assert_int_eq(ts_plain_step(plain, &error), TS_OK);
                const ts_clustering *a = step(runner), *b = ts_plain_state(plain);
                ck_assert_mem_eq(a->labels, b->labels, 4 * sizeof(int64_t));
                for (int j = 0; j < 2; j++) ck_assert(near((double)a->centers[j], (double)b->centers[j], 2 * EPS));
                ck_assert_int_eq(a->empty_repairs, b->empty_repairs);
                if (t > 0) continue;
                ck_assert(a->centers[0] == 4);
                if (policy == TS_EMPTY_KEEP) ck_assert(a->centers[1] == 50);
                if (policy == TS_EMPTY_FARTHEST) ck_assert(a->centers[1] == 10);
                ck_assert_int_eq(a->empty_repairs, policy != TS_EMPTY_KEEP);
            }
            ts_runner_free(runner);
            ts_plain_free(plain);
        }
}
END_TEST

/* Runner and plain algorithm until the runner has converged, each on its own; labels equal at every step. */
static void expect_the_same_run(const setting *s, const ts_problem *p, int steps, double tolerance) {
    ts_runner *runner = runner_of(s->variant->name, &s->settings, p);
    ts_plain *plain = plain_of(s->variant->name, &s->settings, p);
    const ts_clustering *a = ts_runner_state(runner), *b = ts_plain_state(plain);
    for (int t = 0; t < steps && !a->converged; t++) {
        step(runner);
        ck_assert_int_eq(ts_plain_step(plain, &error), TS_OK);
        expect_sane(s, p, a);
        for (int64_t i = 0; i < p->n; i++)
            ck_assert_msg(a->labels[i] == b->labels[i], "%s %s n %lld k %lld, step %d, row %lld: %lld, plain %lld",
                          s->variant->name, s->settings.construction, (long long)p->n, (long long)p->k, t + 1,
                          (long long)i, (long long)a->labels[i], (long long)b->labels[i]);
        for (int64_t i = 0; i < p->k * p->d; i++)
            ck_assert_msg(near((double)a->centers[i], (double)b->centers[i], tolerance),
                          "%s %s, step %d: %.9g, plain %.9g", s->variant->name, s->settings.construction, t + 1,
                          (double)a->centers[i], (double)b->centers[i]);
        if (!isfinite(s->settings.gamma))
            ck_assert_msg(a->converged == b->converged, "%s %s n %lld k %lld, step %d: converged %d, plain %d",
                          s->variant->name, s->settings.construction, (long long)p->n, (long long)p->k, t + 1,
                          a->converged, b->converged);
    }
    ck_assert_msg(a->converged == !s->variant->medoids, "%s %s n %lld k %lld: %d after %lld steps", s->variant->name,
                  s->settings.construction, (long long)p->n, (long long)p->k, a->converged, (long long)a->steps);
    expect_sane(s, p, finish(runner));
    ts_runner_free(runner);
    ts_plain_free(plain);
}

START_TEST(one_cluster_and_as_many_as_points) {
    const ts_real line[] = {1, 2, 4, 8, 16}, middle[] = {3}, one[] = {7};
    const ts_real plane[] = {1, 2, 5, 1, 2, 9, 8, 8, 3, 3};
    const ts_problem problems[] = {
        PROBLEM(1, line, middle), PROBLEM(1, line, line),
        PROBLEM(1, one, one),     PROBLEM(1, one, middle),
        PROBLEM(2, plane, plane), {.n = 5, .d = 2, .k = 1, .points = plane, .centers = plane}};
    setting list[MOST_SETTINGS];
    for (int i = 0; i < (int)ROWS(problems); i++) {
        const int count = all_settings(&problems[i], list);
        for (int l = 0; l < count; l++) {
            /* on the unit sphere of one dimension many points are one */
            if (list[l].variant->unit_length && problems[i].d == 1 && problems[i].n > 1) continue;
            expect_the_same_run(&list[l], &problems[i], 1000, fmin(1e-4, 2000 * EPS));
        }
    }
}
END_TEST

START_TEST(well_separated_clusters_converge) {
    enum { N = 150, D = 3 };
    ts_real x[N * D];
    setting list[MOST_SETTINGS];
    for (uint64_t seed = test_seed(); seed < test_seed() + 3; seed++)
        for (int64_t k = 2; k <= 3; k++) {
            fill_blobs(N, D, k, 2, seed, x);
            const ts_problem p = {.n = N, .d = D, .k = k, .points = x, .centers = x, .seed = seed};
            const int count = all_settings(&p, list);
            for (int i = 0; i < count; i++) expect_the_same_run(&list[i], &p, 100, fmin(1e-4, 2000 * EPS));
        }
}
END_TEST

START_TEST(equal_points_converge) {
    ts_real x[36];
    setting list[MOST_SETTINGS];
    for (int i = 0; i < 36; i++) x[i] = (ts_real)0.1 * (ts_real)(1 + i % 3);
    const ts_problem p = {.n = 12, .d = 3, .k = 3, .points = x, .centers = x};
    const int count = all_settings(&p, list);
    for (int i = 0; i < count; i++) {
        ts_runner *runner = runner_of(list[i].variant->name, &list[i].settings, &p);
        for (int t = 0; t < 100 && !ts_runner_state(runner)->converged; t++) step(runner);
        ck_assert_msg(ts_runner_state(runner)->converged == !list[i].variant->medoids, "%s %s", list[i].variant->name,
                      list[i].settings.construction);
        expect_sane(&list[i], &p, finish(runner));
        ts_runner_free(runner);
    }
}
END_TEST

/* A first step has no step before it to repeat, though its codes be those with which points begin: binary code 0. All
 * points go to cluster 0, whose mean then leaves the point 49 to cluster 1. */
START_TEST(a_first_step_never_converges) {
    const ts_real x[] = {49, -100, -100, -100}, c[] = {0, 100};
    const ts_problem p = PROBLEM(1, x, c);
    for (int construction = 0; construction < 3; construction++) {
        const ts_settings s = settings_of("lloyd", (const char *[]){"onehot", "binary", "dot"}[construction], 0);
        ts_runner *runner = runner_of("lloyd", &s, &p);
        ck_assert_msg(!step(runner)->converged, "%s", s.construction);
        for (int t = 0; t < 10 && !ts_runner_state(runner)->converged; t++) step(runner);
        const ts_clustering *state = finish(runner);
        ck_assert_mem_eq(state->labels, ((int64_t[]){1, 0, 0, 0}), 4 * sizeof(int64_t));
        ck_assert_int_eq(state->steps, 3);
        ts_runner_free(runner);
    }
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, weights_of_dot_products);
    tcase_add_test(tests, norms_of_centres_are_kept);
    tcase_add_test(tests, widths_of_binary_tokens);
    tcase_add_test(tests, weights_are_shares);
    tcase_add_test(tests, settings_are_refused_by_name);
    tcase_add_test(tests, parameters_are_refused_by_name);
    tcase_add_test(tests, gamma_of_the_data);
#if defined _OPENMP && !defined TS_DOUBLE
    tcase_add_test(tests, the_same_bits_on_any_number_of_threads);
#elif !defined TS_DOUBLE
    say_skipped("the_same_bits_on_any_number_of_threads", "no OpenMP");
#endif
    tcase_add_test(tests, empty_clusters_in_every_variant);
    tcase_add_test(tests, empty_clusters_in_every_construction);
    tcase_add_test(tests, one_cluster_and_as_many_as_points);
    tcase_add_test(tests, well_separated_clusters_converge);
    tcase_add_test(tests, equal_points_converge);
    tcase_add_test(tests, a_first_step_never_converges);
}

int main(void) {
    ts_parallel_cutoff = 1000; /* small work meets threads */
    return run_variant_tests("all variants", add_tests);
}
