/* The variants on examples small enough to work out by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../autograd/rng.h"
#include "../models/run/transformer.h"
#include "variant_runs.h"

/* ---- spherical k-means ------------------------------------------------------------------------------------------- */

static double cosine_cost(const ts_problem *p, const ts_clustering *state) {
    double cost = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const ts_real *x = p->points + i * p->d, *c = state->centers + state->labels[i] * p->d;
        double xc = 0, xx = 0, cc = 0;
        for (int64_t a = 0; a < p->d; a++) {
            xc += (double)x[a] * (double)c[a];
            xx += (double)x[a] * (double)x[a];
            cc += (double)c[a] * (double)c[a];
        }
        cost += 1 - xc / sqrt(xx * cc);
    }
    return cost;
}

START_TEST(spherical_splits_by_direction) {
    const ts_real x[] = {1, 0, 10, 0, 0, 1, 0, 10}, c[] = {1, 0, 0, 1};
    const ts_problem p = PROBLEM(2, x, c);
    for (int construction = 0; construction < 2; construction++) {
        const ts_settings s = settings_of("spherical", ts_construction_names[construction], 0);
        ts_runner *runner = runner_of("spherical", &s, &p);
        for (int t = 0; t < 10 && !step(runner)->converged; t++) continue;
        const ts_clustering *state = finish(runner);
        ck_assert(state->converged);
        ck_assert_mem_eq(state->labels, ((int64_t[]){0, 0, 1, 1}), 4 * sizeof(int64_t));
        for (int i = 0; i < 4; i++) ck_assert(near((double)state->centers[i], (double)c[i], 2 * EPS));
        ck_assert(fabs(cosine_cost(&p, state)) <= 4 * DBL_EPSILON);
        ts_runner_free(runner);
    }
}
END_TEST

/* The cost is a distance to be made small, and never rises; the centres are unit vectors. */
START_TEST(spherical_never_rises) {
    enum { N = 120, D = 3, K = 5 };
    ts_real x[N * D];
    for (uint64_t seed = 0; seed < 20; seed++) {
        const ts_rng rng = {test_seed() + seed, ts_rng_stream("directions"), 0};
        for (int i = 0; i < N * D; i++) x[i] = (ts_real)(100 * ts_rng_normal(rng, (uint64_t)i));
        const ts_problem p = {.n = N, .d = D, .k = K, .points = x, .centers = x};
        const ts_settings s = settings_of("spherical", seed % 2 ? "binary" : "onehot", 0);
        ts_runner *runner = runner_of("spherical", &s, &p);
        double last = INFINITY;
        for (int t = 0; t < 15; t++) {
            const ts_clustering *state = step(runner);
            const double cost = cosine_cost(&p, state);
            ck_assert_msg(cost <= last + 100 * N * EPS, "%.9g after %.9g", cost, last);
            last = cost;
            for (int j = 0; j < K; j++) ck_assert(near(length_of(D, state->centers + j * D), 1, 4 * EPS));
        }
        ts_runner_free(runner);
    }
}
END_TEST

START_TEST(no_direction_is_an_error_by_name) {
    const ts_real x[] = {1, 0, 0, 1, 0, 0, 2, 2}, good[] = {1, 0, 0, 1}, bad[] = {1, 0, 0, 0};
    for (int construction = 0; construction < 2; construction++)
        for (int i = 0; i < 2; i++) {
            const ts_settings s = settings_of("spherical", ts_construction_names[construction], 0);
            const ts_definition definition = define("spherical", &s);
            ts_problem p = PROBLEM(2, x, good);
            if (i == 1) p.n = 2, p.centers = bad;
            const char *text =
                i == 0 ? "row 3 is zero: it has no direction" : "initial centre 2 is zero: it has no direction";
            error = (ts_error){.status = TS_OK};
            ck_assert_ptr_null(ts_runner_create(&definition, &p, &error));
            ck_assert_str_eq(error.text, text);
            error = (ts_error){.status = TS_OK};
            ck_assert_ptr_null(ts_plain_create(&ts_plain_spherical, &s, &p, &error));
            ck_assert_str_eq(error.text, text);
        }
}
END_TEST

/* One cluster of `ways` directions, evenly around the circle, each `copies` times: its mean is nothing, or the rounding
 * noise of the directions. */
static void expect_kept_centre(int ways, int copies, double turn, int d) {
    static ts_real x[3 * 60 * 3];
    const int n = ways * copies;
    memset(x, 0, sizeof x);
    for (int i = 0; i < n; i++) {
        const double angle = turn + 2 * acos(-1) * (i % ways) / ways;
        x[i * d] = (ts_real)cos(angle);
        x[i * d + 1] = (ts_real)sin(angle);
    }
    const ts_real c[] = {(ts_real)0.6, (ts_real)0.8, 0};
    const ts_problem p = {.n = n, .d = d, .k = 1, .points = x, .centers = c};
    for (int construction = 0; construction < 2; construction++) {
        const ts_settings s = settings_of("spherical", ts_construction_names[construction], 0);
        ts_runner *runner = runner_of("spherical", &s, &p);
        ts_plain *plain = plain_of("spherical", &s, &p);
        for (int t = 0; t < 3; t++) {
            ck_assert_int_eq(ts_plain_step(plain, &error), TS_OK);
            const ts_clustering *states[] = {step(runner), ts_plain_state(plain)};
            for (int i = 0; i < 2; i++)
                for (int a = 0; a < d; a++)
                    ck_assert_msg(near((double)states[i]->centers[a], (double)c[a], 2 * EPS),
                                  "%d ways, %d copies, turn %g, d %d, %s: %g", ways, copies, turn, d,
                                  i == 0 ? "circuit" : "plain", (double)states[i]->centers[a]);
        }
        ts_runner_free(runner);
        ts_plain_free(plain);
    }
}

START_TEST(a_vanished_mean_keeps_its_centre) {
    const int copies[] = {1, 2, 3, 7, 20, 33, 60};
    for (int ways = 2; ways <= 3; ways++)
        for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
            for (int d = 2; d <= 3; d++)
                for (int turn = 0; turn < 5; turn++) expect_kept_centre(ways, copies[i], 0.37 * turn, d);
}
END_TEST

/* A mean that is short, but no noise, has a direction, and its centre length 1. */
START_TEST(a_short_mean_has_a_direction) {
    const double lengths[] = {0.1, 1e-2, 1e-3, 1e-4, 3e-5, 1e-5, 2e-6};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const ts_real x[] = {1, 0, -1, (ts_real)(2 * lengths[i])}, c[] = {1, 0};
        const ts_problem p = PROBLEM(2, x, c);
        const ts_settings s = settings_of("spherical", "onehot", 0);
        ts_runner *runner = runner_of("spherical", &s, &p);
        ts_plain *plain = plain_of("spherical", &s, &p);
        ck_assert_int_eq(ts_plain_step(plain, &error), TS_OK);
        const ts_real *a = step(runner)->centers, *b = ts_plain_state(plain)->centers;
        ck_assert_msg(near(length_of(2, a), 1, 4 * EPS), "mean %g: length %.9g", lengths[i], length_of(2, a));
        for (int l = 0; l < 2; l++)
            ck_assert_msg(near((double)a[l], (double)b[l], 4 * EPS + EPS / lengths[i]), "mean %g: %.9g, plain %.9g",
                          lengths[i], (double)a[l], (double)b[l]);
        ts_runner_free(runner);
        ts_plain_free(plain);
    }
}
END_TEST

/* ---- k-medoids --------------------------------------------------------------------------------------------------- */

static double medoid_cost(const ts_problem *p, const int64_t *medoids) {
    double cost = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double least = INFINITY;
        for (int64_t j = 0; j < p->k; j++) {
            double sum = 0;
            for (int64_t a = 0; a < p->d; a++)
                sum += pow((double)p->points[i * p->d + a] - (double)p->points[medoids[j] * p->d + a], 2);
            least = fmin(least, sqrt(sum));
        }
        cost += least;
    }
    return cost;
}

/* Medoids are different rows, centres are those rows to the bit, and a medoid belongs to its own cluster. */
static void expect_medoids(const ts_problem *p, const ts_clustering *state) {
    for (int64_t j = 0; j < p->k; j++) {
        const int64_t row = state->medoids[j];
        ck_assert(row >= 0 && row < p->n);
        ck_assert_int_eq(state->labels[row], j);
        ck_assert_mem_eq(state->centers + j * p->d, p->points + row * p->d, (size_t)p->d * sizeof(ts_real));
        for (int64_t l = 0; l < j; l++) ck_assert_int_ne(state->medoids[l], row);
    }
}

START_TEST(medoids_of_equal_rows_are_distinct) {
    const ts_real x[] = {1, 1, 1}, c[] = {1, 1};
    const ts_problem p = PROBLEM(1, x, c);
    for (int construction = 0; construction < 2; construction++) {
        const ts_settings s = settings_of("kmedoids", ts_construction_names[construction], 1);
        ts_runner *runner = runner_of("kmedoids", &s, &p);
        for (int t = 0; t < 30; t++) {
            expect_medoids(&p, step(runner));
            ck_assert(!ts_runner_state(runner)->converged);
        }
        expect_medoids(&p, finish(runner));
        ck_assert(medoid_cost(&p, ts_runner_state(runner)->medoids) == 0);
        ts_runner_free(runner);
    }
}
END_TEST

/* Rows 1 and 2 both cost 101; the lower is left, wherever the walk ends. */
START_TEST(the_cheapest_medoid_met_is_left) {
    const ts_real x[] = {0, 1, 2, 100}, starts[] = {0, 100};
    for (uint64_t seed = 0; seed < 40; seed++) {
        ts_problem p = {.n = 4, .d = 1, .k = 1, .points = x, .centers = starts + seed % 2, .seed = test_seed() + seed};
        const ts_settings s = settings_of("kmedoids", seed % 4 < 2 ? "onehot" : "binary", 1e-4);
        ts_runner *runner = runner_of("kmedoids", &s, &p);
        for (int t = 0; t < 100; t++) step(runner);
        const ts_clustering *state = finish(runner);
        ck_assert_int_eq(state->medoids[0], 1);
        ck_assert(state->centers[0] == 1 && medoid_cost(&p, state->medoids) == 101);
        ts_runner_free(runner);
    }
}
END_TEST

START_TEST(medoids_on_duplicates) {
    enum { N = 40, D = 2, K = 9 };
    ts_real x[N * D];
    for (uint64_t seed = test_seed(); seed < test_seed() + 30; seed++) {
        fill_duplicates(N, D, seed, x);
        x[D] = 0, x[2 * D] = (ts_real)-0.0; /* equal rows with different bits */
        x[D + 1] = x[2 * D + 1] = 1;
        const ts_problem p = {.n = N, .d = D, .k = K, .points = x, .centers = x, .seed = seed};
        const ts_settings s = settings_of("kmedoids", seed % 2 ? "onehot" : "binary", 0.5);
        ts_runner *runner = runner_of("kmedoids", &s, &p);
        const ts_clustering *state = ts_runner_state(runner);
        double least = medoid_cost(&p, state->medoids);
        for (int t = 0; t < 40; t++) {
            int64_t before[K];
            memcpy(before, state->medoids, sizeof before);
            step(runner);
            for (int j = 0; j < K; j++) /* labels of a step are those of the medoids before it */
                ck_assert_int_eq(state->labels[before[j]], j);
            least = fmin(least, medoid_cost(&p, state->medoids));
            for (int j = 0; j < K; j++) {
                ck_assert_int_eq(state->labels[state->medoids[j]], j);
                ck_assert_mem_eq(state->centers + j * D, x + state->medoids[j] * D, D * sizeof *x);
                for (int l = 0; l < j; l++) ck_assert_int_ne(state->medoids[l], state->medoids[j]);
            }
        }
        expect_medoids(&p, finish(runner));
        ck_assert(near(medoid_cost(&p, state->medoids), least, 1e-12));
        ts_runner_free(runner);
    }
}
END_TEST

/* One step from two medoids draws each new one with probability softmax_i(-gamma d_i^2), the two independently: 12
 * cells, 11 degrees of freedom, of which chi-square passes 50 once in 1.6 million. */
START_TEST(draws_of_medoids_follow_the_softmax) {
    enum { A = 3, B = 4, DRAWS = 24000 };
    const ts_real x[] = {0, 1, 2, 100, 101, 102, 103}, c[] = {0, 101};
    const double gamma = 0.25, d2[] = {0, 1, 4, 1, 0, 1, 4};
    const ts_settings s = settings_of("kmedoids", "onehot", gamma);
    double count[A][B] = {{0}}, mass[2] = {0}, chi = 0;
    for (int i = 0; i < DRAWS; i++) {
        ts_problem p = PROBLEM(1, x, c);
        p.seed = test_seed() + (uint64_t)i;
        ts_runner *runner = runner_of("kmedoids", &s, &p);
        const int64_t *medoids = step(runner)->medoids;
        ck_assert(medoids[0] < A && medoids[1] >= A);
        count[medoids[0]][medoids[1] - A]++;
        ts_runner_free(runner);
    }
    for (int i = 0; i < A + B; i++) mass[i >= A] += exp(-gamma * d2[i]);
    for (int a = 0; a < A; a++)
        for (int b = 0; b < B; b++) {
            const double expected = DRAWS * exp(-gamma * (d2[a] + d2[A + b])) / (mass[0] * mass[1]);
            chi += (count[a][b] - expected) * (count[a][b] - expected) / expected;
        }
    ck_assert_msg(chi < 50, "chi-square %g", chi);
}
END_TEST

START_TEST(initial_centres_snap_to_rows) {
    /* Rows 1 and 2 are equal: the lower goes first. The last centre finds its nearest rows taken. */
    const ts_real x[] = {0, 5, 5, 9}, c[] = {(ts_real)5.4, 5, (ts_real)5.1};
    const ts_problem p = PROBLEM(1, x, c);
    const ts_settings s = settings_of("kmedoids", "onehot", 1);
    ts_runner *runner = runner_of("kmedoids", &s, &p);
    ts_plain *plain = plain_of("kmedoids", &s, &p);
    ck_assert_mem_eq(ts_runner_state(runner)->medoids, ((int64_t[]){1, 2, 3}), 3 * sizeof(int64_t));
    ck_assert_mem_eq(ts_plain_state(plain)->medoids, ((int64_t[]){1, 2, 3}), 3 * sizeof(int64_t));
    ck_assert_mem_eq(ts_runner_state(runner)->centers, ((ts_real[]){5, 5, 9}), 3 * sizeof(ts_real));
    ts_runner_free(runner);
    ts_plain_free(plain);
}
END_TEST

/* ---- trimming ---------------------------------------------------------------------------------------------------- */

START_TEST(trimming_a_share_rounds_as_meant) {
    ts_real x[100];
    const ts_real c[] = {0};
    for (int i = 0; i < 100; i++) x[i] = (ts_real)(i * 37 % 100) + 1;
    const ts_problem p = PROBLEM(1, x, c);
    for (int construction = 0; construction < 2; construction++) {
        ts_settings s = settings_of("trimmed", ts_construction_names[construction], 0);
        s.trim = 0.29; /* 0.29 x 100 is 28.999999999999996 */
        ts_runner *runner = runner_of("trimmed", &s, &p);
        ck_assert(near((double)step(runner)->centers[0], 36, 1e-6)); /* the mean of 1 .. 71 */
        const ts_clustering *state = finish(runner);
        int64_t left = 0;
        for (int i = 0; i < 100; i++) {
            left += state->labels[i] == -1;
            /* around 36, 71 rows: 1 .. 71 */
            ck_assert_int_eq(state->labels[i], x[i] <= 71 ? 0 : -1);
        }
        ck_assert(left == 29 && state->trimmed == 29);
        ts_runner_free(runner);
    }
}
END_TEST

START_TEST(trimming_nothing_is_lloyd) {
    enum { N = 90, D = 2, K = 6 };
    ts_real x[N * D];
    for (uint64_t seed = test_seed(); seed < test_seed() + 12; seed++) {
        fill_blobs(N, D, 3, 12, seed, x);
        const ts_problem p = {.n = N, .d = D, .k = K, .points = x, .centers = x, .seed = seed};
        ts_settings s = settings_of("trimmed", seed % 2 ? "onehot" : "binary", 0);
        const ts_settings lloyd = settings_of("lloyd", "onehot", 0);
        s.trim = 0;
        ts_runner *runner = runner_of("trimmed", &s, &p);
        ts_plain *plain = plain_of("lloyd", &lloyd, &p);
        for (int t = 0; t < 12; t++) {
            ck_assert_int_eq(ts_plain_step(plain, &error), TS_OK);
            const ts_clustering *a = step(runner), *b = ts_plain_state(plain);
            ck_assert_mem_eq(a->labels, b->labels, N * sizeof(int64_t));
            for (int i = 0; i < K * D; i++) ck_assert(near((double)a->centers[i], (double)b->centers[i], 2 * EPS));
        }
        ck_assert_int_eq(finish(runner)->trimmed, 0);
        ts_runner_free(runner);
        ts_plain_free(plain);
    }
}
END_TEST

/* gamma .1 around 0: scores 0, -.1, -.4, -10; (sum - 1)/m is -1, -.55, -.5, -2.875, so kappa = -.5 leaves 10 out, and
 * the mean is 1. Around 1: 0, -.1, -.1, -8.1, kappa = -.4. */
START_TEST(threshold_rule_by_hand) {
    const ts_real x[] = {0, 1, 2, 10}, c[] = {0};
    const ts_problem p = PROBLEM(1, x, c);
    for (int construction = 0; construction < 2; construction++) {
        const ts_settings s = settings_of("trimmed", ts_construction_names[construction], 0.1);
        const ts_definition definition = define("trimmed", &s);
        ts_transformer model;
        ck_assert_int_eq(ts_transformer_build(&model, &definition, 1, 1, 0, &error), TS_OK);
        ts_real points[8], centers[2];
        ts_transformer_embed(&model, 4, x, NULL, points);
        ts_transformer_embed(&model, 1, c, model.book, centers);
        for (int i = 0; i < 4; i++) points[2 * i + 1] = model.book[0];
        ts_tape *tape = ts_tape_create(TS_INFER);
        ts_tensor *px = ts_borrow(tape, TS_SHAPE(4, 2), points), *pc = ts_borrow(tape, TS_SHAPE(1, 2), centers);
        const ts_real *w = ts_transformer_update_weights(&model, tape, px, pc, 1)->data;
        for (int i = 0; i < 3; i++) ck_assert(near((double)w[i], 1.0 / 3, EPS));
        ck_assert(w[3] == 0);
        ts_tape_free(tape);
        ts_transformer_clear(&model);
        ts_runner *runner = runner_of("trimmed", &s, &p);
        ck_assert(step(runner)->centers[0] == 1);
        const ts_clustering *state = finish(runner);
        ck_assert_mem_eq(state->labels, ((int64_t[]){0, 0, 0, -1}), 4 * sizeof(int64_t));
        ck_assert_int_eq(state->trimmed, 1);
        ts_runner_free(runner);
    }
}
END_TEST

/* ---- weighed and shared means by hand ---------------------------------------------------------------------------- */

/* gamma .5 around 0: the scores of 0, 1, sqrt 2 are 0, -.5, -1. */
static void expect_weighed_mean(const char *name, double alpha, double expected) {
    const ts_real x[] = {0, 1, (ts_real)1.4142135623730951}, c[] = {0};
    const ts_problem p = PROBLEM(1, x, c);
    for (int construction = 0; construction < 2; construction++) {
        ts_settings s = settings_of(name, ts_construction_names[construction], 0.5);
        s.alpha = alpha;
        ts_runner *runner = runner_of(name, &s, &p);
        const double center = (double)step(runner)->centers[0];
        ck_assert_msg(near(center, expected, 1e-6), "%s: %.9g, not %.9g", name, center, expected);
        ts_runner_free(runner);
        ts_plain *plain = plain_of(name, &s, &p);
        ck_assert_int_eq(ts_plain_step(plain, &error), TS_OK);
        ck_assert(near((double)ts_plain_state(plain)->centers[0], expected, 1e-6));
        ts_plain_free(plain);
    }
}

START_TEST(robust_means_by_hand) {
    expect_weighed_mean("robust", 2, 0.25);       /* (.75, .25, 0) */
    expect_weighed_mean("normmax", 2, 0.3110178); /* (.688982, .311018, 0) */
    /* entmax-1.5: [s/2 - t]_+^2 of sum 1, u = -t: 3 u^2 - 1.5 u + .3125 = 1 */
    const double u = (1.5 + sqrt(1.5 * 1.5 + 12 * 0.6875)) / 6;
    expect_weighed_mean("entmax", 2, (u - 0.25) * (u - 0.25) + (u - 0.5) * (u - 0.5) * sqrt(2));
}
END_TEST

/* Points 0 and 4 lie on centres; point 1, at squared distances 1 and 9, is shared .9 to .1 when m = 2. */
START_TEST(fuzzy_means_by_hand) {
    const ts_real x[] = {0, 1, 4}, c[] = {0, 4};
    const ts_problem p = PROBLEM(1, x, c);
    const ts_settings s = settings_of("fuzzy", "onehot", 0);
    ts_runner *runner = runner_of("fuzzy", &s, &p);
    ts_real w[6];
    ck_assert_int_eq(ts_runner_weights(runner, w, &error), TS_OK);
    const double expected[] = {1, 0, 0.9, 0.1, 0, 1};
    for (int i = 0; i < 6; i++) ck_assert(near((double)w[i], expected[i], 2 * EPS));
    ck_assert(w[0] == 1 && w[1] == 0 && w[4] == 0 && w[5] == 1);
    const ts_real *centers = step(runner)->centers;
    ck_assert(near((double)centers[0], 0.81 / 1.81, 1e-6));
    ck_assert(near((double)centers[1], 4.01 / 1.01, 1e-6));
    ts_runner_free(runner);
}
END_TEST

/* Powers of shares become too small for numbers, their ratios do not. */
START_TEST(fuzzy_means_with_large_powers) {
    const ts_real x[] = {0, 1, 4}, c[] = {(ts_real)0.5, (ts_real)4.5};
    const ts_problem p = PROBLEM(1, x, c);
    for (int i = 0; i < 4; i++) {
        ts_settings s = settings_of("fuzzy", "onehot", 0);
        s.fuzziness = (double[]){1.0001, 20, 900, 5000}[i];
        ts_runner *runner = runner_of("fuzzy", &s, &p);
        ts_plain *plain = plain_of("fuzzy", &s, &p);
        for (int t = 0; t < 2; t++) {
            ck_assert_int_eq(ts_plain_step(plain, &error), TS_OK);
            const ts_real *a = step(runner)->centers, *b = ts_plain_state(plain)->centers;
            for (int j = 0; j < 2; j++)
                ck_assert_msg(near((double)a[j], (double)b[j], 8 * EPS * s.fuzziness), "m = %g: %.9g, plain %.9g",
                              s.fuzziness, (double)a[j], (double)b[j]);
        }
        ts_runner_free(runner);
        ts_plain_free(plain);
    }
}
END_TEST

/* Scores beyond 2^53, of which 1 can no longer be taken: nothing of the rule may hang on their sizes. */
START_TEST(weights_of_points_very_far_from_their_centre) {
    const ts_real x[] = {0, 1}, c[] = {2000000};
    const ts_problem p = PROBLEM(1, x, c);
    const char *const names[] = {"trimmed", "robust", "entmax", "normmax", "kmedoids"};
    for (int i = 0; i < 5; i++) {
        const ts_settings s = settings_of(names[i], "onehot", 1e4);
        ts_runner *runner = runner_of(names[i], &s, &p);
        ts_plain *plain = plain_of(names[i], &s, &p);
        ck_assert_int_eq(ts_plain_step(plain, &error), TS_OK);
        const double a = (double)step(runner)->centers[0], b = (double)ts_plain_state(plain)->centers[0];
        ck_assert_msg(a == b && a >= 0 && a <= 1, "%s: %g, plain %g", names[i], a, b);
        ts_runner_free(runner);
        ts_plain_free(plain);
    }
}
END_TEST

START_TEST(soft_means_by_hand) {
    const ts_real x[] = {0, 1, 5, 6, (ts_real)2.5}, c[] = {1, 5};
    const ts_problem p = PROBLEM(1, x, c);
    for (int g = 0; g < 8; g++) {
        const double gamma = (double[]){0.01, 0.3, 2, 1e4}[g / 2];
        const ts_settings s = settings_of("soft", g % 2 ? "dot" : "onehot", gamma);
        ts_runner *runner = runner_of("soft", &s, &p);
        ts_real w[10];
        ck_assert_int_eq(ts_runner_weights(runner, w, &error), TS_OK);
        const ts_real *centers = step(runner)->centers;
        double sum[2] = {0}, mass[2] = {0};
        for (int i = 0; i < 5; i++) {
            const double a = gamma * pow((double)x[i] - 1, 2), b = gamma * pow((double)x[i] - 5, 2);
            const double r[] = {1 / (1 + exp(a - b)), 1 / (1 + exp(b - a))};
            for (int j = 0; j < 2; j++) {
                sum[j] += r[j] * (double)x[i], mass[j] += r[j];
                ck_assert(near((double)w[2 * i + j], r[j], 1e-5));
            }
        }
        for (int j = 0; j < 2; j++) ck_assert(near((double)centers[j], sum[j] / mass[j], 1e-5));
        ts_runner_free(runner);
    }
}
END_TEST

/* Two clusters have codes 0 and 1; a point's is its share in the second. */
START_TEST(soft_binary_codes_by_hand) {
    const ts_real x[] = {0, 1, 5, 6, 3, (ts_real)2.5}, c[] = {1, 5};
    const ts_problem p = PROBLEM(1, x, c);
    for (int g = 0; g < 3; g++) {
        const double gamma = (double[]){0.05, 0.4, 30}[g];
        const ts_settings s = settings_of("lloyd", "binary", gamma);
        ts_runner *runner = runner_of("lloyd", &s, &p);
        const ts_clustering *state = step(runner);
        double sum[2] = {0}, mass[2] = {0};
        for (int i = 0; i < 6; i++) {
            const double y = 1 / (1 + exp(gamma * (pow((double)x[i] - 5, 2) - pow((double)x[i] - 1, 2))));
            ck_assert_int_eq(state->labels[i], y > 0.5); /* point 3 has code 1/2: the lower cluster */
            for (int j = 0; j < 2; j++) {
                const double weight = exp(-gamma * (y - j) * (y - j));
                sum[j] += weight * (double)x[i], mass[j] += weight;
            }
        }
        for (int j = 0; j < 2; j++) ck_assert(near((double)state->centers[j], sum[j] / mass[j], 1e-5));
        ck_assert_int_eq(ts_runner_onehot_rows(runner), -1);
        ts_runner_free(runner);
    }
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, spherical_splits_by_direction);
    tcase_add_test(tests, spherical_never_rises);
    tcase_add_test(tests, no_direction_is_an_error_by_name);
    tcase_add_test(tests, a_vanished_mean_keeps_its_centre);
    tcase_add_test(tests, a_short_mean_has_a_direction);
    tcase_add_test(tests, medoids_of_equal_rows_are_distinct);
    tcase_add_test(tests, the_cheapest_medoid_met_is_left);
    tcase_add_test(tests, medoids_on_duplicates);
    tcase_add_test(tests, draws_of_medoids_follow_the_softmax);
    tcase_add_test(tests, initial_centres_snap_to_rows);
    tcase_add_test(tests, trimming_a_share_rounds_as_meant);
    tcase_add_test(tests, trimming_nothing_is_lloyd);
    tcase_add_test(tests, threshold_rule_by_hand);
    tcase_add_test(tests, robust_means_by_hand);
    tcase_add_test(tests, fuzzy_means_by_hand);
    tcase_add_test(tests, fuzzy_means_with_large_powers);
    tcase_add_test(tests, weights_of_points_very_far_from_their_centre);
    tcase_add_test(tests, soft_means_by_hand);
    tcase_add_test(tests, soft_binary_codes_by_hand);
}

int main(void) {
    return run_variant_tests("variants by hand", add_tests);
}
