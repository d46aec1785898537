#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/parallel.h"
#include "../autograd/rng.h"
#include "../train/optimiser.h"
#include "test_main.h"

static const bool IS_DOUBLE = sizeof(ts_real) == sizeof(double);
static ts_error error;

static void setup(void) {
    error = (ts_error){.status = TS_OK};
}

static ts_optimiser *create(ts_optimiser_spec spec, int64_t size, const bool *frozen) {
    ts_optimiser *o = ts_optimiser_create(&spec, size, frozen, &error);
    ck_assert_msg(o != NULL, "%s", error.text);
    return o;
}

START_TEST(optimisers_by_name) {
    for (int i = 0; i < ts_optimisers; i++) {
        ts_optimiser_kind kind = (ts_optimiser_kind)((i + 1) % ts_optimisers);
        ck_assert(ts_optimiser_by_name(ts_optimiser_name((ts_optimiser_kind)i), &kind));
        ck_assert_int_eq((int)kind, i);
    }
    ts_optimiser_kind kind = TS_ADAM;
    ck_assert(!ts_optimiser_by_name("Adam", &kind) && kind == TS_ADAM);
    ck_assert_ptr_null(ts_optimiser_name((ts_optimiser_kind)ts_optimisers));
}
END_TEST

/* ---- f = sum x^2 ---- */

static void descend(ts_optimiser *o, double rate, int steps, ts_real *x) {
    ts_real g[8];
    for (int t = 0; t < steps; t++) {
        for (int64_t i = 0; i < o->size; i++) g[i] = 2 * x[i];
        ck_assert_int_eq(ts_optimiser_step(o, rate, o->size, x, g), TS_OK);
    }
}

START_TEST(adam_on_a_parabola) {
    ts_optimiser *o = create(ts_optimiser_defaults(TS_ADAM), 1, NULL);
    ts_real x = 1;
    descend(o, .1, 4, &x);
    ck_assert_double_eq_tol((double)x, .603939060574, IS_DOUBLE ? 1e-11 : 1e-7);
    ck_assert_int_eq(o->steps, 4);
    ts_optimiser_free(o);
}
END_TEST

enum { SPECS = 6 };
static const ts_optimiser_spec ALL[SPECS] = {
    {.kind = TS_SGD},
    {.kind = TS_SGD, .momentum = .9},
    {.kind = TS_SGD, .momentum = .7, .nesterov = true},
    {.kind = TS_ADAM, .beta1 = .9, .beta2 = .999, .epsilon = 1e-8},
    {.kind = TS_ADAMW, .beta1 = .8, .beta2 = .95, .epsilon = 1e-4, .decay = .1},
    {.kind = TS_ADAM, .epsilon = 1e-3},
};

/* The same from the whole history of gradients: moments as weighted sums, SGD's velocity likewise. */
static double by_history(const ts_optimiser_spec *s, double rate, int steps, double x) {
    double g[16];
    for (int t = 0; t < steps; t++) {
        double first = 0, second = 0, velocity = 0, weight1 = 0, weight2 = 0;
        g[t] = 2 * x;
        for (int past = 0; past <= t; past++) {
            velocity += pow(s->momentum, t - past) * g[past];
            first += pow(s->beta1, t - past) * g[past], weight1 += pow(s->beta1, t - past);
            second += pow(s->beta2, t - past) * g[past] * g[past], weight2 += pow(s->beta2, t - past);
        }
        if (s->kind == TS_SGD && s->nesterov != 0) velocity = g[t] + s->momentum * velocity;
        if (s->kind == TS_SGD)
            x -= rate * velocity;
        else
            x = x * (1 - rate * s->decay) - rate * (first / weight1) / (sqrt(second / weight2) + s->epsilon);
    }
    return x;
}

START_TEST(sequences_follow_the_formulas) {
    for (int steps = 1; steps <= 12; steps++) {
        ts_optimiser *o = create(ALL[_i], 3, NULL);
        const double from[] = {1, -2.5, .125};
        ts_real x[] = {1, (ts_real)-2.5, (ts_real).125};
        descend(o, .05, steps, x);
        for (int i = 0; i < 3; i++)
            ck_assert_double_eq_tol((double)x[i], by_history(&ALL[_i], .05, steps, from[i]), IS_DOUBLE ? 1e-13 : 2e-6);
        ts_optimiser_free(o);
    }
}
END_TEST

/* x = 1, g = 2x, rate .1: momentum .5 gives v = 2, 2.6 and x = .8, .54; nesterov steps by 3 and then by
 * g + v / 2 = 1.4 + 1.2. */
START_TEST(two_steps_of_sgd_by_hand) {
    ts_optimiser *plain = create((ts_optimiser_spec){.kind = TS_SGD, .momentum = .5}, 1, NULL);
    ts_optimiser *nesterov = create((ts_optimiser_spec){.kind = TS_SGD, .momentum = .5, .nesterov = true}, 1, NULL);
    ts_real x = 1, y = 1;
    descend(plain, .1, 2, &x), descend(nesterov, .1, 2, &y);
    ck_assert_double_eq_tol((double)x, .54, IS_DOUBLE ? 1e-15 : 1e-7);
    ck_assert_double_eq_tol((double)y, .44, IS_DOUBLE ? 1e-15 : 1e-7);
    ts_optimiser_free(plain), ts_optimiser_free(nesterov);
}
END_TEST

START_TEST(a_saved_state_continues_bit_for_bit) {
    ts_optimiser *whole = create(ALL[_i], 2, NULL), *first = create(ALL[_i], 2, NULL),
                 *second = create(ALL[_i], 2, NULL);
    ts_real x[] = {1, -3}, y[] = {1, -3};
    descend(whole, .1, 4, x);
    descend(first, .1, 2, y);
    second->steps = first->steps;
    for (int i = 0; i < first->moments; i++) memcpy(second->moment[i], first->moment[i], 2 * sizeof(ts_real));
    descend(second, .1, 2, y);
    ck_assert_mem_eq(x, y, sizeof x);
    ts_optimiser_free(whole), ts_optimiser_free(first), ts_optimiser_free(second);
}
END_TEST

/* ---- frozen parameters ---- */

START_TEST(frozen_parameters_do_not_move) {
    ts_params *params = ts_params_create();
    const ts_init ones = {.kind = TS_INIT_ONES}, fixed = {.kind = TS_INIT_ONES, .fixed = true};
    ts_params_add(params, "a", TS_SHAPE(2), ones, &error);
    ts_params_add(params, "b", TS_SHAPE(3), fixed, &error);
    ts_params_add(params, "c", TS_SHAPE(1, 2), ones, &error);
    ck_assert_int_eq(ts_params_allocate(params, 1, &error), TS_OK);
    ts_optimiser *o = ts_optimiser_create_for(&ALL[_i], params, &error);
    ck_assert_ptr_nonnull(o);
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < 7; i++) ts_params_grads(params)[i] = i % 2 == 0 ? 1 : 0;
        ck_assert_int_eq(ts_optimiser_step(o, .1, 7, ts_params_values(params), ts_params_grads(params)), TS_OK);
    }
    for (int i = 0; i < 7; i++) {
        const bool learns = i < 2 || i >= 5, moved = ts_params_values(params)[i] != 1;
        ck_assert(moved == (learns && (i % 2 == 0 || ALL[_i].decay > 0)));
    }
    ts_optimiser_free(o);
    ts_params_free(params);
}
END_TEST

/* ---- refusals ---- */

START_TEST(bad_specs_are_refused) {
    const struct {
        ts_optimiser_spec spec;
        const char *text;
    } cases[] = {
        {{.kind = (ts_optimiser_kind)9}, "there is no optimiser 9"},
        {{.kind = TS_SGD, .momentum = 1}, "sgd: momentum must be in [0,1), not 1"},
        {{.kind = TS_SGD, .momentum = NAN}, "sgd: momentum is missing"},
        {{.kind = TS_SGD, .decay = .1}, "sgd: number 4 is 0.1, but it has 2"},
        {{.kind = TS_ADAM, .beta1 = -.1, .beta2 = .9, .epsilon = 1}, "adam: beta1 must be in [0,1), not -0.1"},
        {{.kind = TS_ADAM, .beta1 = .9, .beta2 = 1, .epsilon = 1}, "adam: beta2 must be in [0,1), not 1"},
        {{.kind = TS_ADAM, .beta1 = .9, .beta2 = .9}, "adam: epsilon must be above 0, not 0"},
        {{.kind = TS_ADAM, .epsilon = 1, .decay = .1}, "adam: number 4 is 0.1, but it has 3"},
        {{.kind = TS_ADAMW, .epsilon = 1, .decay = -1}, "adamw: decay must be at least 0, not -1"},
        {{.kind = TS_ADAMW, .epsilon = 1, .decay = INFINITY}, "adamw: decay must be at least 0 and finite, not inf"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        error = (ts_error){.status = TS_OK};
        ck_assert_ptr_null(ts_optimiser_create(&cases[i].spec, 1, NULL, &error));
        ck_assert_int_eq(error.status, TS_ERROR_VALUE);
        ck_assert_msg(strstr(error.text, cases[i].text) != NULL, "%s", error.text);
    }
    error = (ts_error){.status = TS_OK};
    ck_assert_ptr_null(ts_optimiser_create(&ALL[0], -1, NULL, &error));
    ts_optimiser_free(NULL);
}
END_TEST

START_TEST(a_refused_step_changes_nothing) {
    ts_optimiser *o = create(ts_optimiser_defaults(TS_ADAMW), 1, NULL);
    ts_real x = 1, g = 1;
    ck_assert_int_eq(ts_optimiser_step(o, .1, 2, &x, &g), TS_ERROR_USAGE);
    ck_assert_int_eq(ts_optimiser_step(o, -.1, 1, &x, &g), TS_ERROR_VALUE);
    ck_assert_int_eq(ts_optimiser_step(o, NAN, 1, &x, &g), TS_ERROR_VALUE);
    ck_assert_int_eq(ts_optimiser_step(o, INFINITY, 1, &x, &g), TS_ERROR_VALUE);
    ck_assert(x == 1 && o->steps == 0 && o->moment[0][0] == 0 && o->moment[1][0] == 0);
    ck_assert_int_eq(ts_optimiser_step(o, 0, 1, &x, &g), TS_OK);
    ck_assert(x == 1 && o->steps == 1 && o->moment[0][0] > 0);
    ts_optimiser_free(o);
}
END_TEST

/* Too large for the moments: such a step would end in an infinity that holds its parameter where it is for ever. */
START_TEST(a_gradient_that_no_moment_holds_changes_nothing) {
    const double most = IS_DOUBLE ? DBL_MAX : FLT_MAX;
    const ts_real wrong[] = {(ts_real)(2e3 * sqrt(most)), NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 4; i++) {
        ts_optimiser *o = create(ALL[_i], 2, NULL);
        ts_real x[] = {1, 2}, g[] = {1, 1};
        ck_assert_int_eq(ts_optimiser_step(o, .1, 2, x, g), TS_OK);
        const ts_real before[] = {x[0], x[1]}, first = o->moment[0][0], fine[] = {(ts_real)sqrt(most) / 8, 1};
        const ts_real bad[] = {1, wrong[i]};
        const bool takes = o->spec.kind == TS_SGD && i == 0; /* which has no squares */
        ck_assert_int_eq(ts_optimiser_step(o, .1, 2, x, bad), takes ? TS_OK : TS_ERROR_VALUE);
        if (!takes) ck_assert(x[0] == before[0] && x[1] == before[1] && o->steps == 1 && o->moment[0][0] == first);
        if (!takes) ck_assert_int_eq(ts_optimiser_step(o, .1, 2, x, fine), TS_OK);
        for (int m = 0; m < o->moments; m++) ck_assert(isfinite(o->moment[m][0]) && isfinite(o->moment[m][1]));
        ts_optimiser_free(o);
    }
}
END_TEST

START_TEST(a_velocity_that_grows_too_large_is_refused) {
    ts_optimiser *o = create(ALL[1], 1, NULL);
    ts_real x = 0, g = (ts_real)((IS_DOUBLE ? DBL_MAX : FLT_MAX) / 2);
    ck_assert_int_eq(ts_optimiser_step(o, 0, 1, &x, &g), TS_OK);
    ck_assert_int_eq(ts_optimiser_step(o, 0, 1, &x, &g), TS_OK);
    ck_assert_int_eq(ts_optimiser_step(o, 0, 1, &x, &g), TS_ERROR_VALUE);
    ck_assert(o->steps == 2 && isfinite(o->moment[0][0]));
    ts_optimiser_free(o);
}
END_TEST

START_TEST(parameters_that_are_not_allocated_are_refused) {
    const ts_optimiser_spec spec = ts_optimiser_defaults(TS_ADAM);
    ts_params *params = ts_params_create();
    ck_assert_int_eq(ts_params_add(params, "w", TS_SHAPE(2), (ts_init){.kind = TS_INIT_ONES}, &error), 0);
    ck_assert_ptr_null(ts_optimiser_create_for(&spec, params, &error));
    ck_assert_str_eq(error.text, "optimiser: the parameters are not allocated yet (ts_params_allocate)");
    ts_optimiser *o = create(spec, 1, NULL);
    ts_real x = 1;
    ck_assert_int_eq(ts_optimiser_step(o, .1, 1, &x, NULL), TS_ERROR_USAGE);
    ck_assert_int_eq(ts_optimiser_step(o, .1, 1, NULL, &x), TS_ERROR_USAGE);
    ts_optimiser_free(o);
    ts_params_free(params);
}
END_TEST

START_TEST(no_parameters_at_all) {
    ts_optimiser *o = create(ts_optimiser_defaults(TS_ADAM), 0, NULL);
    ts_real none = 0;
    ck_assert_int_eq(ts_optimiser_step(o, .1, 0, &none, &none), TS_OK);
    ck_assert(ts_clip_gradients(1, 0, &none) == 0);
    ts_optimiser_free(o);
}
END_TEST

/* ---- clipping ---- */

START_TEST(gradients_are_clipped_to_the_limit) {
    ts_real g[] = {3, 4};
    ck_assert(ts_clip_gradients(5, 2, g) == 5 && g[0] == 3 && g[1] == 4);
    ck_assert(ts_clip_gradients(INFINITY, 2, g) == 5 && g[0] == 3);
    ck_assert(ts_clip_gradients(1, 2, g) == 5);
    ck_assert(g[0] == (ts_real).6 && g[1] == (ts_real).8);
    ts_real large[100];
    for (int i = 0; i < 100; i++) large[i] = (ts_real)1e20f;
    ck_assert_double_eq_tol(ts_clip_gradients(1, 100, large) / 1e21, 1, 1e-7);
    for (int i = 0; i < 100; i++) ck_assert_double_eq_tol((double)large[i], .1, IS_DOUBLE ? 1e-16 : 1e-8);
    ts_real beyond[] = {(ts_real)(IS_DOUBLE ? 3e200 : 3e30), (ts_real)(IS_DOUBLE ? 4e200 : 4e30)};
    ck_assert_double_eq_tol(ts_clip_gradients(1, 2, beyond) / (IS_DOUBLE ? 5e200 : 5e30), 1, IS_DOUBLE ? 1e-14 : 1e-7);
    ck_assert_double_eq_tol((double)beyond[0], .6, IS_DOUBLE ? 1e-15 : 1e-7); /* squares beyond double */
    ck_assert_double_eq_tol((double)beyond[1], .8, IS_DOUBLE ? 1e-15 : 1e-7);
    ts_real zeros[] = {0, 0};
    ck_assert(ts_clip_gradients(1, 2, zeros) == 0 && zeros[0] == 0);
}
END_TEST

START_TEST(gradients_that_are_not_finite_are_reported_and_left) {
    ts_real infinite[] = {INFINITY, 1}, nan[] = {2, NAN, 1};
    ck_assert(isinf(ts_clip_gradients(1, 2, infinite)) && isinf(infinite[0]) && infinite[1] == 1);
    ck_assert(isnan(ts_clip_gradients(1, 3, nan)) && nan[0] == 2 && isnan(nan[1]) && nan[2] == 1);
}
END_TEST

/* ---- threads ---- */

enum { MANY = 70001 };

static void train_many(int threads, ts_optimiser_spec spec, ts_real *x) {
#ifdef _OPENMP
    omp_set_num_threads(threads);
#else
    (void)threads;
#endif
    ts_optimiser *o = create(spec, MANY, NULL);
    ts_real *g = malloc(MANY * sizeof *g);
    ck_assert_ptr_nonnull(g);
    for (uint64_t i = 0; i < MANY; i++) x[i] = (ts_real)ts_rng_uniform((ts_rng){test_seed(), 1, 0}, i);
    for (uint32_t t = 0; t < 3; t++) {
        for (uint64_t i = 0; i < MANY; i++) g[i] = (ts_real)ts_rng_uniform((ts_rng){test_seed(), 2, t}, i) - x[i];
        const double norm = ts_clip_gradients(1, MANY, g);
        ck_assert(norm > 1 && isfinite(norm));
        ts_optimiser_step(o, .01, MANY, x, g);
    }
    free(g);
    ts_optimiser_free(o);
}

START_TEST(threads_do_not_change_a_bit) {
    ts_real *one = malloc(MANY * sizeof *one), *several = malloc(MANY * sizeof *several);
    ck_assert(one != NULL && several != NULL);
#ifndef _OPENMP
    skip_part("no OpenMP, one thread only");
#endif
    train_many(1, ALL[_i], one);
    train_many(5, ALL[_i], several);
    ck_assert_mem_eq(one, several, MANY * sizeof *one);
    free(one), free(several);
}
END_TEST

int main(void) {
    ts_parallel_cutoff = 1000; /* small work meets threads */
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_test(tests, optimisers_by_name);
    tcase_add_test(tests, adam_on_a_parabola);
    tcase_add_loop_test(tests, sequences_follow_the_formulas, 0, SPECS);
    tcase_add_test(tests, two_steps_of_sgd_by_hand);
    tcase_add_loop_test(tests, a_saved_state_continues_bit_for_bit, 0, SPECS);
    tcase_add_loop_test(tests, frozen_parameters_do_not_move, 0, SPECS);
    tcase_add_test(tests, bad_specs_are_refused);
    tcase_add_test(tests, a_refused_step_changes_nothing);
    tcase_add_loop_test(tests, a_gradient_that_no_moment_holds_changes_nothing, 0, SPECS);
    tcase_add_test(tests, a_velocity_that_grows_too_large_is_refused);
    tcase_add_test(tests, parameters_that_are_not_allocated_are_refused);
    tcase_add_test(tests, no_parameters_at_all);
    tcase_add_test(tests, gradients_are_clipped_to_the_limit);
    tcase_add_test(tests, gradients_that_are_not_finite_are_reported_and_left);
    tcase_add_loop_test(tests, threads_do_not_change_a_bit, 0, SPECS);
    return run_case("optimiser", tests);
}
