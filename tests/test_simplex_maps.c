/* The simplex maps one by one, row by row in double: values worked out by hand, and the equations they satisfy. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "simplex_rows.h"

/* ---- softmax, hardmax, linear, sparsemax, normmax ---------------------------------------------------------------- */

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
    check_weights(&inf, 2, ROW(1, 0), ROW(1, 0), 0); /* one or both are as good: the smaller number */
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

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, known_values);
    tcase_add_test(tests, sparsemax_known_gradient);
    tcase_add_test(tests, normmax_known_threshold);
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
    tcase_add_test(tests, linear_near_overflow);
    return run_case("simplex maps one by one", tests);
}
