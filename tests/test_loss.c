#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../autograd/gradcheck.h"
#include "../models/data/scores.h"
#include "../train/loss.h"
#include "test_main.h"

static const bool IS_DOUBLE = sizeof(ts_real) == sizeof(double);

enum { LARGEST = 600, MOST_CENTERS = 32 };

enum { SOFT_LOSSES = 2 }; /* softmin and sparsemin */

static ts_loss_spec make_spec(ts_loss_kind kind, double tau, bool log) {
    return (ts_loss_spec){.kind = kind, .tau = tau, .log = log};
}

static double loss_of(ts_loss_spec spec, ts_shape points, const ts_real *x, ts_shape centers, const ts_real *c) {
    ts_tape *tape = ts_tape_create(TS_INFER);
    const ts_tensor *loss =
        ts_clustering_loss(tape, ts_constant(tape, points, x), ts_constant(tape, centers, c), &spec);
    ck_assert_msg(ts_tape_error(tape) == NULL, "%s", ts_tape_error(tape));
    ck_assert_int_eq(loss->shape.rank, 0);
    const double value = (double)loss->data[0];
    ts_tape_free(tape);
    return value;
}

START_TEST(losses_by_name) {
    for (int i = 0; i < SOFT_LOSSES; i++) {
        ts_loss_kind kind = (ts_loss_kind)((i + 1) % SOFT_LOSSES);
        ck_assert(ts_loss_by_name(ts_loss_name((ts_loss_kind)i), &kind));
        ck_assert_int_eq((int)kind, i);
    }
    ts_loss_kind kind = TS_LOSS_SPARSEMIN;
    ck_assert(!ts_loss_by_name("softmax", &kind) && !ts_loss_by_name("", &kind));
    ck_assert_int_eq((int)kind, TS_LOSS_SPARSEMIN);
    ck_assert_ptr_null(ts_loss_name(ts_loss_kinds));
}
END_TEST

/* ---- values by hand ---- */

/* One point at 0, centres at 1 and 2: r = (1, 4). softmin: 1 + 3 / (1 + e^(3/tau)). sparsemin: 1 when tau <= 3, else
 * p = (1/2 + 3/(2 tau), 1/2 - 3/(2 tau)). */
START_TEST(one_point_between_two_centres) {
    static const struct {
        ts_loss_kind kind;
        double tau, value;
    } cases[] = {
        {TS_LOSS_SOFTMIN, 1, 1.142277619533}, {TS_LOSS_SOFTMIN, 3, 1.80682426411}, {TS_LOSS_SOFTMIN, 1e30, 2.5},
        {TS_LOSS_SOFTMIN, 1e-30, 1},          {TS_LOSS_SPARSEMIN, 1, 1},           {TS_LOSS_SPARSEMIN, 3, 1},
        {TS_LOSS_SPARSEMIN, 6, 1.75},         {TS_LOSS_SPARSEMIN, 1e30, 2.5},      {TS_LOSS_SPARSEMIN, 1e-320, 1},
    };
    const ts_real point[] = {0}, centers[] = {1, 2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int log_too = 0; log_too < 2; log_too++) {
            const double expected = log_too ? log(cases[i].value) : cases[i].value;
            const double got = loss_of(make_spec(cases[i].kind, cases[i].tau, log_too), TS_SHAPE(1, 1), point,
                                       TS_SHAPE(2, 1), centers);
            ck_assert_double_eq_tol(got, expected, IS_DOUBLE ? 1e-12 : 1e-6);
        }
}
END_TEST

/* The mean of L is not the mean of log L. Second task: a point 3 away from both centres. */
START_TEST(tasks_are_averaged_after_the_logarithm) {
    const ts_real points[] = {0, 5}, centers[] = {1, 2, 2, 8};
    const ts_shape x = TS_SHAPE(2, 1, 1), c = TS_SHAPE(2, 2, 1);
    const double plain = loss_of(make_spec(TS_LOSS_SPARSEMIN, 6, false), x, points, c, centers);
    const double logs = loss_of(make_spec(TS_LOSS_SPARSEMIN, 6, true), x, points, c, centers);
    ck_assert_double_eq_tol(plain, (1.75 + 9) / 2, IS_DOUBLE ? 1e-14 : 1e-6);
    ck_assert_double_eq_tol(logs, (log(1.75) + log(9)) / 2, IS_DOUBLE ? 1e-14 : 1e-6);
}
END_TEST

/* Of two points, one lies on a centre, the other between both. */
START_TEST(ties_and_coincidence_have_finite_gradients) {
    for (int kind = 0; kind < SOFT_LOSSES; kind++)
        for (int t = 0; t < 3; t++) {
            const ts_loss_spec spec = make_spec((ts_loss_kind)kind, (double[]){1e-300, 1e-3, 1e-2}[t], false);
            ts_tape *tape = ts_tape_create(TS_RECORD);
            ts_tensor *x = ts_variable(tape, TS_SHAPE(2, 1), (ts_real[]){-1, 0});
            ts_tensor *c = ts_variable(tape, TS_SHAPE(2, 1), (ts_real[]){-1, 1});
            ts_tensor *loss = ts_clustering_loss(tape, x, c, &spec);
            ck_assert_double_eq_tol((double)loss->data[0], 1, IS_DOUBLE ? 1e-15 : 1e-7);
            ck_assert_int_eq(ts_backward(tape, loss), TS_OK);
            const double got[] = {(double)x->grad[0], (double)x->grad[1], (double)c->grad[0], (double)c->grad[1]};
            for (int i = 0; i < 4; i++) ck_assert_double_eq_tol(got[i], ((double[]){0, 0, -1, 1})[i], 1e-9);
            ts_tape_free(tape);
        }
}
END_TEST

START_TEST(centres_on_all_points_cost_nothing) {
    const ts_real points[] = {1, 2, 3, 4};
    for (int kind = 0; kind < SOFT_LOSSES; kind++) {
        const ts_shape s = TS_SHAPE(2, 2);
        ck_assert(loss_of(make_spec((ts_loss_kind)kind, 1e-2, false), s, points, s, points) == 0);
        ck_assert(loss_of(make_spec((ts_loss_kind)kind, 1e-2, true), s, points, s, points) == -INFINITY);
    }
}
END_TEST

/* ---- the formula and the bound, on random problems ---- */

static double plain_softmin(int k, const double *r, double tau, double least) {
    double sum = 0, total = 0;
    for (int j = 0; j < k; j++) total += exp((least - r[j]) / tau);
    for (int j = 0; j < k; j++) sum += exp((least - r[j]) / tau) / total * r[j];
    return sum;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* By sorting: of the sorted row the first m are the support, m the largest with 1 + m s_m > sum_(i<=m) s_i, where s =
 * -r / tau. */
static double plain_sparsemin(int k, double *r, double tau) {
    double sum = 0, result = 0;
    int m = 0;
    qsort(r, (size_t)k, sizeof *r, compare_doubles);
    for (int i = 0; i < k; i++) {
        sum += r[i] - r[0];
        if (tau + sum - (i + 1) * (r[i] - r[0]) <= 0) break;
        m = i + 1;
    }
    sum = 0;
    for (int i = 0; i < m; i++) sum += (r[i] - r[0]) / tau;
    for (int i = 0; i < m; i++) result += ((1 + sum) / m - (r[i] - r[0]) / tau) * r[i];
    return result;
}

static double plain_loss(ts_loss_kind kind, double tau, int n, int d, int k, const ts_real *x, const ts_real *c) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double r[MOST_CENTERS] = {0}, least = INFINITY;
        for (int j = 0; j < k; j++) {
            for (int a = 0; a < d; a++) r[j] += pow((double)x[i * d + a] - (double)c[j * d + a], 2);
            least = fmin(least, r[j]);
        }
        sum += kind == TS_LOSS_SOFTMIN ? plain_softmin(k, r, tau, least) : plain_sparsemin(k, r, tau);
    }
    return sum;
}

static ts_rng problems(uint32_t number) {
    return (ts_rng){test_seed(), ts_rng_stream("loss"), number};
}

/* Every other problem lies on a grid of integers: ties, and centres on points. */
static void fill(uint32_t number, const char *what, int count, ts_real *to) {
    const ts_rng rng = {test_seed(), ts_rng_stream(what), number};
    for (int i = 0; i < count; i++) {
        const double u = 4 * ts_rng_uniform(rng, (uint64_t)i);
        to[i] = (ts_real)(number % 2 == 0 ? u : floor(u));
    }
}

START_TEST(losses_follow_the_formula_and_bound_the_objective) {
    static const double taus[] = {1e-310, 1e-40, 1e-10, 1e-3, .1, 1, 10, 1e5, 1e40, 1e300};
    ts_real x[LARGEST], c[LARGEST];
    for (uint32_t number = 0; number < 300; number++) {
        const int n = 1 + (int)(20 * ts_rng_uniform(problems(number), 0)), k = 1 + (int)number / 2 % 12;
        const int d = 1 + (int)number % 7;
        fill(number, "loss points", n * d, x), fill(number, "loss centres", k * d, c);
        const ts_points points = {.n = n, .d = d, .real = x};
        double centers[LARGEST];
        for (int i = 0; i < k * d; i++) centers[i] = (double)c[i];
        const double objective = ts_trimmed_objective(&points, k, centers, 0), slack = IS_DOUBLE ? 1e-12 : 2e-6;
        for (size_t t = 0; t < sizeof taus / sizeof *taus; t++) {
            double loss[SOFT_LOSSES];
            for (int kind = 0; kind < SOFT_LOSSES; kind++) {
                loss[kind] =
                    loss_of(make_spec((ts_loss_kind)kind, taus[t], false), TS_SHAPE(n, d), x, TS_SHAPE(k, d), c);
                const double plain = plain_loss((ts_loss_kind)kind, taus[t], n, d, k, x, c);
                ck_assert_msg(loss[kind] >= objective * (1 - slack), "problem %u, tau %g: %.9g < %.9g", number, taus[t],
                              loss[kind], objective);
                if (taus[t] > 1e-9)
                    ck_assert_double_eq_tol(loss[kind], plain, (IS_DOUBLE ? 1e-13 : 2e-6) * (1 + plain));
            }
            ck_assert(loss[TS_LOSS_SPARSEMIN] <= loss[TS_LOSS_SOFTMIN] * (1 + slack)); /* the tighter bound */
        }
    }
}
END_TEST

/* Far from the origin of distances: an excess of 1 over distances of 10^6 still decides. */
START_TEST(large_distances_keep_their_differences) {
    const ts_real point[] = {0, 0}, centers[] = {1024, 0, 1024, 1};
    const double r = 1024. * 1024;
    ck_assert_double_eq_tol(
        loss_of(make_spec(TS_LOSS_SOFTMIN, 1, false), TS_SHAPE(1, 2), point, TS_SHAPE(2, 2), centers),
        r + 1 / (1 + exp(1)), IS_DOUBLE ? 1e-9 : .07);
    ts_tape *tape = ts_tape_create(TS_RECORD);
    ts_tensor *c = ts_variable(tape, TS_SHAPE(2, 2), centers);
    const ts_loss_spec spec = make_spec(TS_LOSS_SOFTMIN, 1, false);
    ck_assert_int_eq(ts_backward(tape, ts_clustering_loss(tape, ts_constant(tape, TS_SHAPE(1, 2), point), c, &spec)),
                     TS_OK);
    const double p = 1 / (1 + exp(1)); /* of the second: dL/dr = p + p (1 - p) (r_1 - r_2) */
    ck_assert_double_eq_tol((double)c->grad[2], 2048 * (p - p * (1 - p)), IS_DOUBLE ? 1e-10 : 2e-5);
    ts_tape_free(tape);
}
END_TEST

/* ---- gradients ---- */

typedef struct gradient_case {
    ts_shape points, centers;
    double tau;
} gradient_case;

static const gradient_case GRADIENT_CASES[] = {
    {TS_DIMS(5, 3), TS_DIMS(4, 3), 1},       {TS_DIMS(6, 2), TS_DIMS(3, 2), .5},
    {TS_DIMS(6, 2), TS_DIMS(3, 2), 20},      {TS_DIMS(2, 5, 3), TS_DIMS(2, 4, 3), 2},
    {TS_DIMS(3, 5, 2), TS_DIMS(3, 1, 2), 1}, {TS_DIMS(2, 3, 4, 1), TS_DIMS(2, 3, 2, 1), 3},
};
enum { GRADIENT_CASE_COUNT = sizeof GRADIENT_CASES / sizeof *GRADIENT_CASES };

static ts_tensor *loss_function(ts_tape *tape, ts_tensor *const in[], void *context) {
    return ts_clustering_loss(tape, in[0], in[1], context);
}

/* Case, kind and logarithm. In float the differences drown in rounding near a kink of sparsemax. */
START_TEST(gradients) {
    const gradient_case *g = &GRADIENT_CASES[_i / 4];
    ts_loss_spec spec = make_spec((ts_loss_kind)(_i / 2 % 2), g->tau, _i % 2);
    ts_real x[LARGEST], c[LARGEST];
    for (int i = 0; i < (int)ts_shape_size(&g->points); i++)
        x[i] = (ts_real)(float)(4 * ts_rng_uniform(problems(1000), (uint64_t)i) - 2);
    for (int i = 0; i < (int)ts_shape_size(&g->centers); i++)
        c[i] = (ts_real)(float)(4 * ts_rng_uniform(problems(2000), (uint64_t)i) - 2);
    ts_gradcheck_report report;
    const ts_status status = ts_gradcheck(loss_function, &spec, 2, (const ts_shape[]){g->points, g->centers},
                                          (const ts_real *[]){x, c}, NULL, test_seed(), 1e-7, &report);
    ck_assert_msg(status == TS_OK, "case %d, seed %" PRIu64 ": %s", _i, test_seed(), report.text);
}
END_TEST

/* ---- refusals and modes ---- */

static void expect_refused(ts_loss_spec spec, const char *text) {
    ts_tape *tape = ts_tape_create(TS_RECORD);
    ts_tensor *x = ts_constant(tape, TS_SHAPE(2, 1), NULL), *c = ts_constant(tape, TS_SHAPE(3, 1), NULL);
    ts_clustering_loss(tape, x, c, &spec);
    ck_assert_int_eq(ts_tape_status(tape), TS_ERROR_VALUE);
    ck_assert_msg(strstr(ts_tape_error(tape), text) != NULL, "%s", ts_tape_error(tape));
    ts_tape_free(tape);
}

START_TEST(bad_specs_are_refused_by_name) {
    expect_refused(make_spec(TS_LOSS_SOFTMIN, 0, false), "clustering loss softmin: tau is 0");
    expect_refused(make_spec(TS_LOSS_SPARSEMIN, -1, true), "clustering loss sparsemin: tau is -1");
    expect_refused(make_spec(TS_LOSS_SOFTMIN, NAN, false), "softmin: tau is ");
    expect_refused(make_spec(TS_LOSS_SOFTMIN, INFINITY, false), "softmin: tau is inf");
    expect_refused(make_spec((ts_loss_kind)7, 1, false), "there is no kind 7");
}
END_TEST

START_TEST(bad_shapes_fail_and_do_not_crash) {
    static const struct {
        ts_shape points, centers;
    } cases[] = {{TS_DIMS(4), TS_DIMS(4)},
                 {TS_DIMS(4, 2), TS_DIMS(3, 1)},
                 {TS_NO_DIMS, TS_NO_DIMS},
                 {TS_DIMS(4, 2), TS_DIMS(0, 2)},
                 {TS_DIMS(0, 4, 2), TS_DIMS(0, 3, 2)}};
    const ts_loss_spec spec = make_spec(TS_LOSS_SOFTMIN, 1, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ts_tape *tape = ts_tape_create(TS_RECORD);
        ts_clustering_loss(tape, ts_constant(tape, cases[i].points, NULL), ts_constant(tape, cases[i].centers, NULL),
                           &spec);
        ck_assert_ptr_nonnull(ts_tape_error(tape));
        ts_tape_free(tape);
    }
}
END_TEST

START_TEST(nan_is_not_hidden) {
    for (int kind = 0; kind < SOFT_LOSSES; kind++) {
        const ts_loss_spec spec = make_spec((ts_loss_kind)kind, 1, kind == 0);
        ck_assert(isnan(loss_of(spec, TS_SHAPE(2, 1), (ts_real[]){0, 1}, TS_SHAPE(2, 1), (ts_real[]){0, NAN})));
        ck_assert(isnan(loss_of(spec, TS_SHAPE(2, 1), (ts_real[]){NAN, 1}, TS_SHAPE(2, 1), (ts_real[]){0, 1})));
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, losses_by_name);
    tcase_add_test(tests, one_point_between_two_centres);
    tcase_add_test(tests, tasks_are_averaged_after_the_logarithm);
    tcase_add_test(tests, ties_and_coincidence_have_finite_gradients);
    tcase_add_test(tests, centres_on_all_points_cost_nothing);
    tcase_add_test(tests, losses_follow_the_formula_and_bound_the_objective);
    tcase_add_test(tests, large_distances_keep_their_differences);
    if (IS_DOUBLE) tcase_add_loop_test(tests, gradients, 0, 4 * GRADIENT_CASE_COUNT);
    tcase_add_test(tests, bad_specs_are_refused_by_name);
    tcase_add_test(tests, bad_shapes_fail_and_do_not_crash);
    tcase_add_test(tests, nan_is_not_hidden);
    return run_case("loss", tests);
}
