/* Options of a training: what is refused, and what they mean for unrolled steps and for memory. */
#include <math.h>
#include <string.h>

#include "trained.h"

static void expect_refused(const ts_train_options *o, const char *message) {
    ts_error error = {.status = TS_OK};
    ts_trainer *t = ts_trainer_create(o, &error);
    ck_assert_msg(t == NULL, "not refused: %s", message);
    ck_assert_msg(strstr(error.text, message) != NULL, "'%s' is not in: %s", message, error.text);
}

/* One field of the options that is wrong. */
typedef struct wrong_whole {
    size_t field;
    int64_t value;
    const char *message;
} wrong_whole;
typedef struct wrong_real {
    size_t field;
    double value;
    const char *message;
} wrong_real;
#define FIELD(name) offsetof(ts_train_options, name)

static const wrong_whole wrong_numbers[] = {
    {FIELD(batch), 0, "batch must be from 1 to 65536, not 0"},
    {FIELD(batch), 65537, "batch must be"},
    {FIELD(steps), -1, "steps must be"},
    {FIELD(steps), (int64_t)1 << 32, "steps must be"},
    {FIELD(unroll), 0, "unroll must be"},
    {FIELD(unroll), 1001, "unroll must be"},
    {FIELD(eval_every), 0, "eval_every must be"},
    {FIELD(eval_batches), 0, "eval_batches must be"},
    {FIELD(eval_batches), 65537, "eval_batches must be"},
    {FIELD(pool), -1, "pool must be"},
    {FIELD(pool), (int64_t)1 << 25, "pool must be"},
    {FIELD(n), 2, "k = 3"},
    {FIELD(n), 0, "n = 0"},
    {FIELD(n), INT64_MAX, "n = 9223372036854775807"},
    {FIELD(d), 0, "d = 0"},
    {FIELD(k), 0, "k = 0"},
    {FIELD(k), 33, "k = 33"},
};
static const wrong_real wrong_reals[] = {
    {FIELD(unroll_ramp), -0.1, "unroll_ramp must be"},
    {FIELD(unroll_ramp), 1.1, "unroll_ramp must be"},
    {FIELD(unroll_ramp), NAN, "unroll_ramp must be"},
    {FIELD(clip), -1, "clip must be"},
    {FIELD(clip), NAN, "clip must be"},
    {FIELD(loss.tau), 0, "tau must be"},
    {FIELD(loss.tau), INFINITY, "tau must be"},
    {FIELD(loss.tau), NAN, "tau must be"},
    {FIELD(component_scale), 0, "scale"},
    {FIELD(component_scale), NAN, "scale"},
    {FIELD(gamma), 0, "gamma"},
    {FIELD(gamma), INFINITY, "gamma"},
    {FIELD(dropout), 1.1, "dropout"},
    {FIELD(dropout), -0.1, "dropout"},
    {FIELD(schedule.rate), -1, "rate"},
    {FIELD(schedule.factor), 1.5, "factor"},
    {FIELD(optimiser.beta1), 1, "beta"},
    {FIELD(optimiser.epsilon), 0, "epsilon"},
};

START_TEST(wrong_options_are_named) {
    for (size_t i = 0; i < sizeof wrong_numbers / sizeof wrong_numbers[0]; i++) {
        ts_train_options o = small();
        memcpy((char *)&o + wrong_numbers[i].field, &wrong_numbers[i].value, sizeof wrong_numbers[i].value);
        expect_refused(&o, wrong_numbers[i].message);
    }
    for (size_t i = 0; i < sizeof wrong_reals / sizeof wrong_reals[0]; i++) {
        ts_train_options o = small();
        memcpy((char *)&o + wrong_reals[i].field, &wrong_reals[i].value, sizeof wrong_reals[i].value);
        expect_refused(&o, wrong_reals[i].message);
    }
}
END_TEST

START_TEST(wrong_combinations_are_named) {
    ts_train_options o = small();
    ts_error error = {.status = TS_OK};
    ck_assert_int_eq(ts_train_check(&o, &error), TS_OK);
    o.families = 0;
    expect_refused(&o, "families must be from 1 to 6");
    o.families = 7;
    expect_refused(&o, "families must be");
    o.families = 1;
    o.batch = o.eval_batches = 5000;
    expect_refused(&o, "eval_batches * batch is beyond 16777216");
    o = small();
    o.construction = TS_CONSTRUCTION_DOT;
    expect_refused(&o, "onehot, binary or none");
    o = small();
    o.families = 2;
    o.family[1] = TS_FAMILY_LOGNORMAL;
    o.component_scale = 65;
    expect_refused(&o, "lognormal");
    o = small();
    o.n = 32;
    o.d = (int64_t)1 << 35; /* matrices of 2^70 numbers */
    expect_refused(&o, "d = 34359738368 and k = 3 have 34359738371 numbers, more than 8192");
    o.d = (1 << 13) - 2;
    expect_refused(&o, "have 8193 numbers, more than 8192");
}
END_TEST

static double memory_of(const ts_train_options *o, int threads) {
    ts_error error = {.status = TS_OK};
    double bytes = 0;
    ts_trainer *t = ts_trainer_create(o, &error);
    ck_assert_msg(t != NULL && ts_trainer_memory(t, threads, &bytes, &error) == TS_OK, "%s", error.text);
    ts_trainer_free(t);
    return bytes;
}

/* A task is measured: more points, steps and threads take more, in proportion. */
START_TEST(memory_is_foretold) {
    ts_train_options o = ts_train_defaults();
    o.batch = 4;
    o.eval_batches = 1;
    o.n = 1 << 14;
    const double one = memory_of(&o, 1), four = memory_of(&o, 4);
    ck_assert(one > 5e3 * (double)o.n && one < 10e3 * (double)o.n);
    ck_assert_double_eq_tol(four / one, 4, 0.1);
    ck_assert_double_eq(memory_of(&o, 5), one); /* fewer tasks than threads: one after the other */
    o.unroll = 5;
    ck_assert(memory_of(&o, 1) > 2 * one);
    o.n = 1 << 8;
    o.eval_batches = 1 << 14;
    ck_assert(memory_of(&o, 1) > 6 * 16.0 * 4 * (1 << 14));
}
END_TEST

START_TEST(steps_that_are_trained_through) {
    ts_train_options o = small();
    static const int64_t of_eight[] = {1, 1, 2, 2, 3, 3, 4, 4, 4, 4};
    o.steps = 4000;
    o.unroll = 5;
    ck_assert_int_eq(ts_train_unroll_at(&o, 0), 5);
    o.unroll_ramp = 0.5;
    static const int64_t at[][2] = {{0, 1},    {399, 1},  {400, 2},  {799, 2},  {800, 3},
                                    {1599, 4}, {1600, 5}, {1999, 5}, {2000, 5}, {3999, 5}};
    for (int i = 0; i < 10; i++) ck_assert_int_eq(ts_train_unroll_at(&o, at[i][0]), at[i][1]);
    o.unroll_ramp = 1;
    o.steps = 8;
    o.unroll = 4;
    for (int s = 0; s < 10; s++) ck_assert_int_eq(ts_train_unroll_at(&o, s), of_eight[s]);
    ts_trainer *t = make(&o);
    for (int s = 0; s < 8; s++) ck_assert_int_eq(step(t).unroll, of_eight[s]);
    ts_trainer_free(t);
    o.unroll = 1;
    ck_assert_int_eq(ts_train_unroll_at(&o, 0), 1);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, steps_that_are_trained_through);
    tcase_add_test(tests, memory_is_foretold);
    tcase_add_test(tests, wrong_options_are_named);
    tcase_add_test(tests, wrong_combinations_are_named);
    return run_case_in_folder("options of a training", tests);
}
