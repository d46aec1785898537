#include "simplex_rows.h"

#include <math.h>
#include <string.h>

const probe probes[] = {{&ts_softmax_map, 0, true},
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

const int n_probes = sizeof probes / sizeof probes[0];

ts_simplex_row row_of(const probe *of, int64_t n, double *work) {
    const ts_rng rng = {test_seed(), ts_rng_stream("noise"), 0};
    return (ts_simplex_row){.parameter = of->parameter, .rng = rng, .first = 40, .n = n, .work = work};
}

/* Numbers past the end of a row, which stay what they are. */
enum { GUARD = 4 };
static const double GUARD_VALUE = 12345.678;

static void check_guard(const double *end) {
    for (int i = 0; i < GUARD; i++) ck_assert(end[i] == GUARD_VALUE);
}

static void set_guard(double *end) {
    for (int i = 0; i < GUARD; i++) end[i] = GUARD_VALUE;
}

void weights(const probe *of, int64_t n, const double *s, double *p) {
    double w[LONGEST + GUARD], work[LONGEST + GUARD];
    set_guard(w + n), set_guard(work + n * of->map->work_rows);
    const ts_simplex_row row = row_of(of, n, work);
    const double z = of->map->forward(&row, s, w);
    ck_assert_msg(z > 0 || isnan(z), "%s: normaliser %g", of->map->name, z);
    check_guard(w + n), check_guard(work + n * of->map->work_rows);
    for (int64_t i = 0; i < n; i++) p[i] = w[i] / z;
}

void gradient(const probe *of, int64_t n, const double *s, const double *dp, double *ds) {
    double w[LONGEST], work[LONGEST], d[LONGEST + GUARD];
    const ts_simplex_row row = row_of(of, n, work);
    const double z = of->map->forward(&row, s, w);
    set_guard(d + n);
    for (int64_t i = 0; i < n; i++) d[i] = of->map->backward == NULL ? 0 : NAN;
    if (of->map->backward != NULL) of->map->backward(&row, s, w, z, dp, d);
    check_guard(d + n);
    memcpy(ds, d, (size_t)n * sizeof *ds);
}

int sign_of(const ts_simplex *map) {
    return map->domain == TS_SCORES_NONNEGATIVE ? 1 : map->domain == TS_SCORES_NONPOSITIVE ? -1 : 0;
}

void random_row(const ts_simplex *map, uint32_t step, double scale, int64_t n, double *s) {
    const ts_rng rng = {test_seed(), ts_rng_stream("scores"), step};
    for (int64_t i = 0; i < n; i++) {
        const double u = ts_rng_uniform(rng, (uint64_t)i);
        s[i] = sign_of(map) == 0 ? scale * (2 * u - 1) : scale * u * sign_of(map);
    }
}

void check_weights(const probe *of, int64_t n, const double *s, const double *right, double tolerance) {
    double p[LONGEST];
    weights(of, n, s, p);
    for (int64_t i = 0; i < n; i++)
        ck_assert_msg(fabs(p[i] - right[i]) <= tolerance, "%s(%g), weight %lld: %.17g, right is %.17g", of->map->name,
                      of->parameter, (long long)i, p[i], right[i]);
}
