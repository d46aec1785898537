/* The simplex maps row by row in double, the op that applies them along an axis, and the two normalisations. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/gradcheck.h"
#include "../autograd/ops.h"
#include "../autograd/parallel.h"
#include "test_main.h"

enum { LONGEST = 256, GUARD = 4 };
static const double GUARD_VALUE = 12345.678;

static ts_tape *tape;

static void setup(void) {
    tape = ts_tape_create(TS_RECORD);
}

static void teardown(void) {
    ts_tape_free(tape);
}

/* ---- running a map --------------------------------------------------------------------------------------------- */

typedef struct probe {
    const ts_simplex *map;
    double parameter;
    bool smooth; /* its gradient is its derivative and not zero everywhere */
} probe;

static const probe probes[] = {{&ts_softmax_map, 0, true},
                               {&ts_hardmax_map, 0, false},
                               {&ts_argmax_map, 0, false},
                               {&ts_sparsemax_map, 0, true},
                               {&ts_normmax_map, 1 + 1e-9, false},
                               {&ts_normmax_map, 1.01, true},
                               {&ts_normmax_map, 1.1, true},
                               {&ts_normmax_map, 1.5, true},
                               {&ts_normmax_map, 2, true},
                               {&ts_normmax_map, 3, true},
                               {&ts_normmax_map, 10, true},
                               {&ts_normmax_map, 100, true},
                               {&ts_normmax_map, 1e4, true},
                               {&ts_normmax_map, 1e6, false},
                               {&ts_normmax_inf_map, 0, false},
                               {&ts_linear_map, 0, true},
                               {&ts_gumbel_softmax_map, 0.7, true},
                               {&ts_gumbel_hardmax_map, 0.7, false},
                               {&ts_top_m_map, 0, false},
                               {&ts_top_m_map, 0.3, false},
                               {&ts_top_m_map, 0.999, false},
                               {&ts_entmax15_map, 0, true},
                               {&ts_power_map, 1, true},
                               {&ts_power_map, 2, true},
                               {&ts_power_map, 7.5, true},
                               {&ts_power_map, 1e6, false},
                               {&ts_fuzzy_map, 1 + 1e-9, false},
                               {&ts_fuzzy_map, 1.2, true},
                               {&ts_fuzzy_map, 2, true},
                               {&ts_fuzzy_map, 30, true},
                               {&ts_fuzzy_map, 1e300, false}};
enum { PROBES = sizeof probes / sizeof *probes };

static ts_simplex_row row_of(const probe *of, int64_t n, double *work) {
    const ts_rng rng = {test_seed(), ts_rng_stream("noise"), 0};
    return (ts_simplex_row){.parameter = of->parameter, .rng = rng, .first = 40, .n = n, .work = work};
}

static void check_guard(const double *end) {
    for (int i = 0; i < GUARD; i++) ck_assert(end[i] == GUARD_VALUE);
}

static void set_guard(double *end) {
    for (int i = 0; i < GUARD; i++) end[i] = GUARD_VALUE;
}

/* p = the weights of s; nothing past them is written. */
static void weights(const probe *of, int64_t n, const double *s, double *p) {
    double w[LONGEST + GUARD], work[LONGEST + GUARD];
    set_guard(w + n), set_guard(work + n * of->map->work_rows);
    const ts_simplex_row row = row_of(of, n, work);
    const double z = of->map->forward(&row, s, w);
    ck_assert_msg(z > 0 || isnan(z), "%s: normaliser %g", of->map->name, z);
    check_guard(w + n), check_guard(work + n * of->map->work_rows);
    for (int64_t i = 0; i < n; i++) p[i] = w[i] / z;
}

/* ds = (dp/ds)^T dp */
static void gradient(const probe *of, int64_t n, const double *s, const double *dp, double *ds) {
    double w[LONGEST], work[LONGEST], d[LONGEST + GUARD];
    const ts_simplex_row row = row_of(of, n, work);
    const double z = of->map->forward(&row, s, w);
    set_guard(d + n);
    for (int64_t i = 0; i < n; i++) d[i] = 0;
    if (of->map->backward != NULL) of->map->backward(&row, s, w, z, dp, d);
    check_guard(d + n);
    memcpy(ds, d, (size_t)n * sizeof *ds);
}

/* The scores a map is made for: 1 and -1 one sign, 0 any. */
static int sign_of(const ts_simplex *map) {
    return map == &ts_linear_map || map == &ts_power_map ? 1 : map == &ts_fuzzy_map ? -1 : 0;
}

/* Uniform in (-scale, scale), or (0, scale) or (-scale, 0) for the maps that want one sign. */
static void random_row(const ts_simplex *map, uint32_t step, double scale, int64_t n, double *s) {
    const ts_rng rng = {test_seed(), ts_rng_stream("scores"), step};
    for (int64_t i = 0; i < n; i++) {
        const double u = ts_rng_uniform(rng, (uint64_t)i);
        s[i] = sign_of(map) == 0 ? scale * (2 * u - 1) : scale * u * sign_of(map);
    }
}

static void check_weights(const probe *of, int64_t n, const double *s, const double *right, double tolerance) {
    double p[LONGEST];
    weights(of, n, s, p);
    for (int64_t i = 0; i < n; i++)
        ck_assert_msg(fabs(p[i] - right[i]) <= tolerance, "%s(%g), weight %lld: %.17g, right is %.17g", of->map->name,
                      of->parameter, (long long)i, p[i], right[i]);
}

#define ROW(...) ((double[]){__VA_ARGS__})

/* ---- values ------------------------------------------------------------------------------------------------------ */

START_TEST(known_values) {
    const probe softmax = {&ts_softmax_map, 0, true}, sparsemax = {&ts_sparsemax_map, 0, true};
    const probe hardmax = {&ts_hardmax_map, 0, false}, argmax = {&ts_argmax_map, 0, false};
    const probe norm2 = {&ts_normmax_map, 2, true}, inf = {&ts_normmax_inf_map, 0, false};
    const probe linear = {&ts_linear_map, 0, true};
    check_weights(&softmax, 5, ROW(-249.9, -424.1, -460.3, 378.1, -292.6), ROW(0, 0, 0, 1, 0), 1e-200);
    check_weights(&softmax, 2, ROW(-1000, -1000), ROW(0.5, 0.5), 0);
    check_weights(&softmax, 3, ROW(0, 0, 1), ROW(0.21194155761708544, 0.21194155761708544, 0.57611688476582911), 1e-15);
    check_weights(&sparsemax, 3, ROW(0, 0.5, 1), ROW(0, 0.25, 0.75), 1e-15);
    check_weights(&sparsemax, 5, ROW(0.1, 0.2, 0.3, 0.4, 0.5), ROW(0, 0.1, 0.2, 0.3, 0.4), 1e-15);
    check_weights(&sparsemax, 3, ROW(1, 1, 1), ROW(1 / 3.0, 1 / 3.0, 1 / 3.0), 1e-16);
    check_weights(&norm2, 3, ROW(0, 0.5, 1), ROW(0, 0.311018, 0.688982), 5e-7);
    check_weights(&norm2, 3, ROW(1, 1, 0), ROW(0.5, 0.5, 0), 1e-15);
    check_weights(&hardmax, 4, ROW(1, 3, 3, 2), ROW(0, 0.5, 0.5, 0), 0);
    check_weights(&argmax, 4, ROW(1, 3, 3, 2), ROW(0, 1, 0, 0), 0);
    check_weights(&inf, 3, ROW(1, 0.5, -3), ROW(0.5, 0.5, 0), 0);
    check_weights(&inf, 3, ROW(5, 1, 1), ROW(1, 0, 0), 0);
    check_weights(&linear, 4, ROW(1, 0, 2, 1), ROW(0.25, 0, 0.5, 0.25), 0);
    check_weights(&linear, 3, ROW(0, 0, 0), ROW(0, 0, 0), 0);
    check_weights(&linear, 2, ROW(DBL_MAX, DBL_MAX), ROW(0.5, 0.5), 0);
}
END_TEST

START_TEST(sparsemax_known_gradient) {
    const probe sparsemax = {&ts_sparsemax_map, 0, true};
    double ds[3];
    gradient(&sparsemax, 3, ROW(0, 0.5, 1), ROW(1, 2, 4), ds);
    ck_assert(ds[0] == 0 && ds[1] == -1 && ds[2] == 1);
}
END_TEST

START_TEST(normmax_known_threshold) {
    /* alpha = 2: the equation is sum [s - tau]_+^2 = 1 and p is proportional to s - tau, so tau follows from p. */
    const probe norm2 = {&ts_normmax_map, 2, true};
    double p[3];
    weights(&norm2, 3, ROW(0, 0.5, 1), p);
    ck_assert_double_eq_tol(1 - p[2] / hypot(p[1], p[2]), 0.088562, 5e-7);
}
END_TEST

/* Every map, sizes 1 to 200, scales 1e-6 to 1e6: weights lie in the simplex. Scores are multiples of 2^-20 of a power
 * of two, so that a shift is exact and must not move a bit; nor must a factor 8 for the maps of scores of one sign. */
START_TEST(weights_lie_in_the_simplex_and_ignore_shifts) {
    double s[LONGEST], p[LONGEST], moved[LONGEST];
    const probe *of = &probes[_i];
    for (int64_t n = 1; n <= 200; n += n < 20 ? 1 : 7)
        for (int e = -20; e <= 20; e += 2) {
            random_row(of->map, (uint32_t)(n * 100 + e + 50), 0x1p20, n, s);
            for (int64_t i = 0; i < n; i++) s[i] = ldexp(round(s[i]), e - 20);
            weights(of, n, s, p);
            double sum = 0;
            for (int64_t i = 0; i < n; i++) {
                ck_assert_msg(p[i] >= 0, "%s(%g), n %lld, scale 2^%d: weight %g", of->map->name, of->parameter,
                              (long long)n, e, p[i]);
                sum += p[i];
                s[i] = sign_of(of->map) == 0 ? s[i] + ldexp(3, e) : 8 * s[i];
            }
            ck_assert_msg(fabs(sum - 1) <= 1e-14 * (double)n, "%s(%g), n %lld, scale 2^%d: sum %.17g", of->map->name,
                          of->parameter, (long long)n, e, sum);
            weights(of, n, s, moved);
            for (int64_t i = 0; i < n; i++)
                ck_assert_msg(p[i] == moved[i], "%s(%g): %.17g, moved %.17g", of->map->name, of->parameter, p[i],
                              moved[i]);
        }
}
END_TEST

static int descending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The greatest (sum of the m largest - 1)/m; *best gets the m. */
static double brute_threshold(int64_t n, const double *s, int64_t *best) {
    double sorted[LONGEST], sum = 0, kappa = -INFINITY;
    memcpy(sorted, s, (size_t)n * sizeof *s);
    qsort(sorted, (size_t)n, sizeof *sorted, descending);
    for (int64_t m = 1; m <= n; m++) {
        sum += sorted[m - 1];
        if ((sum - 1) / (double)m > kappa) kappa = (sum - 1) / (double)m, *best = m;
    }
    return kappa;
}

START_TEST(sparsemax_is_the_projection) {
    const probe sparsemax = {&ts_sparsemax_map, 0, true};
    double s[LONGEST], p[LONGEST];
    for (uint32_t k = 0; k < 2000; k++) {
        const int64_t n = 1 + k % 200;
        int64_t support = 0;
        random_row(sparsemax.map, k, pow(10, (double)(k % 7) - 3), n, s);
        weights(&sparsemax, n, s, p);
        const double kappa = brute_threshold(n, s, &support), tolerance = 1e-13 * (1 + fabs(kappa));
        for (int64_t i = 0; i < n; i++) {
            ck_assert_double_le(fabs(p[i] - fmax(s[i] - kappa, 0)), tolerance);
            /* optimal: s - p is one number on the support, and s is below it elsewhere */
            ck_assert(p[i] > 0 ? fabs(s[i] - p[i] - kappa) <= tolerance : s[i] <= kappa + tolerance);
        }
    }
}
END_TEST

START_TEST(normmax_inf_takes_the_best_number_of_scores) {
    const probe inf = {&ts_normmax_inf_map, 0, false};
    double s[LONGEST], p[LONGEST];
    for (uint32_t k = 0; k < 2000; k++) {
        const int64_t n = 1 + k % 200;
        int64_t m = 0;
        random_row(inf.map, k, pow(10, (double)(k % 7) - 3), n, s);
        const double kappa = brute_threshold(n, s, &m);
        weights(&inf, n, s, p);
        for (int64_t i = 0; i < n; i++)
            if (fabs(s[i] - kappa) > 1e-12 * (1 + fabs(kappa))) ck_assert(p[i] == (s[i] > kappa ? 1.0 / (double)m : 0));
    }
}
END_TEST

/* With u = p/||p||_alpha, s - u^(alpha-1) is one number tau on the support, s <= tau elsewhere, and
 * sum [s - tau]_+^(alpha/(alpha-1)) = 1. */
static void check_normmax(double alpha, int64_t n, const double *s) {
    const probe normmax = {&ts_normmax_map, alpha, true};
    double p[LONGEST], largest = 0, powers = 0, tau = 0, weight = 0, sum = 0;
    weights(&normmax, n, s, p);
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, p[i]);
    for (int64_t i = 0; i < n; i++) powers += pow(p[i] / largest, alpha);
    const double norm = largest * pow(powers, 1 / alpha), vanished = pow(DBL_MIN, alpha - 1);
    for (int64_t i = 0; i < n; i++) {
        if (p[i] == 0) continue;
        tau += p[i] * (s[i] - pow(p[i] / norm, alpha - 1));
        weight += p[i];
    }
    tau /= weight;
    for (int64_t i = 0; i < n; i++) {
        const double x = p[i] < DBL_MIN ? 0 : pow(p[i] / norm, alpha - 1);
        const double error = p[i] < DBL_MIN ? fmax(0, s[i] - tau - 2 * vanished) : fabs(s[i] - x - tau);
        ck_assert_msg(error <= 1e-12 * (1 + fabs(tau)), "alpha %g, n %lld: s %.17g, p %g, tau %.17g, error %g", alpha,
                      (long long)n, s[i], p[i], tau, error);
        sum += pow(fmax(s[i] - tau, 0), alpha / (alpha - 1));
    }
    ck_assert_msg(fabs(sum - 1) <= 1e-10 * alpha / (alpha - 1), "alpha %g, n %lld: the powers sum to %.17g", alpha,
                  (long long)n, sum);
}

START_TEST(normmax_satisfies_its_equation) {
    static const double alphas[] = {1.01, 1.1, 1.5, 2, 3, 10, 100};
    double s[LONGEST];
    for (uint32_t k = 0; k < 600; k++) {
        const int64_t n = 1 + k % 200;
        random_row(&ts_normmax_map, k, pow(10, (double)(k % 5) - 3), n, s);
        for (int a = 0; a < 7; a++) check_normmax(alphas[a], n, s);
    }
}
END_TEST

START_TEST(normmax_tends_to_its_limits) {
    const probe nearly = {&ts_normmax_map, 1e6, true}, inf = {&ts_normmax_inf_map, 0, false};
    const probe sharp = {&ts_normmax_map, 1 + 1e-12, true};
    double s[LONGEST], p[LONGEST];
    int compared = 0;
    for (uint32_t k = 0; k < 500; k++) {
        const int64_t n = 1 + k % 40;
        int64_t m = 0;
        random_row(inf.map, k, 1.5, n, s);
        const double kappa = brute_threshold(n, s, &m);
        bool clear = true; /* of the jump of normmax-inf */
        for (int64_t i = 0; i < n; i++) clear = clear && fabs(s[i] - kappa) > 1e-3;
        if (!clear) continue;
        weights(&inf, n, s, p);
        check_weights(&nearly, n, s, p, 2e-5);
        compared++;
    }
    ck_assert_int_gt(compared, 200);
    check_weights(&sharp, 3, ROW(0.1, 0.2, 0.3), ROW(0, 0, 1), 1e-15);
    check_weights(&sharp, 3, ROW(0, 1, 1), ROW(0, 0.5, 0.5), 1e-15);
}
END_TEST

/* Rows of 10^6 scores, some of them made to take many steps, are done in little time and memory. */
START_TEST(long_rows) {
    static double s[1000000], w[1000000], ds[1000000];
    static const probe long_probes[] = {{&ts_sparsemax_map, 0, true}, {&ts_normmax_map, 1.5, true},
                                        {&ts_normmax_map, 1e5, true}, {&ts_normmax_inf_map, 0, false},
                                        {&ts_entmax15_map, 0, true},  {&ts_fuzzy_map, 2, true},
                                        {&ts_top_m_map, 0.29, false}};
    const int64_t n = 1000000;
    for (int kind = 0; kind < 3; kind++) {
        for (int64_t i = 0; i < n; i++)
            s[i] = kind == 0 ? 0 : kind == 1 ? -1 + pow(2, -(double)(i % 60)) : -pow((double)i / (double)n, 0.01);
        for (int k = 0; k < 7; k++) {
            const ts_simplex_row row = row_of(&long_probes[k], n, NULL);
            const double z = long_probes[k].map->forward(&row, s, w);
            double sum = 0;
            for (int64_t i = 0; i < n; i++) sum += w[i] / z;
            ck_assert_double_eq_tol(sum, 1, 1e-9);
            if (long_probes[k].map->backward != NULL) long_probes[k].map->backward(&row, s, w, z, s, ds);
            ck_assert(isfinite(ds[0]) && isfinite(ds[n - 1]));
        }
    }
}
END_TEST

/* ---- top-m ------------------------------------------------------------------------------------------------------- */

START_TEST(top_m_known_values) {
    const probe all = {&ts_top_m_map, 0, false}, half = {&ts_top_m_map, 0.5, false};
    const probe most = {&ts_top_m_map, 1 - 0x1p-53, false};
    const double third = 1 / 3.0;
    check_weights(&all, 3, ROW(1, -5, 2), ROW(third, third, third), 0);
    check_weights(&half, 4, ROW(1, 4, 2, 3), ROW(0, 0.5, 0, 0.5), 0);
    check_weights(&half, 5, ROW(1, 5, 2, 4, 3), ROW(0, third, 0, third, third), 0); /* floor(2.5) are trimmed */
    check_weights(&half, 4, ROW(7, 7, 7, 7), ROW(0.5, 0.5, 0, 0), 0);
    check_weights(&half, 4, ROW(7, 8, 7, 7), ROW(0.5, 0.5, 0, 0), 0);
    check_weights(&half, 4, ROW(-0.0, 0.0, -0.0, 0.0), ROW(0.5, 0.5, 0, 0), 0);
    check_weights(&half, 4, ROW(-DBL_TRUE_MIN, 0, -0.0, DBL_TRUE_MIN), ROW(0, 0.5, 0, 0.5), 0);
    check_weights(&most, 3, ROW(1, 2, 2), ROW(0, 1, 0), 0);
    check_weights(&half, 1, ROW(-3), ROW(1), 0);
    /* excluded entries do not count: 2 of 4 */
    check_weights(&half, 6, ROW(-INFINITY, 1, 2, -INFINITY, 3, 4), ROW(0, 0, 0, 0, 0.5, 0.5), 0);
    check_weights(&half, 4, ROW(INFINITY, 1, INFINITY, 2), ROW(1, 0, 0, 0), 0);
}
END_TEST

/* For a share of whole percents, the number trimmed is that of integer arithmetic: .29 of 100 are 29. */
START_TEST(top_m_counts_as_one_does_by_hand) {
    double s[1000], w[1000];
    random_row(&ts_top_m_map, 1, 1, 1000, s);
    ck_assert(floor(0.29 * 100) == 28);
    for (int64_t percent = 0; percent < 100; percent++) {
        const probe of = {&ts_top_m_map, (double)percent / 100, false};
        for (int64_t n = 1; n <= 1000; n += n < 120 ? 1 : 11) {
            const ts_simplex_row row = row_of(&of, n, NULL);
            const double z = of.map->forward(&row, s, w);
            ck_assert_msg(z == (double)(n - percent * n / 100), "%lld of %lld at %lld%%", (long long)z, (long long)n,
                          (long long)percent);
        }
    }
}
END_TEST

/* Few different scores, so that borders lie within ties: an entry is kept when less than m come before it. */
START_TEST(top_m_takes_the_first_of_equal_scores) {
    double s[LONGEST], p[LONGEST];
    for (uint32_t k = 0; k < 400; k++) {
        const probe of = {&ts_top_m_map, (double)(k % 97) / 97, false};
        const int64_t n = 1 + k % 100, m = n - (int64_t)floor(of.parameter * (double)n + 1e-9);
        random_row(of.map, k, k % 3 == 0 ? 1 : (double)(k % 20), n, s);
        for (int64_t i = 0; i < n && k % 3 != 0; i++) s[i] = round(s[i]);
        weights(&of, n, s, p);
        for (int64_t i = 0; i < n; i++) {
            int64_t before = 0;
            for (int64_t j = 0; j < n; j++) before += s[j] > s[i] || (s[j] == s[i] && j < i);
            ck_assert(p[i] == (before < m ? 1 / (double)m : 0));
        }
    }
}
END_TEST

/* ---- entmax-1.5 -------------------------------------------------------------------------------------------------- */

START_TEST(entmax_known_values) {
    const probe entmax = {&ts_entmax15_map, 0, true};
    const double tau = (1 - sqrt(7)) / 4; /* of (1, 0): (1/2 - tau)^2 + tau^2 = 1 */
    check_weights(&entmax, 2, ROW(1, 0), ROW((0.5 - tau) * (0.5 - tau), tau * tau), 1e-15);
    check_weights(&entmax, 4, ROW(3, 3, 3, 3), ROW(0.25, 0.25, 0.25, 0.25), 0);
    check_weights(&entmax, 3, ROW(2, 0, -7), ROW(1, 0, 0), 0); /* alone from a distance of 2 on */
    check_weights(&entmax, 3, ROW(-1e300, 1e300, 1e300), ROW(0, 0.5, 0.5), 1e-16);
    double ds[2];
    gradient(&entmax, 2, ROW(1, 0), ROW(1, 0), ds); /* g_1 g_2 / (g_1 + g_2) */
    ck_assert_double_eq_tol(ds[0], (0.5 - tau) * -tau / (0.5 - 2 * tau), 1e-15);
    ck_assert_double_eq_tol(ds[1], -ds[0], 1e-15);
}
END_TEST

/* tau by bisection in long double, where its error is nothing next to 1e-14. */
static double entmax_threshold(int64_t n, const double *s) {
    long double low = -INFINITY, high;
    for (int64_t i = 0; i < n; i++) low = s[i] > (double)low ? (long double)s[i] : low;
    high = low / 2, low = high - 1;
    for (int step = 0; step < 100; step++) {
        const long double middle = (low + high) / 2;
        long double sum = 0;
        for (int64_t i = 0; i < n; i++)
            if (s[i] / 2 > (double)middle) sum += ((long double)s[i] / 2 - middle) * ((long double)s[i] / 2 - middle);
        *(sum > 1 ? &low : &high) = middle;
    }
    return (double)low;
}

START_TEST(entmax_satisfies_its_equation) {
    const probe entmax = {&ts_entmax15_map, 0, true};
    double s[LONGEST], p[LONGEST];
    for (uint32_t k = 0; k < 500; k++) {
        const int64_t n = 1 + k % 200;
        random_row(entmax.map, k, pow(10, (double)(k % 5) - 3), n, s);
        weights(&entmax, n, s, p);
        const double tau = entmax_threshold(n, s);
        for (int64_t i = 0; i < n; i++) {
            const double above = fmax(s[i] / 2 - tau, 0);
            ck_assert_double_le(fabs(p[i] - above * above), 1e-14 * fmax(1, fabs(tau)));
        }
    }
}
END_TEST

/* ---- power and fuzzy --------------------------------------------------------------------------------------------- */

START_TEST(power_known_values) {
    const probe one = {&ts_power_map, 1, true}, two = {&ts_power_map, 2, true}, ten = {&ts_power_map, 10, true};
    const probe sharp = {&ts_power_map, 1e12, false}, linear = {&ts_linear_map, 0, true};
    check_weights(&two, 4, ROW(1, 0, 2, 3), ROW(1 / 14.0, 0, 4 / 14.0, 9 / 14.0), 1e-15);
    check_weights(&two, 3, ROW(0.2, 0.2, 0.2), ROW(1 / 3.0, 1 / 3.0, 1 / 3.0), 0);
    check_weights(&ten, 2, ROW(1e300, 5e299), ROW(1024 / 1025.0, 1 / 1025.0), 1e-15);
    check_weights(&ten, 2, ROW(2e-310, 1e-310), ROW(1024 / 1025.0, 1 / 1025.0), 1e-12);
    check_weights(&ten, 2, ROW(DBL_MAX, DBL_MAX), ROW(0.5, 0.5), 0);
    check_weights(&sharp, 4, ROW(3, 3, 2.999, 0), ROW(0.5, 0.5, 0, 0), 0);
    check_weights(&ten, 3, ROW(0, 0, -INFINITY), ROW(0, 0, 0), 0);
    check_weights(&two, 3, ROW(1, -5, 1), ROW(0.5, 0, 0.5), 0); /* a negative score is excluded */
    check_weights(&two, 2, ROW(-1, -2), ROW(0, 0), 0);
    double s[LONGEST], p[LONGEST], dp[LONGEST], ds[LONGEST], linear_ds[LONGEST];
    random_row(&ts_linear_map, 5, 3, 50, s), random_row(&ts_softmax_map, 6, 1, 50, dp);
    s[7] = 0;
    weights(&linear, 50, s, p), check_weights(&one, 50, s, p, 1e-16);
    gradient(&one, 50, s, dp, ds), gradient(&linear, 50, s, dp, linear_ds);
    for (int i = 0; i < 50; i++) ck_assert_double_eq_tol(ds[i], linear_ds[i], 1e-16);
    gradient(&two, 2, ROW(1, 3), ROW(1, 0), ds); /* p = (1, 9)/10 */
    ck_assert_double_eq_tol(ds[0], 0.18, 1e-16);
    ck_assert_double_eq_tol(ds[1], -0.06, 1e-16);
    gradient(&two, 3, ROW(0, 0, 0), ROW(1, 2, 3), ds);
    for (int i = 0; i < 3; i++) ck_assert(ds[i] == 0);
}
END_TEST

START_TEST(fuzzy_known_values) {
    const probe two = {&ts_fuzzy_map, 2, true}, three = {&ts_fuzzy_map, 3, true};
    const probe sharp = {&ts_fuzzy_map, 1 + 1e-9, false}, flat = {&ts_fuzzy_map, 1e9, false};
    const probe large = {&ts_fuzzy_map, 101, false};
    check_weights(&two, 2, ROW(-1, -4), ROW(0.8, 0.2), 1e-16);
    check_weights(&three, 2, ROW(-1, -4), ROW(2 / 3.0, 1 / 3.0), 1e-15);
    check_weights(&two, 3, ROW(-5, -5, -5), ROW(1 / 3.0, 1 / 3.0, 1 / 3.0), 0);
    check_weights(&sharp, 4, ROW(-2, -1, -1.001, -1), ROW(0, 0.5, 0, 0.5), 0);
    check_weights(&flat, 3, ROW(-1e-9, -1, -1e9), ROW(1 / 3.0, 1 / 3.0, 1 / 3.0), 1e-7);
    check_weights(&flat, 3, ROW(-1, -INFINITY, -4), ROW(0.5, 0, 0.5), 1e-9);
    check_weights(&two, 4, ROW(-1, 0, -DBL_TRUE_MIN, -0.0), ROW(0, 0.5, 0, 0.5), 0);
    check_weights(&two, 3, ROW(1, -1, 0), ROW(0.5, 0, 0.5), 0); /* a positive score is a distance of 0 */
    check_weights(&two, 2, ROW(-DBL_TRUE_MIN, -DBL_MAX), ROW(1, 0), 0);
    check_weights(&two, 2, ROW(-DBL_MAX, -DBL_MAX / 4), ROW(0.2, 0.8), 1e-15);
    const double ratio = exp2(-(1074 + 1024) / 100.0); /* of weights, where that of distances underflows */
    check_weights(&large, 2, ROW(-DBL_TRUE_MIN, -DBL_MAX), ROW(1 / (1 + ratio), ratio / (1 + ratio)), 1e-15);
    double ds[3];
    gradient(&two, 2, ROW(-1, -4), ROW(1, 0), ds); /* p (dp - .8) / d */
    ck_assert_double_eq_tol(ds[0], 0.16, 1e-15);
    ck_assert_double_eq_tol(ds[1], -0.04, 1e-15);
    gradient(&two, 3, ROW(0, -1, 0), ROW(1, 2, 3), ds);
    for (int i = 0; i < 3; i++) ck_assert(ds[i] == 0);
    gradient(&two, 3, ROW(-DBL_TRUE_MIN, -1, -DBL_MAX), ROW(1, 2, 3), ds);
    ck_assert(ds[0] == 0 && isfinite(ds[1]) && isfinite(ds[2]));
}
END_TEST

/* Near ties under large powers: the ratio (3 - 2^-40)/3 rounds, and that must not be raised to the power 2^40. */
START_TEST(large_powers_of_near_ties) {
    const probe power = {&ts_power_map, 0x1p40, true}, fuzzy = {&ts_fuzzy_map, 1 + 0x1p-40, true};
    const double p = 1 / (1 + exp(-1 / 3.0));
    check_weights(&power, 2, ROW(3, 3 - 0x1p-40), ROW(p, 1 - p), 1e-12);
    check_weights(&fuzzy, 2, ROW(-3, -(3 - 0x1p-40)), ROW(1 - p, p), 1e-12);
}
END_TEST

/* The weights of fuzzy with m are those of power over the inverse distances, with a = 1/(m - 1). */
START_TEST(fuzzy_is_power_of_inverse_distances) {
    double s[LONGEST], inverse[LONGEST], p[LONGEST];
    for (uint32_t k = 0; k < 100; k++) {
        const double a = 1 + (double)(k % 9);
        const probe fuzzy = {&ts_fuzzy_map, 1 + 1 / a, true}, power = {&ts_power_map, a, true};
        const int64_t n = 1 + k % 200;
        random_row(fuzzy.map, k, 3, n, s);
        for (int64_t i = 0; i < n; i++) inverse[i] = -1 / s[i];
        weights(&fuzzy, n, s, p), check_weights(&power, n, inverse, p, 1e-14);
    }
}
END_TEST

/* Rows of 10^6 scores >= 0; those of the other maps are in long_rows. */
START_TEST(long_rows_of_powers) {
    static double s[1000000], w[1000000], ds[1000000];
    const probe power = {&ts_power_map, 3, true}, top = {&ts_top_m_map, 0.9, false};
    const int64_t n = 1000000;
    random_row(power.map, 3, 1, n, s);
    ts_simplex_row row = row_of(&power, n, NULL);
    const double z = power.map->forward(&row, s, w);
    double sum = 0, least = INFINITY, largest = 0;
    for (int64_t i = 0; i < n; i++) sum += w[i] / z;
    ck_assert_double_eq_tol(sum, 1, 1e-9);
    power.map->backward(&row, s, w, z, s, ds);
    ck_assert(isfinite(ds[0]) && isfinite(ds[n - 1]));
    row = row_of(&top, n, NULL);
    ck_assert(top.map->forward(&row, s, w) == 100000);
    for (int64_t i = 0; i < n; i++) {
        if (w[i] == 1) least = fmin(least, s[i]);
        if (w[i] == 0) largest = fmax(largest, s[i]);
    }
    ck_assert(least > largest);
}
END_TEST

/* ---- infinities and NaN ------------------------------------------------------------------------------------------ */

START_TEST(entries_of_minus_infinity_are_excluded) {
    const probe *of = &probes[_i];
    double p[5], ds[5], compact_p[3], compact_ds[3];
    const double down = sign_of(of->map) < 0 ? 1 : 0;
    const double s[5] = {-INFINITY, 0.4 - down, 0.9 - down, -INFINITY, 0.6 - down};
    const double compact[3] = {0.4 - down, 0.9 - down, 0.6 - down};
    const double dp[5] = {NAN, 1, -2, INFINITY, 0.5}, compact_dp[3] = {1, -2, 0.5};
    weights(of, 5, s, p), gradient(of, 5, s, dp, ds);
    ck_assert(p[0] == 0 && p[3] == 0 && ds[0] == 0 && ds[3] == 0);
    for (int i = 0; i < 5; i++) ck_assert_msg(isfinite(p[i]) && isfinite(ds[i]), "%s", of->map->name);
    ck_assert_double_eq_tol(p[1] + p[2] + p[4], 1, 1e-15);
    if (of->map != &ts_gumbel_softmax_map && of->map != &ts_gumbel_hardmax_map) { /* these draw by position */
        weights(of, 3, compact, compact_p), gradient(of, 3, compact, compact_dp, compact_ds);
        static const int at[3] = {1, 2, 4};
        for (int i = 0; i < 3; i++) ck_assert(p[at[i]] == compact_p[i] && ds[at[i]] == compact_ds[i]);
    }
    const double nothing[3] = {-INFINITY, -INFINITY, -INFINITY};
    weights(of, 3, nothing, p), gradient(of, 3, nothing, dp, ds);
    for (int i = 0; i < 3; i++) ck_assert_msg(p[i] == 0 && ds[i] == 0, "%s: %g %g", of->map->name, p[i], ds[i]);
}
END_TEST

START_TEST(entries_of_plus_infinity_share_the_weight) {
    const probe *of = &probes[_i];
    double p[4], ds[4];
    const double one[4] = {1, INFINITY, -INFINITY, 1e300}, two[4] = {INFINITY, 0, INFINITY, 3}, dp[4] = {1, 2, 3, 4};
    weights(of, 4, one, p), gradient(of, 4, one, dp, ds);
    ck_assert_msg(p[1] == 1 && p[0] == 0 && p[2] == 0 && p[3] == 0, "%s", of->map->name);
    for (int i = 0; i < 4; i++) ck_assert_msg(ds[i] == 0, "%s", of->map->name);
    weights(of, 4, two, p), gradient(of, 4, two, dp, ds);
    ck_assert_msg(p[1] == 0 && p[3] == 0 && fabs(p[0] + p[2] - 1) < 1e-15, "%s", of->map->name);
    for (int i = 0; i < 4; i++) ck_assert_msg(isfinite(ds[i]), "%s", of->map->name);
    if (of->map == &ts_softmax_map || of->map == &ts_hardmax_map || sign_of(of->map) != 0) ck_assert(p[0] == 0.5);
    if (of->map == &ts_argmax_map) ck_assert(p[0] == 1);
}
END_TEST

START_TEST(nan_makes_the_row_nan) {
    const probe *of = &probes[_i];
    double s[6], p[6], ds[6];
    const double dp[6] = {1, 2, 3, 4, 5, 6};
    for (int64_t n = 1; n <= 6; n++)
        for (int64_t at = 0; at < n; at++) {
            random_row(of->map, (uint32_t)n, 1, n, s);
            s[(at + 1) % n] = INFINITY;
            s[at] = NAN;
            weights(of, n, s, p), gradient(of, n, s, dp, ds);
            for (int64_t i = 0; i < n; i++) {
                ck_assert_msg(isnan(p[i]), "%s: %g", of->map->name, p[i]);
                ck_assert_msg(of->map->backward == NULL || isnan(ds[i]), "%s: gradient %g", of->map->name, ds[i]);
            }
        }
}
END_TEST

START_TEST(extreme_scores_stay_finite) {
    const probe *of = &probes[_i];
    static const double rows[4][3] = {
        {DBL_MAX, -DBL_MAX, 0}, {DBL_MIN, 0, DBL_TRUE_MIN}, {1e300, 1e300, 1e-300}, {0, 1e-17, 1}};
    const double dp[3] = {1, 2, 3};
    for (int k = 0; k < 4; k++) {
        double p[3], ds[3];
        if (of->map == &ts_linear_map && k < 2) continue; /* a negative score; a gradient beyond DBL_MAX */
        weights(of, 3, rows[k], p), gradient(of, 3, rows[k], dp, ds);
        ck_assert_double_eq_tol(p[0] + p[1] + p[2], 1, 1e-15);
        for (int i = 0; i < 3; i++) ck_assert_msg(p[i] >= 0 && isfinite(ds[i]), "%s, row %d", of->map->name, k);
    }
}
END_TEST

/* ---- gradients --------------------------------------------------------------------------------------------------- */

static double objective(const probe *of, int64_t n, const double *s, const double *dp) {
    double p[LONGEST], sum = 0;
    weights(of, n, s, p);
    for (int64_t i = 0; i < n; i++) sum += dp[i] * p[i];
    return sum;
}

static double five_points(const probe *of, int64_t n, double *s, int64_t i, const double *dp, double h) {
    static const double at[4] = {-2, -1, 1, 2}, factor[4] = {1, -8, 8, -1};
    const double s0 = s[i];
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        s[i] = s0 + at[k] * h;
        sum += factor[k] * objective(of, n, s, dp);
    }
    s[i] = s0;
    return sum / (12 * h);
}

/* NaN where halving the step moves the derivative: at a kink. */
static double numeric(const probe *of, int64_t n, double *s, int64_t i, const double *dp, double scale) {
    for (double h = scale * 1e-3; h > scale * 1e-6; h /= 4) {
        const double coarse = five_points(of, n, s, i, dp, h), fine = five_points(of, n, s, i, dp, h / 2);
        if (fabs(coarse - fine) * scale <= 2e-8 * fmax(fabs(fine) * scale, 1e-2)) return fine;
    }
    return NAN;
}

START_TEST(gradients_are_the_derivatives) {
    const probe *of = &probes[_i];
    if (!of->smooth) return;
    double s[12], dp[12], ds[12];
    int checked = 0, skipped = 0;
    for (uint32_t k = 0; k < 60; k++) {
        const int64_t n = 1 + k % 12;
        const double scale = of->map == &ts_normmax_map ? fmin(1, of->parameter - 1) : 1;
        random_row(of->map, k, scale, n, s);
        random_row(&ts_softmax_map, k + 1000, 1, n, dp);
        for (int64_t i = 0; i < n; i++) s[i] += 0.1 * sign_of(of->map);
        gradient(of, n, s, dp, ds);
        double squares = 0;
        for (int64_t i = 0; i < n; i++) squares += ds[i] * ds[i];
        for (int64_t i = 0; i < n; i++) {
            const double right = numeric(of, n, s, i, dp, scale);
            skipped += isnan(right), checked++;
            const double size = fmax(fmax(fabs(right), sqrt(squares / (double)n)), 1e-2 / scale);
            if (!isnan(right))
                ck_assert_msg(fabs(ds[i] - right) <= 1e-7 * size, "%s(%g), n %lld: gradient %.12g, numeric %.12g",
                              of->map->name, of->parameter, (long long)n, ds[i], right);
        }
    }
    ck_assert_msg(skipped * 20 < checked, "%s(%g): %d of %d at kinks", of->map->name, of->parameter, skipped, checked);
}
END_TEST

/* Scores whose sum is beyond the largest double have the weights and, scaled, the gradient of small ones. */
START_TEST(linear_near_overflow) {
    const probe linear = {&ts_linear_map, 0, true};
    double ds[3], small[3];
    gradient(&linear, 3, ROW(0x1p1023, 0x1p1023, 0x1p1022), ROW(1e300, 2e300, 4e300), ds);
    gradient(&linear, 3, ROW(2, 2, 1), ROW(1, 2, 4), small);
    for (int i = 0; i < 3; i++) ck_assert_double_eq_tol(ds[i] * 0x1p1022 / 1e300, small[i], 1e-15);
    check_weights(&linear, 3, ROW(0x1p1023, 0x1p1023, 0x1p1022), ROW(0.4, 0.4, 0.2), 1e-16);
}
END_TEST

/* A centre may have no other weights than these: none of them becomes 0 before double ends. */
START_TEST(softmax_keeps_the_smallest_weights) {
    enum { N = 19 };
    double s[N] = {0}, w[N];
    for (int i = 1; i < N; i++) s[i] = -600 - 8 * i; /* -608 to -744 */
    const ts_simplex_row row = {.n = N};
    ts_softmax_map.forward(&row, s, w);
    for (int i = 0; i < N; i++) {
        ck_assert(w[i] > 0);
        ck_assert_double_eq_tol(w[i] / exp(s[i]), 1, s[i] < -708 ? 1e-15 : 4e-15);
    }
}
END_TEST

START_TEST(straight_through_gradient_is_that_of_gumbel_softmax) {
    const probe soft = {&ts_gumbel_softmax_map, 0.3, true}, hard = {&ts_gumbel_hardmax_map, 0.3, false};
    double s[9], dp[9], soft_p[9], hard_p[9], soft_ds[9], hard_ds[9];
    for (uint32_t k = 0; k < 200; k++) {
        const int64_t n = 1 + k % 9;
        random_row(soft.map, k, 2, n, s), random_row(soft.map, k + 1000, 1, n, dp);
        weights(&soft, n, s, soft_p), weights(&hard, n, s, hard_p);
        gradient(&soft, n, s, dp, soft_ds), gradient(&hard, n, s, dp, hard_ds);
        double sum = 0;
        for (int64_t i = 0; i < n; i++) {
            ck_assert(soft_ds[i] == hard_ds[i] && (hard_p[i] == 0 || hard_p[i] == 1));
            sum += hard_p[i] * soft_p[i];
            for (int64_t j = 0; j < n; j++) ck_assert(hard_p[i] == 0 || soft_p[j] <= soft_p[i]); /* one draw */
        }
        ck_assert(sum > 0);
    }
}
END_TEST

/* ---- random draws ------------------------------------------------------------------------------------------------ */

START_TEST(gumbel_draws_follow_softmax) {
    enum { DRAWS = 20000, N = 5 };
    const double s[N] = {0.3, -1, 1.2, 0, -2.5};
    const probe softmax = {&ts_softmax_map, 0, true};
    double p[N], w[N], work[N], count[N] = {0};
    weights(&softmax, N, s, p);
    ts_simplex_row row = {.parameter = 0.5, .rng = {20261130, ts_rng_stream("draws"), 0}, .n = N, .work = work};
    printf("draws: seed %" PRIu64 "\n", row.rng.seed);
    for (int k = 0; k < DRAWS; k++) {
        row.first = (uint64_t)k * N;
        ts_gumbel_hardmax_map.forward(&row, s, w);
        for (int i = 0; i < N; i++) count[i] += w[i];
    }
    for (int i = 0; i < N; i++)
        ck_assert_msg(fabs(count[i] - DRAWS * p[i]) <= 4 * sqrt(DRAWS * p[i] * (1 - p[i])), "entry %d: %g draws of %g",
                      i, count[i], DRAWS * p[i]);
}
END_TEST

START_TEST(gumbel_noise_is_finite) {
    const ts_rng rng = {test_seed(), ts_rng_stream("extremes"), 0};
    for (uint64_t i = 0; i < 1000000; i++) {
        const double g = ts_rng_gumbel(rng, i);
        ck_assert(g > -3.61 && g < 36.75); /* the values at 2^-53 and 1 - 2^-53 */
    }
    ck_assert_double_eq_tol(-log(-log(0x1p-24)), -2.8115, 5e-5);
    ck_assert_double_eq_tol(-log(-log(1 - 0x1p-24)), 16.6355, 5e-5);
    ck_assert(isfinite(-log(-log(0x1p-53))) && isfinite(-log(-log(1 - 0x1p-53))));
    const probe tiny = {&ts_gumbel_softmax_map, DBL_TRUE_MIN, true}, huge = {&ts_gumbel_softmax_map, DBL_MAX, true};
    double p[3];
    weights(&tiny, 3, ROW(1, 2, 3), p);
    ck_assert(p[0] + p[1] + p[2] == 1 && fmax(fmax(p[0], p[1]), p[2]) == 1);
    weights(&huge, 3, ROW(1, 2, 3), p);
    ck_assert_double_eq_tol(p[0], 1 / 3.0, 1e-15);
}
END_TEST

/* ---- the list, and what is refused ---------------------------------------------------------------------------------
 */

START_TEST(maps_by_name) {
    static const char *const names[] = {"softmax",     "hardmax", "argmax",         "sparsemax",      "normmax",
                                        "normmax-inf", "linear",  "gumbel-softmax", "gumbel-hardmax", "top-m",
                                        "entmax-1.5",  "power",   "fuzzy"};
    enum { MAPS = sizeof names / sizeof *names };
    for (int i = 0; i < MAPS; i++) {
        ck_assert_ptr_eq(ts_simplex_by_name(names[i]), ts_simplex_maps[i]);
        ck_assert_str_eq(ts_simplex_maps[i]->name, names[i]);
    }
    ck_assert_ptr_null(ts_simplex_maps[MAPS]);
    ck_assert_ptr_null(ts_simplex_by_name("softmaximum"));
    ck_assert_ptr_null(ts_simplex_by_name(""));
}
END_TEST

static void check_spec(const ts_simplex *map, double parameter, const char *message) {
    ts_error error = {.status = TS_OK};
    const ts_status status = ts_simplex_check(&(ts_simplex_spec){.map = map, .parameter = parameter}, &error);
    ck_assert_int_eq(status, message[0] == '\0' ? TS_OK : TS_ERROR_VALUE);
    ck_assert_str_eq(error.text, message);
}

START_TEST(parameters_are_checked) {
    check_spec(&ts_normmax_map, 0.5, "normmax: alpha must be > 1 and finite, not 0.5");
    check_spec(&ts_normmax_map, 1, "normmax: alpha must be > 1 and finite, not 1");
    check_spec(&ts_normmax_map, INFINITY, "normmax: alpha must be > 1 and finite, not inf");
    check_spec(&ts_normmax_map, 1.5, "");
    check_spec(&ts_gumbel_softmax_map, 0, "gumbel-softmax: tau must be > 0 and finite, not 0");
    check_spec(&ts_gumbel_hardmax_map, -1, "gumbel-hardmax: tau must be > 0 and finite, not -1");
    check_spec(&ts_gumbel_softmax_map, INFINITY, "gumbel-softmax: tau must be > 0 and finite, not inf");
    check_spec(&ts_gumbel_hardmax_map, 0.1, "");
    check_spec(&ts_softmax_map, NAN, "");
    check_spec(&ts_entmax15_map, NAN, "");
    check_spec(&ts_top_m_map, 1, "top-m: the trimmed share F must be >= 0 and < 1, not 1");
    check_spec(&ts_top_m_map, -0.1, "top-m: the trimmed share F must be >= 0 and < 1, not -0.1");
    check_spec(&ts_top_m_map, 0, "");
    check_spec(&ts_top_m_map, 0.999, "");
    check_spec(&ts_power_map, 0.99, "power: the power a must be >= 1 and finite, not 0.99");
    check_spec(&ts_power_map, INFINITY, "power: the power a must be >= 1 and finite, not inf");
    check_spec(&ts_power_map, 1, "");
    check_spec(&ts_fuzzy_map, 1, "fuzzy: the fuzzifier m must be > 1 and finite, not 1");
    check_spec(&ts_fuzzy_map, INFINITY, "fuzzy: the fuzzifier m must be > 1 and finite, not inf");
    check_spec(&ts_fuzzy_map, 1 + DBL_EPSILON, "");
    check_spec(NULL, 1, "no simplex map is given");
    static const ts_simplex *const with_parameter[] = {&ts_normmax_map, &ts_gumbel_softmax_map, &ts_top_m_map,
                                                       &ts_power_map, &ts_fuzzy_map};
    for (int i = 0; i < 5; i++) {
        ts_error error = {.status = TS_OK};
        ck_assert_int_ne(ts_simplex_check(&(ts_simplex_spec){.map = with_parameter[i], .parameter = NAN}, &error),
                         TS_OK);
    }
}
END_TEST

static void check_refused(const char *message) {
    ck_assert_ptr_nonnull(ts_tape_error(tape));
    ck_assert_str_eq(ts_tape_error(tape), message);
    ts_tape_reset(tape);
}

START_TEST(ops_refuse_by_name) {
    const ts_rng rng = {1, 2, 3};
    ts_normmax(tape, ts_variable(tape, TS_SHAPE(2, 3), NULL), -1, 0.5);
    check_refused("simplex_map [2,3]: normmax: alpha must be > 1 and finite, not 0.5");
    ts_gumbel_softmax(tape, ts_variable(tape, TS_SHAPE(3), NULL), 0, 0, true, rng);
    check_refused("simplex_map [3]: gumbel-hardmax: tau must be > 0 and finite, not 0");
    ts_simplex_apply(tape, ts_variable(tape, TS_SHAPE(3), NULL), 0,
                     &(ts_simplex_spec){.map = &ts_top_m_map, .parameter = 1.5});
    check_refused("simplex_map [3]: top-m: the trimmed share F must be >= 0 and < 1, not 1.5");
    ts_softmax(tape, ts_variable(tape, TS_SHAPE(2, 3), NULL), -3);
    check_refused("simplex_map [2,3]: there is no axis -3");
    ts_rms_norm(tape, ts_variable(tape, TS_SHAPE(2, 3), NULL), ts_variable(tape, TS_SHAPE(2), NULL), 2, 2, 0);
    check_refused("rms_norm [2,3] [2]: 2 coordinates from 2 on do not lie in the last axis, 0 to 2");
    ts_rms_norm(tape, ts_variable(tape, TS_SHAPE(2, 3), NULL), ts_variable(tape, TS_SHAPE(2), NULL), 0, 3, 0);
    check_refused("rms_norm [2,3] [2]: the gain must have shape [3]");
    ts_rms_norm(tape, ts_variable(tape, TS_SHAPE(3), NULL), ts_variable(tape, TS_SHAPE(3), NULL), 0, 3, -1);
    check_refused("rms_norm [3] [3]: eps must be >= 0 and finite, not -1");
    ts_rms_norm(tape, ts_variable(tape, TS_SHAPE(3), NULL), ts_variable(tape, TS_SHAPE(3), NULL), 0, 3, NAN);
    ck_assert_ptr_nonnull(strstr(ts_tape_error(tape), "eps must be >= 0 and finite"));
    ts_tape_reset(tape);
    ts_rms_norm(tape, ts_variable(tape, TS_SHAPE(3), NULL), ts_variable(tape, TS_SHAPE(3), NULL), INT64_MAX, INT64_MAX,
                0);
    ck_assert_ptr_nonnull(strstr(ts_tape_error(tape), "do not lie in the last axis"));
}
END_TEST

/* ---- the op --------------------------------------------------------------------------------------------------------
 */

/* The generic test of the three ops, where the precision allows it. */
START_TEST(op_cases) {
    static const ts_op *const ops[] = {&ts_op_simplex_map, &ts_op_rms_norm, &ts_op_layer_norm};
    for (const ts_op_case *test = ops[_i]->cases; test->label != NULL; test++) {
        ts_gradcheck_report report;
        if (sizeof(ts_real) != sizeof(double) && test->kind != TS_CASE_REFUSED) continue;
        const ts_status status = ts_op_check(ops[_i], test, test_seed(), 1e-7, &report);
        ck_assert_msg(status == TS_OK, "%s, case '%s': %s", ops[_i]->name, test->label, report.text);
    }
}
END_TEST

START_TEST(rows_are_independent) {
    ts_tensor *x = ts_variable(tape, TS_SHAPE(2, 2), (ts_real[]){1000, 1000, -1000, -1000});
    const ts_tensor *y = ts_softmax(tape, x, 1);
    for (int i = 0; i < 4; i++) ck_assert(y->data[i] == (ts_real)0.5);
}
END_TEST

/* Element (a, b, c) of a map along any axis is what the row through it gives. */
START_TEST(any_axis) {
    const int64_t dim[3] = {3, 4, 5}, step[3] = {20, 5, 1};
    ts_tensor *x = ts_variable(tape, TS_SHAPE(3, 4, 5), NULL);
    double s[60], upstream_row[5], row_s[5], p[5], ds[5];
    ts_real upstream[60];
    random_row(&ts_softmax_map, 1, 2, 60, s);
    for (int i = 0; i < 60; i++) x->data[i] = (ts_real)s[i], upstream[i] = (ts_real)s[59 - i];
    for (int axis = 0; axis < 3; axis++) {
        const probe sparsemax = {&ts_sparsemax_map, 0, true};
        const ts_tensor *y = ts_sparsemax(tape, x, axis - 3);
        if (x->grad != NULL) memset(x->grad, 0, 60 * sizeof *x->grad);
        ck_assert_int_eq(ts_backward_from(tape, ts_sparsemax(tape, x, axis), upstream), TS_OK);
        for (int64_t start = 0; start < 60; start++) {
            if (start / step[axis] % dim[axis] != 0) continue;
            for (int64_t j = 0; j < dim[axis]; j++) {
                row_s[j] = (double)x->data[start + j * step[axis]];
                upstream_row[j] = (double)upstream[start + j * step[axis]];
            }
            weights(&sparsemax, dim[axis], row_s, p), gradient(&sparsemax, dim[axis], row_s, upstream_row, ds);
            for (int64_t j = 0; j < dim[axis]; j++) {
                ck_assert(y->data[start + j * step[axis]] == (ts_real)p[j]);
                ck_assert(x->grad[start + j * step[axis]] == (ts_real)ds[j]);
            }
        }
    }
}
END_TEST

START_TEST(wrappers_choose_their_maps) {
    const ts_real values[3] = {0, (ts_real)0.5, 1};
    ts_tensor *x = ts_variable(tape, TS_SHAPE(3), values);
    const ts_rng rng = {5, 6, 7};
    ck_assert(ts_hardmax(tape, x, 0)->data[2] == 1);
    ck_assert(ts_normmax(tape, x, 0, INFINITY)->data[1] == (ts_real)0.5);
    ck_assert_double_eq_tol((double)ts_normmax(tape, x, 0, 2)->data[1], 0.311018, 1e-6);
    ck_assert_double_eq_tol((double)ts_linear_normalise(tape, x, 0)->data[1], 1 / 3.0, 1e-7);
    const ts_tensor *soft = ts_gumbel_softmax(tape, x, 0, 0.5, false, rng),
                    *hard = ts_gumbel_softmax(tape, x, 0, 0.5, true, rng);
    const double largest = fmax(fmax((double)soft->data[0], (double)soft->data[1]), (double)soft->data[2]);
    for (int i = 0; i < 3; i++) ck_assert((hard->data[i] == 1) == ((double)soft->data[i] == largest));
    ck_assert_ptr_null(ts_tape_error(tape));
}
END_TEST

/* ---- normalisation
 * --------------------------------------------------------------------------------------------------- */

static void check_rms(double a, double b, double eps, double right_a, double right_b) {
    ts_tensor *x = ts_variable(tape, TS_SHAPE(1, 2), (ts_real[]){(ts_real)a, (ts_real)b});
    ts_tensor *y = ts_rms_norm(tape, x, ts_variable(tape, TS_SHAPE(2), (ts_real[]){1, 1}), 0, 2, eps);
    ck_assert_double_eq_tol((double)y->data[0], right_a, 1e-6);
    ck_assert_double_eq_tol((double)y->data[1], right_b, 1e-6);
    ck_assert_int_eq(ts_backward_from(tape, y, (ts_real[]){1, 2}), TS_OK);
    ck_assert(isfinite((double)x->grad[0]) && isfinite((double)x->grad[1]));
}

START_TEST(rms_norm_values) {
    check_rms(0, 0, 1e-6, 0, 0);
    check_rms(0, 0, 0, 0, 0);
    check_rms(3, 4, 1e-6, 0.848528, 1.131371);
    check_rms(1e25, 2e25, 1e-6, 0.632456, 1.264911);
    check_rms(1e-3, 0, 1e-6, 0.816497, 0);
    check_rms(1e-30, -1e-30, 0, 1, -1);
    check_rms((double)(sizeof(ts_real) == 4 ? 3e38f : 1.7e308), 0, 1e-6, 1.414214, 0);
}
END_TEST

START_TEST(layer_norm_values) {
    ts_tensor *gain = ts_variable(tape, TS_SHAPE(3), (ts_real[]){1, 1, 2});
    ts_tensor *bias = ts_variable(tape, TS_SHAPE(3), (ts_real[]){0, 10, -1});
    const double third = sqrt(1.5), big = sizeof(ts_real) == 4 ? 1e38 : 8e307;
    static const double rows[4][3] = {{1, 2, 3}, {-1, 0, 1}, {-3, 0, 3}, {0.1, 0.1, 0.1}};
    for (int k = 0; k < 4; k++) {
        const double scale = k == 1 ? 1e-3 : k == 2 ? big / 3 : 1;
        ts_tensor *x = ts_variable(tape, TS_SHAPE(3), NULL);
        for (int i = 0; i < 3; i++) x->data[i] = (ts_real)(scale * rows[k][i]);
        ts_tensor *y = ts_layer_norm(tape, x, gain, bias, 0, 3, 0);
        const double h = k == 3 ? 0 : third;
        ck_assert_double_eq_tol((double)y->data[0], -h, 1e-6);
        ck_assert_double_eq_tol((double)y->data[1], 10, 1e-6);
        ck_assert_double_eq_tol((double)y->data[2], 2 * h - 1, 1e-6);
        ck_assert_int_eq(ts_backward_from(tape, y, (ts_real[]){1, 0, 3}), TS_OK);
        for (int i = 0; i < 3; i++) ck_assert(isfinite((double)x->grad[i]) && (k != 3 || x->grad[i] == 0));
    }
}
END_TEST

START_TEST(coordinates_outside_the_range_pass_unchanged) {
    const ts_real values[10] = {1, 2, 3, 4, (ts_real)INFINITY, -1, -2, -3, -4, (ts_real)0.1};
    const ts_real upstream[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, (ts_real)0.3};
    ts_tensor *gain = ts_variable(tape, TS_SHAPE(2), (ts_real[]){3, 4}), *bias = ts_variable(tape, TS_SHAPE(2), NULL);
    for (int layer = 0; layer < 2; layer++) {
        ts_tensor *x = ts_variable(tape, TS_SHAPE(2, 5), values);
        ts_tensor *y = layer ? ts_layer_norm(tape, x, gain, bias, 2, 2, 1e-5) : ts_rms_norm(tape, x, gain, 2, 2, 1e-5);
        ck_assert_int_eq(ts_backward_from(tape, y, upstream), TS_OK);
        for (int i = 0; i < 10; i++) {
            const bool inside = i % 5 == 2 || i % 5 == 3;
            ck_assert((y->data[i] == values[i]) == !inside && (x->grad[i] == upstream[i]) == !inside);
        }
    }
    ck_assert_double_eq_tol((double)bias->grad[0], 11, 1e-6);
    ck_assert_double_eq_tol((double)bias->grad[1], 13, 1e-6);
}
END_TEST

#ifdef _OPENMP
enum { MANY = 500 * 67 };

static void run_all(int64_t *used, ts_real *results) {
    ts_tensor *x = ts_variable(tape, TS_SHAPE(500, 67), NULL), *gain = ts_variable(tape, TS_SHAPE(60), NULL);
    ts_tensor *bias = ts_variable(tape, TS_SHAPE(60), NULL);
    const ts_rng rng = {test_seed(), ts_rng_stream("threads"), 0};
    for (int i = 0; i < MANY; i++) x->data[i] = (ts_real)ts_rng_normal(rng, (uint64_t)i);
    for (int i = 0; i < 60; i++) gain->data[i] = (ts_real)(i + 1), bias->data[i] = (ts_real)0.1;
    ts_tensor *y[5] = {ts_softmax(tape, x, 0), ts_normmax(tape, x, 1, 1.5),
                       ts_gumbel_softmax(tape, x, -1, 0.5, true, rng), ts_rms_norm(tape, x, gain, 3, 60, 1e-5),
                       ts_layer_norm(tape, x, gain, bias, 3, 60, 1e-5)};
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(ts_backward_from(tape, y[i], x->data), TS_OK);
        memcpy(results + *used, y[i]->data, MANY * sizeof *results), *used += MANY;
        memcpy(results + *used, x->grad, MANY * sizeof *results), *used += MANY;
    }
    memcpy(results + *used, gain->grad, 60 * sizeof *results), *used += 60;
    memcpy(results + *used, bias->grad, 60 * sizeof *results), *used += 60;
}

START_TEST(the_same_bits_on_any_number_of_threads) {
    static ts_real results[2][10 * MANY + 120];
    const int before = omp_get_max_threads();
    for (int t = 0; t < 4; t++) {
        int64_t used = 0;
        omp_set_num_threads((int[]){1, 2, 3, 8}[t]);
        ts_tape_reset(tape);
        run_all(&used, results[t > 0]);
        ck_assert_int_eq(used, 10 * MANY + 120);
        if (t > 0) ck_assert(memcmp(results[0], results[1], sizeof results[0]) == 0);
    }
    omp_set_num_threads(before);
}
END_TEST
#endif

static void add_map_tests(TCase *tests) {
    tcase_add_test(tests, known_values);
    tcase_add_test(tests, sparsemax_known_gradient);
    tcase_add_test(tests, normmax_known_threshold);
    tcase_add_loop_test(tests, weights_lie_in_the_simplex_and_ignore_shifts, 0, PROBES);
    tcase_add_test(tests, sparsemax_is_the_projection);
    tcase_add_test(tests, normmax_inf_takes_the_best_number_of_scores);
    tcase_add_test(tests, normmax_satisfies_its_equation);
    tcase_add_test(tests, normmax_tends_to_its_limits);
    tcase_add_test(tests, long_rows);
    tcase_add_test(tests, top_m_known_values);
    tcase_add_test(tests, top_m_counts_as_one_does_by_hand);
    tcase_add_test(tests, top_m_takes_the_first_of_equal_scores);
    tcase_add_test(tests, entmax_known_values);
    tcase_add_test(tests, softmax_keeps_the_smallest_weights);
    tcase_add_test(tests, entmax_satisfies_its_equation);
    tcase_add_test(tests, power_known_values);
    tcase_add_test(tests, fuzzy_known_values);
    tcase_add_test(tests, large_powers_of_near_ties);
    tcase_add_test(tests, fuzzy_is_power_of_inverse_distances);
    tcase_add_test(tests, long_rows_of_powers);
    tcase_add_loop_test(tests, entries_of_minus_infinity_are_excluded, 0, PROBES);
    tcase_add_loop_test(tests, entries_of_plus_infinity_share_the_weight, 0, PROBES);
    tcase_add_loop_test(tests, nan_makes_the_row_nan, 0, PROBES);
    tcase_add_loop_test(tests, extreme_scores_stay_finite, 0, PROBES);
    tcase_add_loop_test(tests, gradients_are_the_derivatives, 0, PROBES);
    tcase_add_test(tests, linear_near_overflow);
    tcase_add_test(tests, straight_through_gradient_is_that_of_gumbel_softmax);
    tcase_add_test(tests, gumbel_draws_follow_softmax);
    tcase_add_test(tests, gumbel_noise_is_finite);
    tcase_add_test(tests, maps_by_name);
    tcase_add_test(tests, parameters_are_checked);
}

int main(void) {
    ts_parallel_cutoff = 1000; /* small work meets threads */
    Suite *suite = suite_create("simplex maps and normalisation");
    TCase *tests = tcase_create("all");
    printf("seed %" PRIu64 "\n", test_seed());
    tcase_set_timeout(tests, 0);
    tcase_add_checked_fixture(tests, setup, teardown);
    add_map_tests(tests);
    tcase_add_test(tests, ops_refuse_by_name);
    tcase_add_loop_test(tests, op_cases, 0, 3);
    tcase_add_test(tests, rows_are_independent);
    tcase_add_test(tests, any_axis);
    tcase_add_test(tests, wrappers_choose_their_maps);
    tcase_add_test(tests, rms_norm_values);
    tcase_add_test(tests, layer_norm_values);
    tcase_add_test(tests, coordinates_outside_the_range_pass_unchanged);
#ifdef _OPENMP
    tcase_add_test(tests, the_same_bits_on_any_number_of_threads);
#else
    say_skipped("the_same_bits_on_any_number_of_threads", "no OpenMP");
#endif
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
