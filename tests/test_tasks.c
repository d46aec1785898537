#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/parallel.h"
#include "../autograd/series.h"
#include "../train/tasks.h"
#include "rounding.h"
#include "test_main.h"

static const uint64_t SEED = 20261130;

/* ---- families ---- */

enum { DRAWS = 1000000 };

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Fresh draws in ascending order. */
static double *sorted_draws(ts_family family) {
    const ts_rng rng = {test_seed(), ts_rng_stream("moments"), 0};
    double *z = malloc(DRAWS * sizeof *z);
    ck_assert_ptr_nonnull(z);
    for (uint64_t i = 0; i < DRAWS; i++) z[i] = ts_family_draw(family, rng, i);
    qsort(z, DRAWS, sizeof *z, compare_doubles);
    ck_assert(isfinite(z[0]) && isfinite(z[DRAWS - 1]));
    return z;
}

/* Each tolerance is about six standard errors of its estimate from DRAWS draws; none is checked where it is 0. */
typedef struct shape {
    ts_family family;
    double mean, mean_tolerance, variance, variance_tolerance, quartile[3], quartile_tolerance[3];
} shape;

static const shape SHAPES[] = {
    {TS_FAMILY_NORMAL, 0, .006, 1, .0085, {-.67449, 0, .67449}, {.0082, .0076, .0082}},
    {TS_FAMILY_CAUCHY, 0, 0, 0, 0, {-1, 0, 1}, {.0164, .0095, .0164}},
    {TS_FAMILY_GUMBEL, .577216, .0077, 1.644934, .021, {-.326634, .366513, 1.245899}, {.0075, .0087, .0121}},
    {TS_FAMILY_LAPLACE, 0, .0085, 2, .027, {-.693147, 0, .693147}, {.0104, .006, .0104}},
    {TS_FAMILY_LOGNORMAL, 1.648721, .013, 4.670774, .3, {.509416, 1, 1.963031}, {.0042, .0076, .0161}},
};

START_TEST(moments_and_quartiles) {
    const shape *s = &SHAPES[_i];
    printf("%s: seed %" PRIu64 "\n", ts_family_name(s->family), test_seed());
    double *z = sorted_draws(s->family), mean = 0, square = 0;
    for (int64_t i = 0; i < DRAWS; i++) mean += z[i] / DRAWS;
    for (int64_t i = 0; i < DRAWS; i++) square += (z[i] - mean) * (z[i] - mean) / DRAWS;
    if (s->mean_tolerance > 0) ck_assert_double_eq_tol(mean, s->mean, s->mean_tolerance);
    if (s->variance_tolerance > 0) ck_assert_double_eq_tol(square, s->variance, s->variance_tolerance);
    for (int q = 0; q < 3; q++)
        ck_assert_double_eq_tol(z[DRAWS / 4 * (q + 1)], s->quartile[q], s->quartile_tolerance[q]);
    free(z);
}
END_TEST

/* Both numbers of a pair: Box-Muller shares a radius between them. */
START_TEST(the_two_numbers_of_a_pair_are_independent) {
    const ts_rng rng = {test_seed(), ts_rng_stream("pairs"), 0};
    printf("pairs: seed %" PRIu64 "\n", test_seed());
    for (int f = 0; f < 5; f++) {
        int quadrant[4] = {0};
        double product = 0;
        for (uint64_t i = 0; i < DRAWS / 2; i++) {
            const double a = ts_family_draw((ts_family)f, rng, 2 * i), b = ts_family_draw((ts_family)f, rng, 2 * i + 1);
            const double middle = SHAPES[f].quartile[1];
            quadrant[2 * (a > middle) + (b > middle)]++;
            if (f == TS_FAMILY_NORMAL) product += (a * a - 1) * (b * b - 1) / (DRAWS / 2);
        }
        for (int q = 0; q < 4; q++) ck_assert_double_eq_tol(quadrant[q], DRAWS / 8.0, 1850);
        ck_assert_double_eq_tol(product, 0, .017);
    }
}
END_TEST

START_TEST(every_draw_is_finite) {
    static const double ends[] = {0x1p-53, 0x1p-52, 0x1p-24, .25, .5, .75, 1 - 0x1p-24, 1 - 0x1p-52, 1 - 0x1p-53};
    for (int f = 0; f < 5; f++)
        for (int i = 0; i < 81; i++) {
            double z[2] = {ends[i / 9], ends[i % 9]};
            ts_family_noise((ts_family)f, 1, z);
            for (int half = 0; half < 2; half++) {
                const ts_real small = (ts_real)z[half], power = (ts_real)exp(z[half]);
                ck_assert(isfinite(z[half]) && isfinite(small));
                if (f == TS_FAMILY_LOGNORMAL) ck_assert(isfinite(power) && power > 0);
            }
        }
}
END_TEST

START_TEST(quantiles_at_the_ends) {
    static const struct {
        ts_family family;
        double u, z;
    } cases[] = {
        {TS_FAMILY_GUMBEL, 0x1p-24, -2.8115409097663},
        {TS_FAMILY_GUMBEL, 1 - 0x1p-24, 16.635532303636},
        {TS_FAMILY_GUMBEL, 1 - 0x1p-53, 36.73680056967},
        {TS_FAMILY_CAUCHY, .25, -1},
        {TS_FAMILY_CAUCHY, .75, 1},
        {TS_FAMILY_CAUCHY, 0x1p-53, -2867080569611329.5},
        {TS_FAMILY_CAUCHY, 1 - 0x1p-53, 2867080569611329.5},
        {TS_FAMILY_LAPLACE, .25, -.693147180560},
        {TS_FAMILY_LAPLACE, .75, .693147180560},
        {TS_FAMILY_LAPLACE, 0x1p-53, -36.0436533891172},
        {TS_FAMILY_LAPLACE, 1 - 0x1p-53, 36.0436533891172},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double z[2] = {cases[i].u, cases[i].u};
        ts_family_noise(cases[i].family, 1, z);
        for (int half = 0; half < 2; half++) ck_assert_double_eq_tol(z[half] / cases[i].z, 1, 1e-10);
    }
    double normal[2] = {0x1p-53, 0x1p-53};
    ts_family_noise(TS_FAMILY_NORMAL, 1, normal);
    ck_assert_double_eq_tol(normal[0], 8.571674348653, 1e-11);
}
END_TEST

static void check_close(const char *what, double x, double y, double right) {
    ck_assert_msg(fabs(y - right) <= 4 * 0x1p-52 * fabs(right), "%s of %.17g: %.17g, the C library's %.17g", what, x, y,
                  right);
}

/* The series of series.h against the C library: to 4 units in the last place of what the formulas of the families are
 * made of, in vectors of every place. */
START_TEST(series_equal_the_c_library) {
    enum { PAIRS = 4099 };
    const ts_rng rng = {test_seed(), ts_rng_stream("series"), 3};
    const double pi = 3.141592653589793238463;
    double u[2 * PAIRS], z[2 * PAIRS];
    printf("series: seed %" PRIu64 "\n", test_seed());
    ts_rng_uniforms(rng, 5, 3, PAIRS, u, u + PAIRS);
    for (int64_t i = 0; i < 2 * PAIRS; i++) z[i] = 1400 * (u[i] - 0.5);
    for (int i = 0; i < 2 * PAIRS; i++) z[i] = series_exp(z[i]);
    for (int64_t i = 0; i < 2 * PAIRS; i++) check_close("exp", 1400 * (u[i] - 0.5), z[i], exp(1400 * (u[i] - 0.5)));
    for (int64_t i = 0; i < 2 * PAIRS; i++)
        z[i] = u[i] = i >= PAIRS ? u[i] : pow(u[i], 30) * 0.49 + 0x1p-53; /* tails */
    ts_family_noise(TS_FAMILY_LAPLACE, PAIRS, z);
    for (int64_t i = 0; i < 2 * PAIRS; i++)
        check_close("log", u[i], fabs(z[i]), -log(u[i] < 0.5 ? 2 * u[i] : 2 * (1 - u[i])));
    memcpy(z, u, sizeof z);
    ts_family_noise(TS_FAMILY_NORMAL, PAIRS, z);
    for (int64_t i = 0; i < PAIRS; i++) {
        const double radius = sqrt(-2 * log(u[i])), angle = 2 * pi * u[PAIRS + i];
        ck_assert_double_eq_tol(z[i], radius * cos(angle), 8 * 0x1p-52 * radius);
        ck_assert_double_eq_tol(z[PAIRS + i], radius * sin(angle), 8 * 0x1p-52 * radius);
    }
}
END_TEST

START_TEST(families_by_name) {
    for (int f = 0; f < 5; f++) {
        ts_family family = (ts_family)((f + 1) % ts_families);
        ck_assert(ts_family_by_name(ts_family_name((ts_family)f), &family));
        ck_assert_int_eq((int)family, f);
    }
    ts_family family = TS_FAMILY_LAPLACE;
    ck_assert(!ts_family_by_name("Normal", &family) && !ts_family_by_name("", &family));
    ck_assert_int_eq((int)family, TS_FAMILY_LAPLACE);
    ck_assert_ptr_null(ts_family_name(ts_families));
}
END_TEST

/* ---- tasks ---- */

static ts_task_spec make_spec(int64_t n, int64_t d, int64_t k) {
    return (ts_task_spec){.n = n, .d = d, .k = k, .family = TS_FAMILY_NORMAL, .scale = TS_TASK_SCALE};
}

/* Points to be freed. */
static ts_real *draw(const ts_task_spec *spec, uint64_t seed, uint32_t step, uint64_t task, int64_t *component) {
    ts_real *points = malloc((size_t)(spec->n * spec->d) * sizeof *points);
    ts_error error = {0};
    ck_assert_ptr_nonnull(points);
    ck_assert_int_eq(ts_task_draw(spec, seed, step, task, points, component, &error), TS_OK);
    ck_assert_int_eq(error.status, TS_OK);
    return points;
}

static ts_real *batch(const ts_task_spec *spec, uint32_t step, uint64_t first, int64_t tasks, ts_real *centers) {
    ts_real *points = malloc((size_t)(tasks * spec->n * spec->d) * sizeof *points);
    ts_error error = {0};
    ck_assert_ptr_nonnull(points);
    ck_assert_int_eq(ts_task_batch(spec, SEED, step, first, tasks, points, centers, &error), TS_OK);
    return points;
}

/* Row i and dimension j before scaling, straight from the formulas and the layout of the counters. */
static double formula(const ts_task_spec *s, uint32_t step, uint64_t task, int64_t i, int64_t j, int64_t c) {
    const ts_rng locations = {SEED, ts_rng_stream("task locations"), step},
                 scales = {SEED, ts_rng_stream("task scales"), step}, noise = {SEED, ts_rng_stream("task noise"), step};
    const uint64_t base = task << 40, of_component = base + (uint64_t)(c * s->d + j);
    const double location = ts_rng_uniform(locations, of_component);
    const double scale = s->scale * (s->anisotropic ? ts_rng_uniform(scales, of_component) : 1);
    const ts_family family = s->family == TS_FAMILY_LOGNORMAL ? TS_FAMILY_NORMAL : s->family;
    const double z = ts_family_draw(family, noise, 2 * (base + (uint64_t)(i / 2 * s->d + j)) + (uint64_t)i % 2);
    return s->family == TS_FAMILY_LOGNORMAL ? exp(location + scale * z) : location + scale * z;
}

/* The component of row i: the first whose cumulative weight exceeds u. */
static int64_t formula_component(const ts_task_spec *s, uint32_t step, uint64_t task, int64_t i) {
    const ts_rng weights = {SEED, ts_rng_stream("task weights"), step},
                 components = {SEED, ts_rng_stream("task components"), step};
    double total = 0, sum = 0;
    for (int64_t c = 0; c < s->k; c++) total += s->unequal ? ts_rng_uniform(weights, (task << 40) + (uint64_t)c) : 1;
    const double u = ts_rng_uniform(components, (task << 40) + (uint64_t)i);
    for (int64_t c = 0; c < s->k; c++) {
        sum += s->unequal ? ts_rng_uniform(weights, (task << 40) + (uint64_t)c) : 1;
        if (sum > u * total) return c;
    }
    return s->k - 1;
}

START_TEST(rows_follow_the_formula) {
    enum { N = 41, D = 3, STEP = 6, TASK = 77 };
    ts_task_spec spec = make_spec(N, D, 4);
    spec.family = (ts_family)(_i / 4), spec.anisotropic = _i & 1, spec.unequal = _i >> 1 & 1, spec.scale = .2;
    int64_t component[N];
    ts_real *points = draw(&spec, SEED, STEP, TASK, component);
    for (int64_t j = 0; j < D; j++) {
        double column[N], low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < N; i++) {
            ck_assert_int_eq(component[i], formula_component(&spec, STEP, TASK, i));
            column[i] = formula(&spec, STEP, TASK, i, j, component[i]);
            low = fmin(low, column[i]), high = fmax(high, column[i]);
        }
        for (int64_t i = 0; i < N; i++)
            ck_assert_double_eq_tol((double)points[i * D + j], (column[i] - low) / (high - low), 4 * EPS);
    }
    free(points);
}
END_TEST

static void expect_unit_ranges(const ts_task_spec *spec, const ts_real *points) {
    bool inside = true;
    for (int64_t j = 0; j < spec->d; j++) {
        ts_real low = 2, high = -1;
        for (int64_t i = 0; i < spec->n; i++) {
            const ts_real x = points[i * spec->d + j];
            inside = inside && x >= 0 && x <= 1;
            low = x < low ? x : low, high = x > high ? x : high;
        }
        ck_assert(low == 0 && high == (spec->n > 1 ? 1 : 0)); /* one row is constant, and becomes 0 */
    }
    ck_assert(inside);
}

START_TEST(every_dimension_runs_from_0_to_1) {
    static const int64_t sizes[] = {1, 2, 3, 7, 64, 131};
    static const double scales[] = {1e-3, TS_TASK_SCALE, 64};
    for (int f = 0; f < 5; f++)
        for (int i = 0; i < 6 * 6 * 6 * 3; i++) {
            const int64_t n = sizes[i % 6], d = sizes[i / 6 % 6], k = sizes[i / 36 % 6];
            if (k > n) continue;
            ts_task_spec spec = make_spec(n, d, k);
            spec.family = (ts_family)f, spec.scale = scales[i / 216], spec.anisotropic = i & 1,
            spec.unequal = i >> 1 & 1;
            ts_real *points = draw(&spec, SEED, 1, (uint64_t)i, NULL);
            expect_unit_ranges(&spec, points);
            free(points);
        }
}
END_TEST

START_TEST(extreme_scales_stay_in_range) {
    for (int f = 0; f < 5; f++)
        for (int large = 0; large < 2; large++) {
            ts_task_spec spec = make_spec(50, 2, 3);
            spec.family = (ts_family)f;
            spec.scale = !large ? 5e-324 : f == TS_FAMILY_LOGNORMAL ? 64 : 1e100;
            ts_real *points = draw(&spec, SEED, 1, 0, NULL);
            expect_unit_ranges(&spec, points);
            free(points);
            spec.k = 1; /* rows that coincide when the scale vanishes beside the location */
            points = draw(&spec, SEED, 1, 0, NULL);
            if (large) expect_unit_ranges(&spec, points);
            for (int64_t i = 0; !large && i < 100; i++) ck_assert(points[i] == 0);
            free(points);
        }
}
END_TEST

static double chi_square(const ts_task_spec *spec, const int64_t *component) {
    int64_t count[16] = {0};
    double sum = 0;
    for (int64_t i = 0; i < spec->n; i++) {
        ck_assert(component[i] >= 0 && component[i] < spec->k);
        count[component[i]]++;
    }
    const double expected = (double)spec->n / (double)spec->k;
    for (int64_t c = 0; c < spec->k; c++)
        sum += ((double)count[c] - expected) * ((double)count[c] - expected) / expected;
    return sum;
}

START_TEST(components_by_weight) {
    enum { N = 100000, K = 10 };
    ts_task_spec spec = make_spec(N, 1, K);
    int64_t *component = malloc(N * sizeof *component);
    for (uint64_t task = 0; task < 10; task++) {
        spec.unequal = false;
        free(draw(&spec, SEED, 0, task, component));
        ck_assert_double_lt(chi_square(&spec, component), 50); /* 9 degrees of freedom: 1 in 10^7 */
        spec.unequal = true;
        free(draw(&spec, SEED, 0, task, component));
        ck_assert_double_gt(chi_square(&spec, component), 1000);
    }
    free(component);
}
END_TEST

/* The standard deviation in dimension j of the rows of component c. */
static double spread(const ts_task_spec *spec, const ts_real *points, const int64_t *component, int64_t c, int64_t j) {
    double count = 0, mean = 0, square = 0;
    for (int64_t i = 0; i < spec->n; i++)
        if (component[i] == c) count++, mean += (double)points[i * spec->d + j];
    mean /= count;
    for (int64_t i = 0; i < spec->n; i++) {
        const double from_mean = (double)points[i * spec->d + j] - mean;
        if (component[i] == c) square += from_mean * from_mean;
    }
    return sqrt(square / count);
}

/* Scaling hides the scales themselves, but not how those of two components compare. */
START_TEST(scales_by_component_and_dimension) {
    enum { N = 40000, D = 4 };
    ts_task_spec spec = make_spec(N, D, 2);
    int64_t *component = malloc(N * sizeof *component);
    for (int anisotropic = 0; anisotropic < 2; anisotropic++) {
        spec.anisotropic = anisotropic;
        ts_real *points = draw(&spec, SEED, 2, 5, component);
        double least = INFINITY, most = 0;
        for (int64_t j = 0; j < D; j++) {
            const double first = spread(&spec, points, component, 0, j);
            const double ratio = first / spread(&spec, points, component, 1, j);
            least = fmin(least, ratio), most = fmax(most, ratio);
        }
        ck_assert(anisotropic ? most > 2 * least : least > .95 && most < 1.05);
        free(points);
    }
    free(component);
}
END_TEST

START_TEST(a_task_is_the_same_in_any_batch) {
    enum { N = 33, D = 5, K = 4, TASKS = 6, SIZE = N * D };
    const ts_task_spec spec = make_spec(N, D, K);
    ts_real centers[TASKS * K * D];
    ts_real *all = batch(&spec, 3, 0, TASKS, centers), *rest = batch(&spec, 3, 4, 2, NULL);
    ck_assert_mem_eq(rest, all + 4 * SIZE, 2 * SIZE * sizeof *all);
    for (int64_t b = 0; b < TASKS; b++) {
        ts_real *alone = draw(&spec, SEED, 3, (uint64_t)b, NULL);
        ck_assert_mem_eq(alone, all + b * SIZE, SIZE * sizeof *all);
        ck_assert_mem_eq(alone, centers + b * K * D, K * D * sizeof *all);
        free(alone);
    }
    free(all);
    free(rest);
}
END_TEST

START_TEST(any_number_of_threads_gives_the_same_bytes) {
#ifdef _OPENMP
    enum { TASKS = 13, SIZE = TASKS * 101 * 7 };
    const int before = omp_get_max_threads();
    for (int f = 0; f < 5; f++) {
        ts_task_spec spec = make_spec(101, 7, 5);
        spec.family = (ts_family)f, spec.anisotropic = spec.unequal = true;
        ts_real *points[3];
        static const int threads[] = {1, 2, 8};
        for (int i = 0; i < 3; i++) {
            omp_set_num_threads(threads[i]);
            points[i] = batch(&spec, 9, 0, TASKS, NULL);
            ck_assert_mem_eq(points[0], points[i], SIZE * sizeof(ts_real));
        }
        for (int i = 0; i < 3; i++) free(points[i]);
    }
    omp_set_num_threads(before);
#else
    skip_test("no OpenMP");
#endif
}
END_TEST

START_TEST(seed_step_and_task_all_matter) {
    enum { N = 20, D = 2 };
    const ts_task_spec spec = make_spec(N, D, 3);
    const uint64_t last = TS_TASK_LIMIT - 1;
    ts_real *const points[] = {draw(&spec, 1, 1, 1, NULL),          draw(&spec, 2, 1, 1, NULL),
                               draw(&spec, 1, 2, 1, NULL),          draw(&spec, 1, 1, 2, NULL),
                               draw(&spec, 1, 1, last, NULL),       draw(&spec, 1, 1, last - 1, NULL),
                               draw(&spec, 1ull << 63, 1, 1, NULL), draw(&spec, 1, UINT32_MAX, 1, NULL)};
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < a; b++)
            for (int i = 0; i < N; i++) /* no row of one is a row of another */
                ck_assert(i == 0 || memcmp(points[a] + i * D, points[b] + i * D, D * sizeof(ts_real)) != 0);
    for (int a = 0; a < 8; a++) free(points[a]);
}
END_TEST

/* ---- refusals ---- */

static const struct {
    int64_t n, d, k;
    int family;
    double scale;
    const char *reason;
} WRONG[] = {
    {0, 2, 3, 0, .1, "n = 0"},
    {-1, 2, 3, 0, .1, "n = -1"},
    {10, 0, 3, 0, .1, "d = 0"},
    {10, 2, 0, 0, .1, "k = 0"},
    {10, 2, 11, 0, .1, "k = 11"},
    {((int64_t)1 << 40) + 1, 1, 3, 0, .1, "2^40"},
    {INT64_MAX, INT64_MAX, 3, 0, .1, "2^40"},
    {10, 2, 3, 99, .1, "family 99"},
    {10, 2, 3, -1, .1, "family -1"},
    {10, 2, 3, 0, 0, "scale = 0"},
    {10, 2, 3, 0, -1, "scale = -1"},
    {10, 2, 3, 0, NAN, "scale = "},
    {10, 2, 3, 0, INFINITY, "scale = inf"},
    {10, 2, 3, 0, 1e101, "scale = 1e+101"},
    {10, 2, 3, TS_FAMILY_LOGNORMAL, 65, "lognormal"},
};

START_TEST(wrong_specs_are_refused_by_name) {
    const ts_task_spec good = make_spec(10, 2, 3);
    ts_error error = {0};
    ts_real points[20] = {7}, centers[6] = {7};
    ck_assert_int_eq(ts_task_check(&good, &error), TS_OK);
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        const ts_task_spec bad = {.n = WRONG[i].n,
                                  .d = WRONG[i].d,
                                  .k = WRONG[i].k,
                                  .family = (ts_family)WRONG[i].family,
                                  .scale = WRONG[i].scale};
        ts_error errors[3] = {{0}};
        ck_assert_int_eq(ts_task_check(&bad, &errors[0]), TS_ERROR_VALUE);
        ck_assert_int_eq(ts_task_draw(&bad, 1, 1, 1, points, NULL, &errors[1]), TS_ERROR_VALUE);
        ck_assert_int_eq(ts_task_batch(&bad, 1, 1, 1, 1, points, centers, &errors[2]), TS_ERROR_VALUE);
        for (int e = 0; e < 3; e++)
            ck_assert_msg(strstr(errors[e].text, WRONG[i].reason) != NULL, "%s: %s", WRONG[i].reason, errors[e].text);
    }
    ck_assert(points[0] == 7 && centers[0] == 7);
}
END_TEST

START_TEST(wrong_task_numbers_are_refused) {
    const ts_task_spec spec = make_spec(1, 1, 1);
    static const struct {
        uint64_t first;
        int64_t tasks;
    } cases[] = {{0, -1}, {TS_TASK_LIMIT, 1}, {TS_TASK_LIMIT - 1, 2}, {UINT64_MAX, 1}, {1, INT64_MAX}};
    ts_real points[2] = {7, 7}, centers[2] = {7, 7};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ts_error error = {0};
        ck_assert_int_eq(ts_task_batch(&spec, 1, 1, cases[i].first, cases[i].tasks, points, centers, &error),
                         TS_ERROR_VALUE);
        ck_assert_ptr_nonnull(strstr(error.text, "16777215"));
    }
    ts_error error = {0};
    ck_assert_int_eq(ts_task_batch(&spec, 1, 1, TS_TASK_LIMIT, 0, points, centers, &error), TS_OK);
    ck_assert(points[0] == 7 && centers[0] == 7);
    ck_assert_int_eq(ts_task_batch(&spec, 1, 1, TS_TASK_LIMIT - 1, 1, points, centers, &error), TS_OK);
    ck_assert(points[0] == 0 && points[1] == 7 && centers[0] == 0 && centers[1] == 7);
    ck_assert_int_eq(ts_task_draw(&spec, 1, 1, TS_TASK_LIMIT, points, NULL, &error), TS_ERROR_VALUE);
}
END_TEST

START_TEST(streams_differ) {
    static const char *const names[] = {"task weights", "task components", "task locations", "task scales",
                                        "task noise",   "seeding",         "empty cluster",  "restart"};
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < a; b++) ck_assert_uint_ne(ts_rng_stream(names[a]), ts_rng_stream(names[b]));
}
END_TEST

int main(void) {
    ts_parallel_cutoff = 1000; /* small work meets threads */
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, moments_and_quartiles, 0, 5);
    tcase_add_test(tests, the_two_numbers_of_a_pair_are_independent);
    tcase_add_test(tests, every_draw_is_finite);
    tcase_add_test(tests, quantiles_at_the_ends);
    tcase_add_test(tests, series_equal_the_c_library);
    tcase_add_test(tests, families_by_name);
    tcase_add_loop_test(tests, rows_follow_the_formula, 0, 4 * 5);
    tcase_add_test(tests, every_dimension_runs_from_0_to_1);
    tcase_add_test(tests, extreme_scales_stay_in_range);
    tcase_add_test(tests, components_by_weight);
    tcase_add_test(tests, scales_by_component_and_dimension);
    tcase_add_test(tests, a_task_is_the_same_in_any_batch);
    tcase_add_test(tests, any_number_of_threads_gives_the_same_bytes);
    tcase_add_test(tests, seed_step_and_task_all_matter);
    tcase_add_test(tests, wrong_specs_are_refused_by_name);
    tcase_add_test(tests, wrong_task_numbers_are_refused);
    tcase_add_test(tests, streams_differ);
    return run_case("clustering tasks", tests);
}
