/* test_variants.c: the variants on examples small enough to work out by hand, and what holds for all of them. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/rng.h"
#include "../models/circuit.h"
#include "../models/transformer.h"
#include "../models/variants.h"
#include "test_main.h"

static const double EPS = sizeof(ts_real) == sizeof(float) ? FLT_EPSILON : DBL_EPSILON;
static ts_error error;

static void setup(void) {
    error = (ts_error){.status = TS_OK};
}

/* ---- making runs ---------------------------------------------------------------------------------------------------
 */

#define ROWS(array) (int64_t)(sizeof(array) / sizeof *(array))
#define PROBLEM(dims, points_, centers_)                                                                               \
    (ts_problem) {                                                                                                     \
        .n = ROWS(points_) / (dims), .d = (dims), .k = ROWS(centers_) / (dims), .points = points_, .centers = centers_ \
    }

static const ts_variant *variant(const char *name) {
    const ts_variant *v = ts_variant_by_name(name);
    ck_assert_msg(v != NULL, "%s", name);
    return v;
}

/* gamma 0: the variant's own. */
static ts_settings settings_of(const char *name, const char *scheme, double gamma) {
    ts_settings s = ts_variant_settings(variant(name));
    s.scheme = scheme;
    if (gamma > 0) s.gamma = gamma;
    return s;
}

static ts_definition define(const char *name, const ts_settings *s) {
    ts_definition definition;
    ck_assert_msg(ts_variant_define(variant(name), s, &definition, &error) == TS_OK, "%s: %s", name, error.text);
    return definition;
}

static ts_circuit *circuit_of(const char *name, const ts_settings *s, const ts_problem *p) {
    const ts_definition definition = define(name, s);
    ts_circuit *circuit = ts_circuit_create(&definition, p, &error);
    ck_assert_msg(circuit != NULL, "%s %s: %s", name, s->scheme, error.text);
    return circuit;
}

static ts_plain *plain_of(const char *name, const ts_settings *s, const ts_problem *p) {
    ts_plain *plain = ts_plain_create(ts_variant_plain(variant(name), s), s, p, &error);
    ck_assert_msg(plain != NULL, "%s: %s", name, error.text);
    return plain;
}

static const ts_clustering *step(ts_circuit *circuit) {
    ck_assert_msg(ts_circuit_step(circuit, &error) == TS_OK, "%s", error.text);
    return ts_circuit_state(circuit);
}

static const ts_clustering *finish(ts_circuit *circuit) {
    ck_assert_msg(ts_circuit_finish(circuit, &error) == TS_OK, "%s", error.text);
    return ts_circuit_state(circuit);
}

static bool near(double a, double b, double tolerance) {
    return fabs(a - b) <= tolerance * fmax(1, fabs(b));
}

/* Every construction of every variant, one after the other, with a gamma that suits the data where one is needed; the
 * softmax of those that are exact as well. */
typedef struct setting {
    const ts_variant *variant;
    ts_settings settings;
} setting;

enum { MOST_SETTINGS = 64 };
static int all_settings(const ts_problem *p, setting *list) {
    int count = 0;
    for (const ts_variant *v = ts_variants; v->name != NULL; v++)
        for (int i = 0; ts_scheme_names[i] != NULL; i++) {
            ts_settings s = ts_variant_settings(v);
            s.scheme = ts_scheme_names[i];
            if (strstr(v->schemes, s.scheme) == NULL) continue;
            if (ts_variant_chooses_gamma(v, &s)) s.gamma = ts_variant_gamma(v, p);
            list[count++] = (setting){v, s};
            if (v->gamma == TS_GAMMA_ASSIGN) {
                s.gamma = v->unit_length ? 20 : ts_variant_gamma(variant("soft"), p); /* of cosines, of distances */
                list[count++] = (setting){v, s};
            }
            if (v->trims) {
                s.trim = 0.2;
                list[count++] = (setting){v, s};
            }
        }
    ck_assert_int_le(count, MOST_SETTINGS);
    return count;
}

static void expect_sane(const setting *s, const ts_problem *p, const ts_clustering *state) {
    for (int64_t i = 0; i < p->k * p->d; i++)
        ck_assert_msg(isfinite((double)state->centers[i]), "%s %s: a centre is %g", s->variant->name,
                      s->settings.scheme, (double)state->centers[i]);
    for (int64_t i = 0; i < p->n; i++)
        ck_assert_msg(state->labels[i] >= (s->variant->trims ? -1 : 0) && state->labels[i] < p->k, "%s %s: label %lld",
                      s->variant->name, s->settings.scheme, (long long)state->labels[i]);
}

/* Round blobs around k places, which are 10 apart along the diagonal, `spread` wide; no row is zero. */
static void fill_blobs(int64_t n, int64_t d, int64_t k, double spread, uint64_t seed, ts_real *x) {
    const ts_rng rng = {seed, ts_rng_stream("blobs"), 0};
    for (int64_t i = 0; i < n * d; i++) {
        const int64_t cluster = i / d % k;
        const double place = i % d == cluster % d ? 5 + 10 * (double)cluster : 5;
        x[i] = (ts_real)(place + spread * (ts_rng_uniform(rng, (uint64_t)i) - 0.5));
    }
}

/* Two values a coordinate: duplicates everywhere, and ties. */
static void fill_duplicates(int64_t n, int64_t d, uint64_t seed, ts_real *x) {
    const ts_rng rng = {seed, ts_rng_stream("duplicates"), 0};
    for (int64_t i = 0; i < n * d; i++) x[i] = (ts_real)(1 + ts_rng_below(rng, (uint64_t)i, 2));
}

/* ---- spherical k-means ---------------------------------------------------------------------------------------------
 */

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

static double length_of(int64_t d, const ts_real *c) {
    double sum = 0;
    for (int64_t a = 0; a < d; a++) sum += (double)c[a] * (double)c[a];
    return sqrt(sum);
}

START_TEST(spherical_splits_by_direction) {
    const ts_real x[] = {1, 0, 10, 0, 0, 1, 0, 10}, c[] = {1, 0, 0, 1};
    const ts_problem p = PROBLEM(2, x, c);
    for (int scheme = 0; scheme < 2; scheme++) {
        const ts_settings s = settings_of("spherical", ts_scheme_names[scheme], 0);
        ts_circuit *circuit = circuit_of("spherical", &s, &p);
        for (int t = 0; t < 10 && !step(circuit)->converged; t++) continue;
        const ts_clustering *state = finish(circuit);
        ck_assert(state->converged);
        ck_assert_mem_eq(state->labels, ((int64_t[]){0, 0, 1, 1}), 4 * sizeof(int64_t));
        for (int i = 0; i < 4; i++) ck_assert(near((double)state->centers[i], (double)c[i], 2 * EPS));
        ck_assert(fabs(cosine_cost(&p, state)) <= 4 * DBL_EPSILON);
        ts_circuit_free(circuit);
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
        ts_circuit *circuit = circuit_of("spherical", &s, &p);
        double last = INFINITY;
        for (int t = 0; t < 15; t++) {
            const ts_clustering *state = step(circuit);
            const double cost = cosine_cost(&p, state);
            ck_assert_msg(cost <= last + 100 * N * EPS, "%.9g after %.9g", cost, last);
            last = cost;
            for (int j = 0; j < K; j++) ck_assert(near(length_of(D, state->centers + j * D), 1, 4 * EPS));
        }
        ts_circuit_free(circuit);
    }
}
END_TEST

START_TEST(no_direction_is_an_error_by_name) {
    const ts_real x[] = {1, 0, 0, 1, 0, 0, 2, 2}, good[] = {1, 0, 0, 1}, bad[] = {1, 0, 0, 0};
    for (int scheme = 0; scheme < 2; scheme++)
        for (int i = 0; i < 2; i++) {
            const ts_settings s = settings_of("spherical", ts_scheme_names[scheme], 0);
            const ts_definition definition = define("spherical", &s);
            ts_problem p = PROBLEM(2, x, good);
            if (i == 1) p.n = 2, p.centers = bad;
            const char *text =
                i == 0 ? "row 3 is zero: it has no direction" : "initial centre 2 is zero: it has no direction";
            error = (ts_error){.status = TS_OK};
            ck_assert_ptr_null(ts_circuit_create(&definition, &p, &error));
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
    for (int scheme = 0; scheme < 2; scheme++) {
        const ts_settings s = settings_of("spherical", ts_scheme_names[scheme], 0);
        ts_circuit *circuit = circuit_of("spherical", &s, &p);
        ts_plain *plain = plain_of("spherical", &s, &p);
        for (int t = 0; t < 3; t++) {
            ck_assert_int_eq(ts_plain_step(plain, &error), TS_OK);
            const ts_clustering *states[] = {step(circuit), ts_plain_state(plain)};
            for (int i = 0; i < 2; i++)
                for (int a = 0; a < d; a++)
                    ck_assert_msg(near((double)states[i]->centers[a], (double)c[a], 2 * EPS),
                                  "%d ways, %d copies, turn %g, d %d, %s: %g", ways, copies, turn, d,
                                  i == 0 ? "circuit" : "plain", (double)states[i]->centers[a]);
        }
        ts_circuit_free(circuit);
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
        ts_circuit *circuit = circuit_of("spherical", &s, &p);
        ts_plain *plain = plain_of("spherical", &s, &p);
        ck_assert_int_eq(ts_plain_step(plain, &error), TS_OK);
        const ts_real *a = step(circuit)->centers, *b = ts_plain_state(plain)->centers;
        ck_assert_msg(near(length_of(2, a), 1, 4 * EPS), "mean %g: length %.9g", lengths[i], length_of(2, a));
        for (int l = 0; l < 2; l++)
            ck_assert_msg(near((double)a[l], (double)b[l], 4 * EPS + EPS / lengths[i]), "mean %g: %.9g, plain %.9g",
                          lengths[i], (double)a[l], (double)b[l]);
        ts_circuit_free(circuit);
        ts_plain_free(plain);
    }
}
END_TEST

/* ---- k-medoids -----------------------------------------------------------------------------------------------------
 */

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
    for (int scheme = 0; scheme < 2; scheme++) {
        const ts_settings s = settings_of("kmedoids", ts_scheme_names[scheme], 1);
        ts_circuit *circuit = circuit_of("kmedoids", &s, &p);
        for (int t = 0; t < 30; t++) {
            expect_medoids(&p, step(circuit));
            ck_assert(!ts_circuit_state(circuit)->converged);
        }
        expect_medoids(&p, finish(circuit));
        ck_assert(medoid_cost(&p, ts_circuit_state(circuit)->medoids) == 0);
        ts_circuit_free(circuit);
    }
}
END_TEST

/* Rows 1 and 2 both cost 101; the lower is left, wherever the walk ends. */
START_TEST(the_cheapest_medoid_met_is_left) {
    const ts_real x[] = {0, 1, 2, 100}, starts[] = {0, 100};
    for (uint64_t seed = 0; seed < 40; seed++) {
        ts_problem p = {.n = 4, .d = 1, .k = 1, .points = x, .centers = starts + seed % 2, .seed = test_seed() + seed};
        const ts_settings s = settings_of("kmedoids", seed % 4 < 2 ? "onehot" : "binary", 1e-4);
        ts_circuit *circuit = circuit_of("kmedoids", &s, &p);
        for (int t = 0; t < 100; t++) step(circuit);
        const ts_clustering *state = finish(circuit);
        ck_assert_int_eq(state->medoids[0], 1);
        ck_assert(state->centers[0] == 1 && medoid_cost(&p, state->medoids) == 101);
        ts_circuit_free(circuit);
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
        ts_circuit *circuit = circuit_of("kmedoids", &s, &p);
        const ts_clustering *state = ts_circuit_state(circuit);
        double least = medoid_cost(&p, state->medoids);
        for (int t = 0; t < 40; t++) {
            int64_t before[K];
            memcpy(before, state->medoids, sizeof before);
            step(circuit);
            for (int j = 0; j < K; j++) /* labels of a step are those of the medoids before it */
                ck_assert_int_eq(state->labels[before[j]], j);
            least = fmin(least, medoid_cost(&p, state->medoids));
            for (int j = 0; j < K; j++) {
                ck_assert_int_eq(state->labels[state->medoids[j]], j);
                ck_assert_mem_eq(state->centers + j * D, x + state->medoids[j] * D, D * sizeof *x);
                for (int l = 0; l < j; l++) ck_assert_int_ne(state->medoids[l], state->medoids[j]);
            }
        }
        expect_medoids(&p, finish(circuit));
        ck_assert(near(medoid_cost(&p, state->medoids), least, 1e-12));
        ts_circuit_free(circuit);
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
        ts_circuit *circuit = circuit_of("kmedoids", &s, &p);
        const int64_t *medoids = step(circuit)->medoids;
        ck_assert(medoids[0] < A && medoids[1] >= A);
        count[medoids[0]][medoids[1] - A]++;
        ts_circuit_free(circuit);
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
    ts_circuit *circuit = circuit_of("kmedoids", &s, &p);
    ts_plain *plain = plain_of("kmedoids", &s, &p);
    ck_assert_mem_eq(ts_circuit_state(circuit)->medoids, ((int64_t[]){1, 2, 3}), 3 * sizeof(int64_t));
    ck_assert_mem_eq(ts_plain_state(plain)->medoids, ((int64_t[]){1, 2, 3}), 3 * sizeof(int64_t));
    ck_assert_mem_eq(ts_circuit_state(circuit)->centers, ((ts_real[]){5, 5, 9}), 3 * sizeof(ts_real));
    ts_circuit_free(circuit);
    ts_plain_free(plain);
}
END_TEST

/* ---- trimming ------------------------------------------------------------------------------------------------------
 */

START_TEST(trimming_a_share_rounds_as_meant) {
    ts_real x[100];
    const ts_real c[] = {0};
    for (int i = 0; i < 100; i++) x[i] = (ts_real)(i * 37 % 100) + 1;
    const ts_problem p = PROBLEM(1, x, c);
    for (int scheme = 0; scheme < 2; scheme++) {
        ts_settings s = settings_of("trimmed", ts_scheme_names[scheme], 0);
        s.trim = 0.29; /* 0.29 x 100 is 28.999999999999996 */
        ts_circuit *circuit = circuit_of("trimmed", &s, &p);
        ck_assert(near((double)step(circuit)->centers[0], 36, 1e-6)); /* the mean of 1 .. 71 */
        const ts_clustering *state = finish(circuit);
        int64_t left = 0;
        for (int i = 0; i < 100; i++) {
            left += state->labels[i] == -1;
            /* around 36, 71 rows: 1 .. 71 */
            ck_assert_int_eq(state->labels[i], x[i] <= 71 ? 0 : -1);
        }
        ck_assert(left == 29 && state->trimmed == 29);
        ts_circuit_free(circuit);
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
        ts_circuit *circuit = circuit_of("trimmed", &s, &p);
        ts_plain *plain = plain_of("lloyd", &lloyd, &p);
        for (int t = 0; t < 12; t++) {
            ck_assert_int_eq(ts_plain_step(plain, &error), TS_OK);
            const ts_clustering *a = step(circuit), *b = ts_plain_state(plain);
            ck_assert_mem_eq(a->labels, b->labels, N * sizeof(int64_t));
            for (int i = 0; i < K * D; i++) ck_assert(near((double)a->centers[i], (double)b->centers[i], 2 * EPS));
        }
        ck_assert_int_eq(finish(circuit)->trimmed, 0);
        ts_circuit_free(circuit);
        ts_plain_free(plain);
    }
}
END_TEST

/* gamma .1 around 0: scores 0, -.1, -.4, -10; (sum - 1)/m is -1, -.55, -.5, -2.875, so kappa = -.5 leaves 10 out, and
 * the mean is 1. Around 1: 0, -.1, -.1, -8.1, kappa = -.4. */
START_TEST(threshold_rule_by_hand) {
    const ts_real x[] = {0, 1, 2, 10}, c[] = {0};
    const ts_problem p = PROBLEM(1, x, c);
    for (int scheme = 0; scheme < 2; scheme++) {
        const ts_settings s = settings_of("trimmed", ts_scheme_names[scheme], 0.1);
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
        ts_circuit *circuit = circuit_of("trimmed", &s, &p);
        ck_assert(step(circuit)->centers[0] == 1);
        const ts_clustering *state = finish(circuit);
        ck_assert_mem_eq(state->labels, ((int64_t[]){0, 0, 0, -1}), 4 * sizeof(int64_t));
        ck_assert_int_eq(state->trimmed, 1);
        ts_circuit_free(circuit);
    }
}
END_TEST

/* ---- weighed and shared means by hand ------------------------------------------------------------------------------
 */

/* gamma .5 around 0: the scores of 0, 1, sqrt 2 are 0, -.5, -1. */
static void expect_weighed_mean(const char *name, double alpha, double expected) {
    const ts_real x[] = {0, 1, (ts_real)1.4142135623730951}, c[] = {0};
    const ts_problem p = PROBLEM(1, x, c);
    for (int scheme = 0; scheme < 2; scheme++) {
        ts_settings s = settings_of(name, ts_scheme_names[scheme], 0.5);
        s.alpha = alpha;
        ts_circuit *circuit = circuit_of(name, &s, &p);
        const double center = (double)step(circuit)->centers[0];
        ck_assert_msg(near(center, expected, 1e-6), "%s: %.9g, not %.9g", name, center, expected);
        ts_circuit_free(circuit);
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
    ts_circuit *circuit = circuit_of("fuzzy", &s, &p);
    ts_real w[6];
    ck_assert_int_eq(ts_circuit_weights(circuit, w, &error), TS_OK);
    const double expected[] = {1, 0, 0.9, 0.1, 0, 1};
    for (int i = 0; i < 6; i++) ck_assert(near((double)w[i], expected[i], 2 * EPS));
    ck_assert(w[0] == 1 && w[1] == 0 && w[4] == 0 && w[5] == 1);
    const ts_real *centers = step(circuit)->centers;
    ck_assert(near((double)centers[0], 0.81 / 1.81, 1e-6));
    ck_assert(near((double)centers[1], 4.01 / 1.01, 1e-6));
    ts_circuit_free(circuit);
}
END_TEST

/* Powers of shares become too small for numbers, their ratios do not. */
START_TEST(fuzzy_means_with_large_powers) {
    const ts_real x[] = {0, 1, 4}, c[] = {(ts_real)0.5, (ts_real)4.5};
    const ts_problem p = PROBLEM(1, x, c);
    for (int i = 0; i < 4; i++) {
        ts_settings s = settings_of("fuzzy", "onehot", 0);
        s.fuzziness = (double[]){1.0001, 20, 900, 5000}[i];
        ts_circuit *circuit = circuit_of("fuzzy", &s, &p);
        ts_plain *plain = plain_of("fuzzy", &s, &p);
        for (int t = 0; t < 2; t++) {
            ck_assert_int_eq(ts_plain_step(plain, &error), TS_OK);
            const ts_real *a = step(circuit)->centers, *b = ts_plain_state(plain)->centers;
            for (int j = 0; j < 2; j++)
                ck_assert_msg(near((double)a[j], (double)b[j], 8 * EPS * s.fuzziness), "m = %g: %.9g, plain %.9g",
                              s.fuzziness, (double)a[j], (double)b[j]);
        }
        ts_circuit_free(circuit);
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
        ts_circuit *circuit = circuit_of(names[i], &s, &p);
        ts_plain *plain = plain_of(names[i], &s, &p);
        ck_assert_int_eq(ts_plain_step(plain, &error), TS_OK);
        const double a = (double)step(circuit)->centers[0], b = (double)ts_plain_state(plain)->centers[0];
        ck_assert_msg(a == b && a >= 0 && a <= 1, "%s: %g, plain %g", names[i], a, b);
        ts_circuit_free(circuit);
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
        ts_circuit *circuit = circuit_of("soft", &s, &p);
        ts_real w[10];
        ck_assert_int_eq(ts_circuit_weights(circuit, w, &error), TS_OK);
        const ts_real *centers = step(circuit)->centers;
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
        ts_circuit_free(circuit);
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
        ts_circuit *circuit = circuit_of("lloyd", &s, &p);
        const ts_clustering *state = step(circuit);
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
        ck_assert_int_eq(ts_circuit_onehot_rows(circuit), -1);
        ts_circuit_free(circuit);
    }
}
END_TEST

/* ---- constructions -------------------------------------------------------------------------------------------------
 */

static void expect_matrix(const ts_transformer *model, const char *name, size_t count, const ts_real *expected) {
    const int at = ts_params_find(model->params, name);
    ck_assert_msg(at >= 0, "%s", name);
    const ts_shape *shape = ts_params_shape(model->params, at);
    ck_assert_msg(ts_size(shape) == (int64_t)count, "%s has %lld entries", name, (long long)ts_size(shape));
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
    ts_circuit *circuit = circuit_of(s->variant->name, &s->settings, p);
    ts_real *w = malloc((size_t)(p->n * p->k) * sizeof *w);
    for (int t = 0; t < 3; t++) step(circuit);
    const ts_clustering *state = finish(circuit);
    const bool hard =
        s->variant->assign == &ts_argmax_map && (s->variant->gamma == TS_GAMMA_UPDATE || !isfinite(s->settings.gamma));
    int64_t left_out = 0;
    ck_assert_int_eq(ts_circuit_weights(circuit, w, &error), TS_OK);
    for (int64_t i = 0; i < p->n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < p->k; j++) {
            const ts_real weight = w[i * p->k + j];
            sum += (double)weight;
            if (hard) ck_assert(weight == (j == state->labels[i]));
        }
        left_out += state->labels[i] < 0;
        ck_assert_msg(near(sum, state->labels[i] < 0 ? 0 : 1, 4 * EPS), "%s %s: row %lld: %.9g", s->variant->name,
                      s->settings.scheme, (long long)i, sum);
    }
    ck_assert_int_eq(left_out, state->trimmed);
    if (s->settings.trim > 0) ck_assert_int_gt(left_out, 0);
    const int64_t onehot = ts_circuit_onehot_rows(circuit);
    if (strcmp(s->settings.scheme, "binary") == 0)
        ck_assert_int_eq(onehot, -1);
    else if (hard)
        ck_assert_int_eq(onehot, p->n);
    ts_circuit_free(circuit);
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

/* ---- settings ------------------------------------------------------------------------------------------------------
 */

static void expect_refusal(const char *name, ts_settings s, const char *text) {
    ts_definition definition;
    error = (ts_error){.status = TS_OK};
    ck_assert_int_ne(ts_variant_define(variant(name), &s, &definition, &error), TS_OK);
    ck_assert_str_eq(error.text, text);
}

START_TEST(settings_are_refused_by_name) {
    ts_settings s = settings_of("soft", "binary", 1);
    expect_refusal("soft", s, "soft has no construction binary, only onehot|dot");
    s.scheme = "one";
    expect_refusal("soft", s, "soft has no construction one, only onehot|dot");
    s.scheme = "none";
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

/* ---- what holds for all of them ------------------------------------------------------------------------------------
 */

#if defined _OPENMP && !defined TS_DOUBLE /* one precision is enough: the sums are the same code */
enum { MANY = 4500, MANY_D = 3, MANY_K = 5 };

/* Everything a run gives, after a step. */
static void run_once(const setting *s, const ts_problem *p, ts_real *centers, int64_t *labels, ts_real *weights) {
    ts_circuit *circuit = circuit_of(s->variant->name, &s->settings, p);
    step(circuit);
    const ts_clustering *state = finish(circuit);
    memcpy(centers, state->centers, MANY_K * MANY_D * sizeof *centers);
    memcpy(labels, state->labels, MANY * sizeof *labels);
    ck_assert_int_eq(ts_circuit_weights(circuit, weights, &error), TS_OK);
    ts_circuit_free(circuit);
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
        ts_circuit *circuit = circuit_of(s->variant->name, &s->settings, &p);
        if (p.empty == TS_EMPTY_ERROR && may_empty(s)) {
            error = (ts_error){.status = TS_OK};
            ck_assert_int_ne(ts_circuit_step(circuit, &error), TS_OK);
            ck_assert_str_eq(error.text, "cluster 1 is empty at step 1");
            error = (ts_error){.status = TS_OK};
        } else {
            for (int t = 0; t < 8; t++) expect_sane(s, &p, step(circuit));
            const int64_t repairs = ts_circuit_state(circuit)->empty_repairs;
            if (may_empty(s)) ck_assert((repairs > 0) == (p.empty != TS_EMPTY_KEEP));
            if (p.empty == TS_EMPTY_KEEP) ck_assert_int_eq(repairs, 0);
            expect_sane(s, &p, finish(circuit));
        }
        ts_circuit_free(circuit);
    }
}
END_TEST

/* What the policies do, in numbers, in every construction of Lloyd's algorithm. */
START_TEST(empty_clusters_in_every_construction) {
    const ts_real x[] = {1, 2, 3, 10}, c[] = {2, 50};
    for (int scheme = 0; scheme < 3; scheme++)
        for (int policy = 0; policy < 3; policy++) {
            ts_problem p = PROBLEM(1, x, c);
            p.empty = (ts_empty_policy)policy;
            p.seed = test_seed();
            const ts_settings s = settings_of("lloyd", (const char *[]){"onehot", "binary", "dot"}[scheme], 0);
            ts_circuit *circuit = circuit_of("lloyd", &s, &p);
            ts_plain *plain = plain_of("lloyd", &s, &p);
            for (int t = 0; t < 4; t++) {
                ck_assert_int_eq(ts_plain_step(plain, &error), TS_OK);
                const ts_clustering *a = step(circuit), *b = ts_plain_state(plain);
                ck_assert_mem_eq(a->labels, b->labels, 4 * sizeof(int64_t));
                for (int j = 0; j < 2; j++) ck_assert(near((double)a->centers[j], (double)b->centers[j], 2 * EPS));
                ck_assert_int_eq(a->empty_repairs, b->empty_repairs);
                if (t > 0) continue;
                ck_assert(a->centers[0] == 4);
                if (policy == TS_EMPTY_KEEP) ck_assert(a->centers[1] == 50);
                if (policy == TS_EMPTY_FARTHEST) ck_assert(a->centers[1] == 10);
                ck_assert_int_eq(a->empty_repairs, policy != TS_EMPTY_KEEP);
            }
            ts_circuit_free(circuit);
            ts_plain_free(plain);
        }
}
END_TEST

/* Circuit and plain algorithm until the circuit has converged, each on its own; labels equal at every step. */
static void expect_the_same_run(const setting *s, const ts_problem *p, int steps, double tolerance) {
    ts_circuit *circuit = circuit_of(s->variant->name, &s->settings, p);
    ts_plain *plain = plain_of(s->variant->name, &s->settings, p);
    const ts_clustering *a = ts_circuit_state(circuit), *b = ts_plain_state(plain);
    for (int t = 0; t < steps && !a->converged; t++) {
        step(circuit);
        ck_assert_int_eq(ts_plain_step(plain, &error), TS_OK);
        expect_sane(s, p, a);
        for (int64_t i = 0; i < p->n; i++)
            ck_assert_msg(a->labels[i] == b->labels[i], "%s %s n %lld k %lld, step %d, row %lld: %lld, plain %lld",
                          s->variant->name, s->settings.scheme, (long long)p->n, (long long)p->k, t + 1, (long long)i,
                          (long long)a->labels[i], (long long)b->labels[i]);
        for (int64_t i = 0; i < p->k * p->d; i++)
            ck_assert_msg(near((double)a->centers[i], (double)b->centers[i], tolerance),
                          "%s %s, step %d: %.9g, plain %.9g", s->variant->name, s->settings.scheme, t + 1,
                          (double)a->centers[i], (double)b->centers[i]);
        if (!isfinite(s->settings.gamma))
            ck_assert_msg(a->converged == b->converged, "%s %s n %lld k %lld, step %d: converged %d, plain %d",
                          s->variant->name, s->settings.scheme, (long long)p->n, (long long)p->k, t + 1, a->converged,
                          b->converged);
    }
    ck_assert_msg(a->converged == !s->variant->medoids, "%s %s n %lld k %lld: %d after %lld steps", s->variant->name,
                  s->settings.scheme, (long long)p->n, (long long)p->k, a->converged, (long long)a->steps);
    expect_sane(s, p, finish(circuit));
    ts_circuit_free(circuit);
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
            expect_the_same_run(&list[l], &problems[i], 1000, 1e-4);
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
            for (int i = 0; i < count; i++) expect_the_same_run(&list[i], &p, 100, 1e-4);
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
        ts_circuit *circuit = circuit_of(list[i].variant->name, &list[i].settings, &p);
        for (int t = 0; t < 100 && !ts_circuit_state(circuit)->converged; t++) step(circuit);
        ck_assert_msg(ts_circuit_state(circuit)->converged == !list[i].variant->medoids, "%s %s", list[i].variant->name,
                      list[i].settings.scheme);
        expect_sane(&list[i], &p, finish(circuit));
        ts_circuit_free(circuit);
    }
}
END_TEST

/* A first step has no step before it to repeat, though its codes be those with which points begin: binary code 0. All
 * points go to cluster 0, whose mean then leaves the point 49 to cluster 1. */
START_TEST(a_first_step_never_converges) {
    const ts_real x[] = {49, -100, -100, -100}, c[] = {0, 100};
    const ts_problem p = PROBLEM(1, x, c);
    for (int scheme = 0; scheme < 3; scheme++) {
        const ts_settings s = settings_of("lloyd", (const char *[]){"onehot", "binary", "dot"}[scheme], 0);
        ts_circuit *circuit = circuit_of("lloyd", &s, &p);
        ck_assert_msg(!step(circuit)->converged, "%s", s.scheme);
        for (int t = 0; t < 10 && !ts_circuit_state(circuit)->converged; t++) step(circuit);
        const ts_clustering *state = finish(circuit);
        ck_assert_mem_eq(state->labels, ((int64_t[]){1, 0, 0, 0}), 4 * sizeof(int64_t));
        ck_assert_int_eq(state->steps, 3);
        ts_circuit_free(circuit);
    }
}
END_TEST

/* ---- the program ---------------------------------------------------------------------------------------------------
 */

static void add_tests_by_hand(TCase *tests) {
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

static void add_tests_of_all(TCase *tests) {
    tcase_add_test(tests, weights_of_dot_products);
    tcase_add_test(tests, norms_of_centres_are_kept);
    tcase_add_test(tests, widths_of_binary_tokens);
    tcase_add_test(tests, weights_are_shares);
    tcase_add_test(tests, settings_are_refused_by_name);
    tcase_add_test(tests, parameters_are_refused_by_name);
    tcase_add_test(tests, gamma_of_the_data);
#if defined _OPENMP && !defined TS_DOUBLE
    tcase_add_test(tests, the_same_bits_on_any_number_of_threads);
#endif
    tcase_add_test(tests, empty_clusters_in_every_variant);
    tcase_add_test(tests, empty_clusters_in_every_construction);
    tcase_add_test(tests, one_cluster_and_as_many_as_points);
    tcase_add_test(tests, well_separated_clusters_converge);
    tcase_add_test(tests, equal_points_converge);
    tcase_add_test(tests, a_first_step_never_converges);
}

int main(void) {
    Suite *suite = suite_create("variants");
    TCase *tests = tcase_create("all");
    printf("seed %" PRIu64 "\n", test_seed());
#ifdef _OPENMP
    omp_set_num_threads(1); /* small problems, beside other test programs: threads would wait for cores */
#endif
    tcase_set_timeout(tests, 0);
    tcase_add_checked_fixture(tests, setup, NULL);
    add_tests_by_hand(tests);
    add_tests_of_all(tests);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
