/* test_verification.c: every line of the verification table holds, and a circuit with one sign wrong is found out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/rng.h"
#include "../models/reference/verification.h"
#include "../models/run/runner.h"
#include "test_main.h"

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum { MOST_LINES = 64, SEEDS = 3 };

/* The lines' results for three seeds; run once for all tests of the table. */
static const ts_verify_result *results_of(int s) {
    static ts_verify_result results[SEEDS][MOST_LINES];
    const int count = ts_verify_count();
    ck_assert_int_gt(count, 30);
    ck_assert_int_le(count, MOST_LINES);
    for (int i = 0; i < count && results[s][count - 1].problems == 0; i++)
        ck_assert(ts_verify_run(i, true, test_seed() + (uint64_t)(1000003 * s), &results[s][i]));
    return results[s];
}

START_TEST(every_line_holds) {
    int64_t problems = 0, steps = 0;
    for (int s = 0; s < SEEDS; s++)
        for (int i = 0; i < ts_verify_count(); i++) {
            const ts_verify_result *r = &results_of(s)[i];
            ck_assert_msg(r->failure[0] == '\0', "seed %d after the first, %s: %s", s, r->name, r->failure);
            ck_assert_msg(r->mismatches == 0 && r->rises <= 0 && r->center_difference <= r->center_bound, "%s",
                          r->name);
            ck_assert_msg(r->problems > 0 && r->steps == 12 * r->problems, "%s", r->name);
            problems += r->problems;
            steps += r->steps;
        }
    printf("%d lines, %lld problems, %lld steps compared\n", ts_verify_count(), (long long)problems, (long long)steps);
}
END_TEST

static bool has_line(const char *begin, char end) {
    const ts_verify_result *r = results_of(0);
    for (int i = 0; i < ts_verify_count(); i++)
        if (strncmp(r[i].name, begin, strlen(begin)) == 0 && r[i].name[strlen(begin)] == end) return true;
    return false;
}

START_TEST(lines_have_names_of_their_own) {
    const ts_verify_result *r = results_of(0);
    for (int i = 0; i < ts_verify_count(); i++)
        for (int l = 0; l < i; l++) ck_assert_str_ne(r[l].name, r[i].name);
    for (const ts_variant *v = ts_variants; v->name != NULL; v++) ck_assert_msg(has_line(v->name, ','), "%s", v->name);
    static const char *const ways[] = {"lloyd, onehot, op by op", "lloyd, onehot, streamed", "lloyd, binary, op by op",
                                       "lloyd, binary, streamed"};
    for (int w = 0; w < 4; w++) ck_assert_msg(has_line(ways[w], '\0'), "%s", ways[w]);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_result) {
    for (int i = 0; i < ts_verify_count(); i += 5) {
        const ts_verify_result a = results_of(0)[i];
        ts_verify_result b;
        ck_assert(ts_verify_run(i, true, test_seed(), &b));
        ck_assert(a.problems == b.problems && a.steps == b.steps && a.ties == b.ties && a.rises == b.rises);
        ck_assert(a.center_difference == b.center_difference && a.center_bound == b.center_bound);
    }
}
END_TEST

/* ---- mutants ----------------------------------------------------------------------------------------------------- */

enum { N = 80, D = 2, K = 4, STEPS = 8 };

/* Overlapping clusters whose first rows are a poor start, so that labels change for some steps. */
static void fill_points(uint64_t seed, ts_real *x) {
    const ts_rng rng = {seed, ts_rng_stream("mutants"), 0};
    for (int i = 0; i < N * D; i++)
        x[i] = (ts_real)(1 + 4 * (double)(i / D % K) + 3 * ts_rng_uniform(rng, (uint64_t)i));
    for (int j = 0; j < K * D; j++) x[j] = (ts_real)(1 + ts_rng_uniform(rng, (uint64_t)(N * D + j)));
}

/* One step of both, from the same centres. Rounding may decide a tie or two, no more. */
static bool step_differs(ts_runner *runner, ts_plain *plain) {
    ts_error error = {.status = TS_OK};
    const ts_clustering *a = ts_runner_state(runner), *b = ts_plain_state(plain);
    int labels = 0;
    bool moved = false;
    ts_plain_assign(plain);
    if (ts_runner_step(runner, &error) != TS_OK) return true;
    for (int i = 0; i < N; i++) labels += a->labels[i] != b->labels[i];
    if (labels > 0 && labels <= 2 && ts_plain_responsibilities(plain) == NULL) ts_plain_adopt_labels(plain, a->labels);
    ck_assert_int_eq(ts_plain_update(plain, &error), TS_OK);
    for (int i = 0; i < K * D; i++) moved = moved || !(fabs((double)a->centers[i] - (double)b->centers[i]) < 1e-3);
    ts_plain_adopt_centers(plain, a->exact_centers);
    return labels > 2 || moved;
}

/* Does the circuit of that definition do anything that the plain algorithm does not? */
static bool differs(const ts_definition *definition, const ts_variant *v, const ts_settings *s, const ts_problem *p) {
    ts_error error = {.status = TS_OK};
    ts_runner *runner = ts_runner_create(definition, p, &error);
    ts_plain *plain = ts_plain_create(ts_variant_plain(v, s), s, p, &error);
    ck_assert_msg(runner != NULL && plain != NULL, "%s", error.text);
    bool found = false;
    for (int t = 0; t < STEPS && !found; t++) found = step_differs(runner, plain);
    ts_runner_free(runner);
    ts_plain_free(plain);
    return found;
}

/* On some of the problems at least: where labels never change, nothing has to be erased from the points' codes. */
static bool found_out(const ts_definition *mutant, const ts_variant *v, const ts_settings *s) {
    ts_real x[N * D];
    for (uint64_t seed = test_seed(); seed < test_seed() + 8; seed++) {
        fill_points(seed, x);
        const ts_problem p = {.n = N, .d = D, .k = K, .points = x, .centers = x, .seed = seed};
        if (differs(mutant, v, s, &p)) return true;
    }
    return false;
}

static void expect_mutants_found(const ts_variant *v, const ts_settings *s) {
    ts_definition right;
    ts_error error = {.status = TS_OK};
    ck_assert_msg(ts_variant_define(v, s, &right, &error) == TS_OK, "%s", error.text);
    ck_assert_msg(!found_out(&right, v, s), "%s %s", v->name, s->construction);
    for (int i = 0; i < TS_BLOCKS; i++) {
        ts_definition mutant = right;
        ts_projection *value = &ts_definition_block(&mutant, i)->value;
        for (int l = 0; l < value->n_copies; l++) {
            mutant = right;
            value->copy[l].scale = -value->copy[l].scale;
            ck_assert_msg(found_out(&mutant, v, s), "%s %s: copy %d of %s.value may have either sign", v->name,
                          s->construction, l, ts_block_names[i]);
        }
    }
    for (int l = 0; l < right.feed_forward.n_units; l++) {
        ts_definition mutant = right;
        mutant.feed_forward.unit[l].weight = -right.feed_forward.unit[l].weight;
        /* all coordinates are positive: relu(-c)^2 adds nothing, and may have either sign */
        ck_assert(found_out(&mutant, v, s) == (right.feed_forward.unit[l].scale > 0));
    }
}

START_TEST(a_wrong_sign_is_found) {
    ts_real x[N * D];
    fill_points(test_seed(), x);
    const ts_problem p = {.n = N, .d = D, .k = K, .points = x, .centers = x};
    for (const ts_variant *v = ts_variants; v->name != NULL; v++)
        for (int i = 0; ts_construction_names[i] != NULL; i++) {
            ts_settings s = ts_variant_settings(v);
            s.construction = ts_construction_names[i];
            if (strstr(v->constructions, s.construction) == NULL) continue;
            if (ts_variant_chooses_gamma(v, &s)) s.gamma = ts_variant_gamma(v, &p);
            expect_mutants_found(v, &s);
        }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    one_thread();
    tcase_add_test(tests, every_line_holds);
    tcase_add_test(tests, lines_have_names_of_their_own);
    tcase_add_test(tests, the_same_seed_gives_the_same_result);
    tcase_add_test(tests, a_wrong_sign_is_found);
    return run_case("verification", tests);
}
