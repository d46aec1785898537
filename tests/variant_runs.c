#include "variant_runs.h"

#include <stdio.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/rng.h"

ts_error error;

static void setup(void) {
    error = (ts_error){.status = TS_OK};
}

const ts_variant *variant(const char *name) {
    const ts_variant *v = ts_variant_by_name(name);
    ck_assert_msg(v != NULL, "%s", name);
    return v;
}

ts_settings settings_of(const char *name, const char *construction, double gamma) {
    ts_settings s = ts_variant_settings(variant(name));
    s.construction = construction;
    if (gamma > 0) s.gamma = gamma;
    return s;
}

ts_definition define(const char *name, const ts_settings *s) {
    ts_definition definition;
    ck_assert_msg(ts_variant_define(variant(name), s, &definition, &error) == TS_OK, "%s: %s", name, error.text);
    return definition;
}

ts_definition lloyd(double gamma, bool share_ties) {
    ts_settings s = settings_of("lloyd", "onehot", gamma);
    s.share_ties = share_ties;
    return define("lloyd", &s);
}

ts_runner *runner_of(const char *name, const ts_settings *s, const ts_problem *p) {
    const ts_definition definition = define(name, s);
    ts_runner *runner = ts_runner_create(&definition, p, &error);
    ck_assert_msg(runner != NULL, "%s %s: %s", name, s->construction, error.text);
    return runner;
}

ts_plain *plain_of(const char *name, const ts_settings *s, const ts_problem *p) {
    ts_plain *plain = ts_plain_create(ts_variant_plain(variant(name), s), s, p, &error);
    ck_assert_msg(plain != NULL, "%s: %s", name, error.text);
    return plain;
}

const ts_clustering *step(ts_runner *runner) {
    ck_assert_msg(ts_runner_step(runner, &error) == TS_OK, "%s", error.text);
    return ts_runner_state(runner);
}

const ts_clustering *finish(ts_runner *runner) {
    ck_assert_msg(ts_runner_finish(runner, &error) == TS_OK, "%s", error.text);
    return ts_runner_state(runner);
}

bool near(double a, double b, double tolerance) {
    return fabs(a - b) <= tolerance * fmax(1, fabs(b));
}

double length_of(int64_t d, const ts_real *c) {
    double sum = 0;
    for (int64_t a = 0; a < d; a++) sum += (double)c[a] * (double)c[a];
    return sqrt(sum);
}

int all_settings(const ts_problem *p, setting *list) {
    int count = 0;
    for (const ts_variant *v = ts_variants; v->name != NULL; v++)
        for (int i = 0; ts_construction_names[i] != NULL; i++) {
            ts_settings s = ts_variant_settings(v);
            s.construction = ts_construction_names[i];
            if (strstr(v->constructions, s.construction) == NULL) continue;
            if (ts_variant_chooses_gamma(v, &s)) s.gamma = ts_variant_gamma(v, p);
            list[count++] = (setting){v, s};
            if (v->gamma == TS_GAMMA_ASSIGN) {
                s.gamma = v->unit_length ? 20 : ts_variant_gamma(variant("soft"), p); /* of cosines, of distances */
                list[count++] = (setting){v, s};
            }
            if (v->trims) {
                s.trim = 0.2;
                list[count++] = (setting){v, s};
            }
        }
    ck_assert_int_le(count, MOST_SETTINGS);
    return count;
}

void expect_sane(const setting *s, const ts_problem *p, const ts_clustering *state) {
    for (int64_t i = 0; i < p->k * p->d; i++)
        ck_assert_msg(isfinite((double)state->centers[i]), "%s %s: a centre is %g", s->variant->name,
                      s->settings.construction, (double)state->centers[i]);
    for (int64_t i = 0; i < p->n; i++)
        ck_assert_msg(state->labels[i] >= (s->variant->trims ? -1 : 0) && state->labels[i] < p->k, "%s %s: label %lld",
                      s->variant->name, s->settings.construction, (long long)state->labels[i]);
}

void fill_blobs(int64_t n, int64_t d, int64_t k, double spread, uint64_t seed, ts_real *x) {
    const ts_rng rng = {seed, ts_rng_stream("blobs"), 0};
    for (int64_t i = 0; i < n * d; i++) {
        const int64_t cluster = i / d % k;
        const double place = i % d == cluster % d ? 5 + 10 * (double)cluster : 5;
        x[i] = (ts_real)(place + spread * (ts_rng_uniform(rng, (uint64_t)i) - 0.5));
    }
}

void fill_duplicates(int64_t n, int64_t d, uint64_t seed, ts_real *x) {
    const ts_rng rng = {seed, ts_rng_stream("duplicates"), 0};
    for (int64_t i = 0; i < n * d; i++) x[i] = (ts_real)(1 + ts_rng_below(rng, (uint64_t)i, 2));
}

int run_variant_tests(const char *name, void (*add_tests)(TCase *tests)) {
    TCase *tests = tcase_create("all");
    one_thread();
    tcase_add_checked_fixture(tests, setup, NULL);
    add_tests(tests);
    return run_case(name, tests);
}
