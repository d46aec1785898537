#include <math.h>
#include <string.h>

#include "../train/schedule.h"
#include "test_main.h"

static ts_schedule start(ts_schedule_spec spec) {
    ts_error error = {.status = TS_OK};
    ts_schedule s;
    ck_assert_msg(ts_schedule_start(&s, &spec, &error) == TS_OK, "%s", error.text);
    return s;
}

static void expect_rate(double got, double expected) {
    ck_assert_double_eq_tol(got, expected, 1e-14 * expected + 1e-300);
}

START_TEST(schedules_by_name) {
    for (int i = 0; i < TS_SCHEDULES; i++) {
        ts_schedule_kind kind = (ts_schedule_kind)((i + 1) % TS_SCHEDULES);
        ck_assert(ts_schedule_by_name(ts_schedule_name((ts_schedule_kind)i), &kind));
        ck_assert_int_eq((int)kind, i);
    }
    ts_schedule_kind kind = TS_SCHEDULE_COSINE;
    ck_assert(!ts_schedule_by_name("linear", &kind) && kind == TS_SCHEDULE_COSINE);
    ck_assert_ptr_null(ts_schedule_name((ts_schedule_kind)TS_SCHEDULES));
}
END_TEST

/* ---- by step ---- */

START_TEST(constant_after_a_linear_warm_up) {
    ts_schedule_spec spec = ts_schedule_defaults(TS_SCHEDULE_CONSTANT, .1, 0);
    ck_assert(ts_schedule_rate(&(ts_schedule){.spec = spec, .rate = .1}, 0) == .1);
    spec.warmup = 4;
    const ts_schedule s = start(spec);
    static const double expected[] = {.025, .05, .075, .1, .1, .1};
    for (int i = 0; i < 6; i++) expect_rate(ts_schedule_rate(&s, i), expected[i]);
    ck_assert(ts_schedule_rate(&s, INT64_MAX) == .1);
}
END_TEST

START_TEST(cosine_from_rate_to_floor) {
    ts_schedule_spec spec = ts_schedule_defaults(TS_SCHEDULE_COSINE, 2, 4);
    ts_schedule s = start(spec);
    static const double to_zero[] = {2, 1.7071067811865475, 1, .2928932188134525, 0, 0, 0};
    for (int i = 0; i < 7; i++) ck_assert_double_eq_tol(ts_schedule_rate(&s, i), to_zero[i], 1e-14);
    ck_assert(ts_schedule_rate(&s, 4) == 0 && ts_schedule_rate(&s, INT64_MAX) == 0);
    spec.floor = .5, spec.warmup = 2, spec.total = 8;
    s = start(spec);
    static const double warm[] = {
        1, 2, 2, 1.25 + .75 * .8660254037844386, 1.625, 1.25, .875, 1.25 - .75 * .8660254037844386, .5, .5};
    for (int i = 0; i < 10; i++) ck_assert_double_eq_tol(ts_schedule_rate(&s, i), warm[i], 1e-14);
    ck_assert(ts_schedule_rate(&s, 1) == 2 && ts_schedule_rate(&s, 2) == 2 && ts_schedule_rate(&s, 8) == .5);
    for (int i = 2; i < 8; i++) ck_assert(ts_schedule_rate(&s, i) > ts_schedule_rate(&s, i + 1));
}
END_TEST

START_TEST(only_plateau_listens) {
    ts_schedule s = start(ts_schedule_defaults(TS_SCHEDULE_COSINE, 1, 10));
    const ts_schedule before = s;
    for (int i = 0; i < 50; i++) ck_assert(!ts_schedule_observe(&s, 1));
    ck_assert(s.rate == before.rate && s.best == before.best && s.waited == 0 && s.cooling == 0);
}
END_TEST

/* ---- by metric ---- */

static ts_schedule_spec plateau(int64_t patience, int64_t cooldown) {
    ts_schedule_spec spec = ts_schedule_defaults(TS_SCHEDULE_PLATEAU, .1, 0);
    spec.patience = patience, spec.cooldown = cooldown;
    return spec;
}

/* Sequences end with a rate of 0; metrics repeat the last one. */
START_TEST(sequences_by_hand) {
    static const struct {
        int64_t patience, cooldown;
        double floor, metric[10], rate[11];
    } cases[] = {
        {2, 0, 0, {1, 1, 1, 1, 1, 1, 1, 1}, {.1, .1, .1, .01, .01, .01, .001, .001}},
        {2, 0, 0, {-1, -1, -1, -1, -1, -1, -1, -1}, {.1, .1, .1, .01, .01, .01, .001, .001}},
        {2, 1, 0, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {.1, .1, .1, .01, .01, .01, .01, .001, .001, .001}},
        {2, 1, 0, {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1}, {.1, .1, .1, .01, .01, .01, .01, .001, .001, .001}},
        {0, 0, .005, {0, 0, 0, 0, 0}, {.1, .01, .005, .005, .005}},
        {1, 0, 0, {4, 3, 2, 2, 1, 1, 1, 0, 0, -1}, {.1, .1, .1, .1, .1, .1, .01, .01, .01, .01}},
        {0, 0, 0, {1, .99995, .9998, -1, -1.00005, -1.0003}, {.1, .01, .01, .01, .001, .001}},
        {1, 0, 0, {NAN, NAN, NAN, 5, NAN, 4, NAN, NAN}, {.1, .01, .01, .01, .01, .01, .01, .001}},
        {0, 0, 0, {INFINITY, 3, INFINITY, -INFINITY, -INFINITY}, {.01, .01, .001, .001, .0001}},
        {0, 2, 0, {1, 1, 1, 1, 1, 1, 1, 1}, {.1, .01, .01, .01, .001, .001, .001, .0001}},
        {0, 0, 0, {100, 99.995, 99.95, 99.9405}, {.1, .01, .01, .001}}, /* the threshold is a share of the best */
        {0, 2, 0, {3, 3, 2, 2, 2, 1}, {.1, .01, .01, .01, .001, .001}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        ts_schedule_spec spec = plateau(cases[c].patience, cases[c].cooldown);
        spec.floor = cases[c].floor;
        ts_schedule s = start(spec);
        for (int i = 0; cases[c].rate[i] > 0; i++) {
            const double before = ts_schedule_rate(&s, i);
            const bool lower = ts_schedule_observe(&s, cases[c].metric[i]);
            expect_rate(ts_schedule_rate(&s, i), cases[c].rate[i]);
            ck_assert(lower == (ts_schedule_rate(&s, i) < before));
        }
    }
}
END_TEST

START_TEST(a_threshold_of_zero_takes_any_improvement) {
    ts_schedule_spec spec = plateau(0, 0);
    spec.threshold = 0;
    ts_schedule s = start(spec);
    double metric = 1;
    for (int i = 0; i < 20; i++, metric = nextafter(metric, -INFINITY)) ck_assert(!ts_schedule_observe(&s, metric));
    ck_assert(ts_schedule_observe(&s, s.best) && s.rate < .011);
}
END_TEST

START_TEST(plateau_after_a_warm_up) {
    ts_schedule_spec spec = plateau(0, 0);
    spec.warmup = 2;
    ts_schedule s = start(spec);
    expect_rate(ts_schedule_rate(&s, 0), .05);
    ts_schedule_observe(&s, 1), ts_schedule_observe(&s, 1);
    expect_rate(ts_schedule_rate(&s, 0), .005);
    expect_rate(ts_schedule_rate(&s, 1), .01);
}
END_TEST

static void observe_wave(ts_schedule *s, int from, int to) {
    for (int i = from; i < to; i++) ts_schedule_observe(s, i % 7 - i / 9.);
}

/* Stored as bytes after any number of observations. */
START_TEST(a_stored_state_continues_as_the_original) {
    ts_schedule whole = start(plateau(1, 2));
    observe_wave(&whole, 0, 40);
    ck_assert(whole.rate < .1);
    for (int i = 0; i <= 40; i++) {
        unsigned char bytes[sizeof(ts_schedule)];
        ts_schedule first = start(plateau(1, 2)), second;
        observe_wave(&first, 0, i);
        memcpy(bytes, &first, sizeof bytes);
        memcpy(&second, bytes, sizeof bytes);
        observe_wave(&second, i, 40);
        ck_assert(second.rate == whole.rate && second.best == whole.best);
        ck_assert(second.waited == whole.waited && second.cooling == whole.cooling);
    }
}
END_TEST

/* ---- refusals ---- */

START_TEST(bad_specs_are_refused) {
    const struct {
        ts_schedule_spec spec;
        const char *text;
    } cases[] = {
        {{.kind = (ts_schedule_kind)5, .rate = 1}, "there is no schedule 5"},
        {{.rate = 0}, "constant: rate is 0"},
        {{.rate = NAN}, "constant: rate"},
        {{.rate = INFINITY}, "constant: rate is inf"},
        {{.rate = 1, .warmup = -1}, "constant: warmup is -1"},
        {{.kind = TS_SCHEDULE_COSINE, .rate = 1}, "cosine: total is 0"},
        {{.kind = TS_SCHEDULE_COSINE, .rate = 1, .warmup = 5, .total = 5}, "cosine: total is 5"},
        {{.kind = TS_SCHEDULE_COSINE, .rate = 1, .total = 5, .floor = 2}, "cosine: floor is 2"},
        {{.kind = TS_SCHEDULE_PLATEAU, .rate = 1, .factor = 1}, "plateau: factor is 1"},
        {{.kind = TS_SCHEDULE_PLATEAU, .rate = 1, .factor = .5, .patience = -1}, "plateau: patience"},
        {{.kind = TS_SCHEDULE_PLATEAU, .rate = 1, .factor = .5, .cooldown = -1}, "plateau: patience and cooldown"},
        {{.kind = TS_SCHEDULE_PLATEAU, .rate = 1, .factor = .5, .threshold = 1}, "plateau: threshold is 1"},
        {{.kind = TS_SCHEDULE_PLATEAU, .rate = 1, .factor = .5, .floor = -1}, "plateau: floor is -1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ts_error error = {.status = TS_OK};
        ts_schedule s;
        ck_assert_int_eq(ts_schedule_start(&s, &cases[i].spec, &error), TS_ERROR_VALUE);
        ck_assert_msg(strstr(error.text, cases[i].text) != NULL, "%s", error.text);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, schedules_by_name);
    tcase_add_test(tests, constant_after_a_linear_warm_up);
    tcase_add_test(tests, cosine_from_rate_to_floor);
    tcase_add_test(tests, only_plateau_listens);
    tcase_add_test(tests, sequences_by_hand);
    tcase_add_test(tests, a_threshold_of_zero_takes_any_improvement);
    tcase_add_test(tests, plateau_after_a_warm_up);
    tcase_add_test(tests, a_stored_state_continues_as_the_original);
    tcase_add_test(tests, bad_specs_are_refused);
    return run_case("schedule", tests);
}
