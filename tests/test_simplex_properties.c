/* The properties that simplex maps state of themselves (simplex.h), held against what the maps do. */
#include <float.h>
#include <math.h>

#include "../autograd/ops.h"
#include "test_main.h"

enum { LONGEST = 40, TRIALS = 200 };

typedef struct row {
    ts_simplex_row of;
    double scores[LONGEST], weights[LONGEST], work[4 * LONGEST];
} row;

/* A parameter that the map accepts, another one at every trial. */
static double parameter_of(const ts_simplex *map, ts_rng rng, uint64_t trial) {
    if (map->parameter == NULL) return NAN;
    const double u = ts_rng_uniform(rng, 1000 * trial + 999);
    return strcmp(map->parameter, "F") == 0 ? 0.9 * u : 1.1 + 3 * u;
}

/* Scores of the map's domain, of a length and scale of their own; sixteenths, so that some tie and that a scale of 2 is
 * exact. */
static void draw(const ts_simplex *map, ts_rng rng, uint64_t trial, row *r) {
    const int64_t n = 2 + (int64_t)(ts_rng_uniform(rng, 1000 * trial) * (LONGEST - 2));
    r->of = (ts_simplex_row){.parameter = parameter_of(map, rng, trial), .rng = rng, .n = n, .work = r->work};
    for (int64_t i = 0; i < n; i++) {
        const double s = floor(16 * ts_rng_uniform(rng, 1000 * trial + 1 + (uint64_t)i)) / 16;
        r->scores[i] = map->domain == TS_SCORES_NONNEGATIVE   ? s + 0.0625
                       : map->domain == TS_SCORES_NONPOSITIVE ? -s - 0.0625
                                                              : 2 * s - 1;
    }
}

static void weigh(const ts_simplex *map, row *r) {
    const double z = map->forward(&r->of, r->scores, r->weights);
    for (int64_t i = 0; i < r->of.n; i++) r->weights[i] /= z;
}

static double difference(const row *a, const row *b) {
    double largest = 0;
    for (int64_t i = 0; i < a->of.n; i++) largest = fmax(largest, fabs(a->weights[i] - b->weights[i]));
    return largest;
}

static ts_rng rng_of(void) {
    printf("seed %" PRIu64 "\n", test_seed());
    return (ts_rng){test_seed(), ts_rng_stream("properties"), 0};
}

/* The largest change of weights over all trials, when `change` is done to a row. */
static double largest_change(const ts_simplex *map, ts_rng rng, void (*change)(row *)) {
    double largest = 0;
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        row before, after;
        draw(map, rng, trial, &before);
        draw(map, rng, trial, &after);
        change(&after);
        weigh(map, &before);
        weigh(map, &after);
        largest = fmax(largest, difference(&before, &after));
    }
    return largest;
}

static void halve_scores(row *r) {
    for (int64_t i = 0; i < r->of.n; i++) r->scores[i] /= 2;
}

static void change_seed(row *r) {
    r->of.rng.seed++;
}

static void change_parameter(row *r) {
    r->of.parameter = r->of.parameter < 1 ? r->of.parameter / 2 : r->of.parameter + 2;
}

START_TEST(scale_invariance) {
    const ts_rng rng = rng_of();
    for (const ts_simplex *const *map = ts_simplex_maps; *map != NULL; map++) {
        const double change = largest_change(*map, rng, halve_scores);
        ck_assert_msg((*map)->scale_invariant ? change == 0 : change > 1e-3, "%s: %g", (*map)->name, change);
    }
}
END_TEST

START_TEST(randomness) {
    const ts_rng rng = rng_of();
    for (const ts_simplex *const *map = ts_simplex_maps; *map != NULL; map++) {
        const double change = largest_change(*map, rng, change_seed);
        ck_assert_msg((*map)->random ? change > 1e-3 : change == 0, "%s: %g", (*map)->name, change);
    }
}
END_TEST

START_TEST(parameters) {
    const ts_rng rng = rng_of();
    for (const ts_simplex *const *map = ts_simplex_maps; *map != NULL; map++) {
        ck_assert_msg(((*map)->parameter != NULL) == ((*map)->parameter_ok != NULL) &&
                          ((*map)->parameter != NULL) == ((*map)->parameter_rule != NULL),
                      "%s", (*map)->name);
        const double change = largest_change(*map, rng, change_parameter);
        const bool matters = (*map)->parameter != NULL && *map != &ts_gumbel_hardmax_map; /* to its gradient alone */
        ck_assert_msg(matters ? change > 1e-3 : change == 0, "%s: %g", (*map)->name, change);
    }
}
END_TEST

/* Weights of an argmax: equal parts for the first, or for every, largest score. Other maps give, in some trial, others.
 */
START_TEST(kinds_of_argmax) {
    const ts_rng rng = rng_of();
    for (const ts_simplex *const *map = ts_simplex_maps; *map != NULL; map++) {
        int as_first = 0, as_every = 0;
        for (uint64_t trial = 0; trial < TRIALS; trial++) {
            row r;
            double max = -INFINITY;
            int count = 0, first = -1;
            bool is_first = true, is_every = true;
            draw(*map, rng, trial, &r);
            weigh(*map, &r);
            for (int i = 0; i < r.of.n; i++) max = fmax(max, r.scores[i]);
            for (int i = (int)r.of.n - 1; i >= 0; i--)
                if (!(r.scores[i] < max)) count++, first = i;
            for (int i = 0; i < r.of.n; i++) {
                is_first = is_first && !(fabs(r.weights[i] - (i == first)) > 0);
                is_every = is_every && !(fabs(r.weights[i] - (r.scores[i] < max ? 0 : 1.0 / count)) > 0);
            }
            as_first += is_first, as_every += is_every;
        }
        ck_assert_msg((as_first == TRIALS) == ((*map)->argmax == TS_FIRST_ARGMAX), "%s: %d", (*map)->name, as_first);
        ck_assert_msg((as_every == TRIALS) == ((*map)->argmax == TS_EVERY_ARGMAX), "%s: %d", (*map)->name, as_every);
    }
}
END_TEST

static void shift_scores(row *r) {
    for (int64_t i = 0; i < r->of.n; i++) r->scores[i] += 8;
}

/* Is (1,2) or (-2,-1) given two different weights, the greater to the greater score, whose sum is 1? */
static bool weighs_in_order(const ts_simplex *map, double sign) {
    row r = {.of = {.parameter = 2, .n = 2, .work = r.work}, .scores = {sign > 0 ? 1 : -2, sign > 0 ? 2 : -1}};
    weigh(map, &r);
    return r.weights[0] < r.weights[1] && fabs(r.weights[0] + r.weights[1] - 1) < 1e-12;
}

/* Maps of any scores ignore what is added to all of them. The others weigh in order where they are meant to, only. */
START_TEST(domains) {
    const ts_rng rng = rng_of();
    for (const ts_simplex *const *map = ts_simplex_maps; *map != NULL; map++) {
        const double change = largest_change(*map, rng, shift_scores);
        ck_assert_msg((*map)->domain == TS_SCORES_ANY ? change < 1e-12 : change > 1e-3, "%s: %g", (*map)->name, change);
        if ((*map)->domain == TS_SCORES_ANY) continue;
        ck_assert_int_eq(weighs_in_order(*map, 1), (*map)->domain == TS_SCORES_NONNEGATIVE);
        ck_assert_int_eq(weighs_in_order(*map, -1), (*map)->domain == TS_SCORES_NONPOSITIVE);
    }
}
END_TEST

/* Attention that may use the fast kernels of a map gives what attention that may not gives. */
START_TEST(fast_kernels) {
    const ts_rng rng = rng_of();
    int kinds = 0;
    for (const ts_simplex *const *map = ts_simplex_maps; *map != NULL; map++) {
        if ((*map)->fast == TS_NO_FAST_MAP) continue;
        ts_tape *tape = ts_tape_create(TS_INFER);
        ts_real q[5 * 3], k[7 * 3], v[7 * 2];
        for (int i = 0; i < 15; i++) q[i] = (ts_real)ts_rng_uniform(rng, (uint64_t)i);
        for (int i = 0; i < 21; i++) k[i] = (ts_real)ts_rng_uniform(rng, 100 + (uint64_t)i);
        for (int i = 0; i < 14; i++) v[i] = (ts_real)ts_rng_uniform(rng, 200 + (uint64_t)i);
        ts_attention_spec spec = {.score = TS_SCORE_DOT, .simplex = {.map = *map}, .gamma = 2};
        ts_tensor *in[3] = {ts_constant(tape, TS_SHAPE(5, 3), q), ts_constant(tape, TS_SHAPE(7, 3), k),
                            ts_constant(tape, TS_SHAPE(7, 2), v)};
        const ts_tensor *exact = ts_attention(tape, in[0], in[1], in[2], NULL, &spec);
        spec.fast = true;
        const ts_tensor *fast = ts_attention(tape, in[0], in[1], in[2], NULL, &spec);
        ck_assert_int_eq(ts_tape_status(tape), TS_OK);
        for (int i = 0; i < 10; i++)
            ck_assert_msg(fabs((double)(exact->data[i] - fast->data[i])) < 1e-5, "%s", (*map)->name);
        ts_tape_free(tape);
        kinds |= 1 << (*map)->fast;
    }
    ck_assert_int_eq(kinds, 1 << TS_FAST_SOFTMAX | 1 << TS_FAST_SPARSEMAX | 1 << TS_FAST_HARDMAX | 1 << TS_FAST_LINEAR);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("properties of simplex maps");
    TCase *tcase = tcase_create("properties");
    tcase_add_test(tcase, scale_invariance);
    tcase_add_test(tcase, randomness);
    tcase_add_test(tcase, parameters);
    tcase_add_test(tcase, kinds_of_argmax);
    tcase_add_test(tcase, domains);
    tcase_add_test(tcase, fast_kernels);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
