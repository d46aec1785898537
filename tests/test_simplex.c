/* What holds for every simplex map, row by row in double: weights lie in the simplex, infinities and NaN have their
 * meaning, gradients are derivatives, draws follow their law; and the list of maps. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "simplex_rows.h"

/* Every map, sizes 1 to 200, scales 1e-6 to 1e6: weights lie in the simplex. Scores are multiples of 2^-20 of a power
 * of two, so that a shift is exact and must not move a bit; nor must a factor 8
 * for scale-invariant maps. */
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
                s[i] = of->map->scale_invariant ? 8 * s[i] : sign_of(of->map) == 0 ? s[i] + ldexp(3, e) : s[i];
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

/* Scores that are moved a little leave the weights of a map without gradient as they are, but at a jump. */
static void expect_flat(const probe *of) {
    double s[12], p[12], moved[12];
    int same = 0, all = 0;
    for (uint32_t k = 0; k < 60; k++) {
        const int64_t n = 1 + k % 12;
        random_row(of->map, k, 1, n, s);
        weights(of, n, s, p);
        for (int64_t i = 0; i < n; i++) {
            s[i] += 1e-9;
            weights(of, n, s, moved);
            s[i] -= 1e-9;
            same += memcmp(p, moved, (size_t)n * sizeof *p) == 0, all++;
        }
    }
    ck_assert_msg(same * 20 > all * 19, "%s(%g): %d of %d moves change nothing", of->map->name, of->parameter, same,
                  all);
}

/* How near scores must be for a map with this parameter to share the weight among them. */
static double nearness(const probe *of) {
    const double above = of->parameter - 1;
    return of->map == &ts_power_map                                 ? 1 / of->parameter
           : of->map == &ts_normmax_map || of->map == &ts_fuzzy_map ? fmin(1, above)
                                                                    : 1;
}

/* Weights that do not change when all scores are shifted, or scaled where scores have one sign, have a gradient that is
 * at right angles to that; however steep it is. */
START_TEST(gradients_keep_what_does_not_change) {
    const probe *of = &probes[_i];
    double s[12], dp[12], ds[12], size = 0;
    if (sign_of(of->map) != 0 && !of->map->scale_invariant) return; /* nothing is known not to change it */
    for (uint32_t k = 0; k < 60; k++) {
        const int64_t n = 1 + k % 12;
        double sum = 0, sizes = 0;
        random_row(of->map, k, nearness(of), n, s);
        random_row(&ts_softmax_map, k + 1000, 1, n, dp);
        for (int64_t i = 0; i < n; i++) s[i] += sign_of(of->map);
        gradient(of, n, s, dp, ds);
        for (int64_t i = 0; i < n; i++) {
            const double along = ds[i] * (sign_of(of->map) == 0 ? 1 : s[i]);
            sum += along, sizes += fabs(along);
        }
        ck_assert_msg(fabs(sum) <= 1e-12 * fmax(sizes, 1e-2), "%s(%g), n %lld: %g of %g", of->map->name, of->parameter,
                      (long long)n, sum, sizes);
        size = fmax(size, sizes);
    }
    ck_assert_msg(of->map->backward == NULL || size > 0, "%s(%g): no gradient anywhere", of->map->name, of->parameter);
}
END_TEST

START_TEST(gradients_are_the_derivatives) {
    const probe *of = &probes[_i];
    if (of->map->backward == NULL) expect_flat(of);
    if (!of->smooth) return; /* too steep for numeric ones */
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

/* ---- the list, and what is refused ------------------------------------------------------------------------------- */

/* By the name that each has for itself; and every map is among the probes, which the tests above walk. */
START_TEST(maps_by_name) {
    for (const ts_simplex *const *map = ts_simplex_maps; *map != NULL; map++) {
        ck_assert_ptr_eq(ts_simplex_by_name((*map)->name), *map);
        int probed = 0;
        for (int i = 0; i < n_probes; i++) probed += probes[i].map == *map;
        ck_assert_msg(probed > 0, "%s has no row in tests/simplex_rows.c", (*map)->name);
    }
    ck_assert_ptr_eq(ts_simplex_by_name("softmax"), &ts_softmax_map);
    ck_assert_ptr_eq(ts_simplex_by_name("entmax-1.5"), &ts_entmax15_map);
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

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, weights_lie_in_the_simplex_and_ignore_shifts, 0, n_probes);
    tcase_add_loop_test(tests, entries_of_minus_infinity_are_excluded, 0, n_probes);
    tcase_add_loop_test(tests, entries_of_plus_infinity_share_the_weight, 0, n_probes);
    tcase_add_loop_test(tests, nan_makes_the_row_nan, 0, n_probes);
    tcase_add_loop_test(tests, extreme_scores_stay_finite, 0, n_probes);
    tcase_add_loop_test(tests, gradients_are_the_derivatives, 0, n_probes);
    tcase_add_loop_test(tests, gradients_keep_what_does_not_change, 0, n_probes);
    tcase_add_test(tests, straight_through_gradient_is_that_of_gumbel_softmax);
    tcase_add_test(tests, gumbel_draws_follow_softmax);
    tcase_add_test(tests, gumbel_noise_is_finite);
    tcase_add_test(tests, maps_by_name);
    tcase_add_test(tests, parameters_are_checked);
    return run_case("simplex maps", tests);
}
