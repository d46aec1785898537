/* Excluded means excluded: whatever a key holds that a mask excludes, or the value of a weight that is dropped, changes
 * nothing, and its own gradient is exactly 0; by every map, score and instruction set, in the plain form and the fast.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../autograd/parallel.h"
#include "instruction_sets.h"
#include "rounding.h"

#ifdef _OPENMP
#include <omp.h>
#endif

static const double JUNK[] = {FLT_MAX, -FLT_MAX, INFINITY, -INFINITY, NAN};
enum { JUNK_COUNT = 5 };

/* The largest finite number of either precision. */
static ts_real junk(int which) {
    const ts_real largest = (ts_real)(sizeof(ts_real) == sizeof(double) ? DBL_MAX : FLT_MAX);
    return isfinite(JUNK[which]) ? (JUNK[which] > 0 ? largest : -largest) : (ts_real)JUNK[which];
}

static ts_attention_spec spec_of(const ts_simplex *map, ts_score score, double dropout, bool fast) {
    return (ts_attention_spec){
        .score = score,
        .gamma = 0.7,
        .dropout = dropout,
        .dropout_rng = {5, 6, 7},
        .fast = fast,
        .simplex = {.map = map, .parameter = map == &ts_top_m_map ? 0.3 : 1.7, .rng = {3, 4, 5}}};
}

/* ---- the example ------------------------------------------------------------------------------------------------- */

START_TEST(a_value_that_overflows) {
    for (int c = 0; c < ISA_COUNT * 2 * JUNK_COUNT; c++) {
        if (!ts_isa_use(ISAS[c / (2 * JUNK_COUNT)])) continue;
        ts_tape_reset(tape);
        const ts_attention_spec spec = {
            .score = TS_SCORE_DOT, .simplex = {.map = &ts_softmax_map}, .gamma = 1, .fast = c / JUNK_COUNT % 2};
        ts_tensor *q = ts_variable(tape, TS_SHAPE(1, 1), (ts_real[]){1});
        ts_tensor *k = ts_variable(tape, TS_SHAPE(3, 1), (ts_real[]){1, 2, 0});
        ts_tensor *v = ts_variable(tape, TS_SHAPE(3, 1), (ts_real[]){3, 5, junk(c % JUNK_COUNT)});
        ts_tensor *mask = ts_constant(tape, TS_SHAPE(1, 3), (ts_real[]){1, 1, 0});
        ts_tensor *y = ts_attention(tape, q, k, v, mask, &spec);
        ck_assert_int_eq(ts_backward_from(tape, y, (ts_real[]){2}), TS_OK);
        ck_assert_double_eq_tol((double)y->data[0], 4.4621171573, fmax(1e-10, 8 * EPS));
        ck_assert_double_eq_tol((double)q->grad[0], 0.7864477330, fmax(1e-10, 32 * EPS));
        ck_assert_double_eq_tol((double)k->grad[0], -0.7864477330, fmax(1e-10, 32 * EPS));
        ck_assert_double_eq_tol((double)v->grad[1], 1.4621171573, fmax(1e-10, 8 * EPS));
        ck_assert(k->grad[2] == 0 && v->grad[2] == 0);
    }
}
END_TEST

/* The same without a mask: a weight that underflows to 0 beside a value so large that dy v overflows. */
START_TEST(a_weight_of_zero_and_a_large_value) {
    for (int c = 0; c < ISA_COUNT * 2; c++) {
        if (!ts_isa_use(ISAS[c / 2])) continue;
        ts_tape_reset(tape);
        const ts_attention_spec spec = {
            .score = TS_SCORE_DOT, .simplex = {.map = &ts_softmax_map}, .gamma = 1, .fast = c % 2};
        ts_tensor *q = ts_variable(tape, TS_SHAPE(1, 1), (ts_real[]){1});
        ts_tensor *k = ts_variable(tape, TS_SHAPE(3, 1), (ts_real[]){1, 2, -2000});
        ts_tensor *v = ts_variable(tape, TS_SHAPE(3, 1), (ts_real[]){3, 5, junk(1)});
        ts_tensor *y = ts_attention(tape, q, k, v, NULL, &spec);
        ck_assert_int_eq(ts_backward_from(tape, y, (ts_real[]){2}), TS_OK);
        ck_assert_double_eq_tol((double)q->grad[0], 0.7864477330, fmax(1e-10, 32 * EPS));
        ck_assert(k->grad[2] == 0 && v->grad[2] == 0);
    }
}
END_TEST

/* ---- every map, score, form and instruction set ------------------------------------------------------------------ */

enum { BATCHES = 2, N = 53, M = 70, E = 5, F = 3, SEEN_FROM = 30 };

/* Which keys hold junk, and who sees them. */
typedef enum exclusion {
    BY_ALL,        /* nobody */
    BY_SOME,       /* rows from SEEN_FROM on, which nobody asks for */
    BY_SOME_OF_ALL /* so too, and every other key is excluded by some row */
} exclusion;

static bool holds_junk(int64_t j) {
    return j % 9 == 4;
}

static bool sees(exclusion kind, int64_t i, int64_t j) {
    if (i == 11) return false; /* a row that sees nothing */
    if (holds_junk(j)) return kind != BY_ALL && i >= SEEN_FROM;
    if (kind == BY_SOME_OF_ALL && (i + j) % 5 == 0) return false;
    return j % 3 == 0 || (i * 7 + j * 5) % 11 < 6;
}

static ts_tensor *positive(int64_t n, int64_t d, const char *name) {
    ts_tensor *t = ts_variable(tape, TS_SHAPE(BATCHES, n, d), NULL);
    const ts_rng rng = {test_seed(), ts_rng_stream(name), 0};
    for (int64_t i = 0; i < BATCHES * n * d; i++) t->data[i] = (ts_real)(float)(0.1 + ts_rng_uniform(rng, (uint64_t)i));
    return t;
}

typedef struct run {
    ts_tensor *q, *k, *v, *y;
} run;

/* With junk in keys and values, or ordinary numbers where it is NULL; f = 0: the weights alone. */
static run attend(const ts_attention_spec *spec, exclusion kind, const ts_real *value, bool weights) {
    ts_tape_reset(tape);
    run r = {positive(N, E, "q"), positive(M, E, "k"), positive(M, F, "v"), NULL};
    ts_tensor *mask = ts_constant(tape, TS_SHAPE(BATCHES, N, M), NULL), *dy = positive(N, weights ? M : F, "dy");
    for (int64_t i = 0; i < BATCHES * N * M; i++) mask->data[i] = sees(kind, i / M % N, i % M);
    for (int64_t j = 0; j < BATCHES * M && value != NULL; j++) {
        for (int64_t c = 0; c < E && holds_junk(j % M); c++) r.k->data[j * E + c] = *value;
        for (int64_t c = 0; c < F && holds_junk(j % M); c++) r.v->data[j * F + c] = *value;
    }
    const int64_t width = weights ? M : F;
    for (int64_t i = 0; i < BATCHES * N * width; i++)
        if (kind != BY_ALL && i / width % N >= SEEN_FROM) dy->data[i] = 0;
    r.y = weights ? ts_attention_weights(tape, r.q, r.k, mask, spec) : ts_attention(tape, r.q, r.k, r.v, mask, spec);
    ck_assert_int_eq(ts_backward_from(tape, r.y, dy->data), TS_OK);
    return r;
}

enum { MOST = BATCHES * N * M };
typedef struct results {
    ts_real y[MOST], dq[MOST], dk[MOST], dv[MOST];
} results;
static results right, got;

static void keep(const run *r, results *into) {
    memset(into, 0, sizeof *into);
    memcpy(into->y, r->y->data, (size_t)ts_shape_size(&r->y->shape) * sizeof(ts_real));
    memcpy(into->dq, r->q->grad, BATCHES * N * E * sizeof(ts_real));
    memcpy(into->dk, r->k->grad, BATCHES * M * E * sizeof(ts_real));
    if (r->v->grad != NULL) memcpy(into->dv, r->v->grad, BATCHES * M * F * sizeof(ts_real));
}

/* Equal, bit for bit but for the sign of 0, or within a tolerance, on lines of n numbers but those of batch after batch
 * `count` lines that `passed_over` names. */
static void same(const char *what, const ts_real *a, const ts_real *b, int64_t lines, int64_t n, double tolerance,
                 int64_t from) {
    for (int64_t i = 0; i < BATCHES * lines * n; i++) {
        if (i / n % lines >= from) continue;
        const double x = (double)a[i], y = (double)b[i];
        ck_assert_msg(x == y || fabs(x - y) <= tolerance * fmax(1, fabs(y)), "%s, line %d, number %d: %g, not %g", what,
                      (int)(i / n), (int)(i % n), x, y);
    }
}

static void compare(const char *text, exclusion kind, int64_t width, double tolerance) {
    char what[300];
    const int64_t rows = kind == BY_ALL ? N : SEEN_FROM;
    snprintf(what, sizeof what, "y of %s", text);
    same(what, got.y, right.y, N, width, tolerance, rows);
    snprintf(what, sizeof what, "dq of %s", text);
    same(what, got.dq, right.dq, N, E, tolerance, N);
    snprintf(what, sizeof what, "dk of %s", text);
    same(what, got.dk, right.dk, M, E, tolerance, M);
    snprintf(what, sizeof what, "dv of %s", text);
    same(what, got.dv, right.dv, M, F, tolerance, M);
    for (int64_t j = 0; j < BATCHES * M; j++) {
        if (!holds_junk(j % M)) continue;
        for (int64_t c = 0; c < E; c++) ck_assert_msg(got.dk[j * E + c] == 0, "dk of %s is not 0", text);
        for (int64_t c = 0; c < F; c++) ck_assert_msg(got.dv[j * F + c] == 0, "dv of %s is not 0", text);
    }
}

/* Keys that no row sees, or rows whose dy is not 0: the same bits as with ordinary numbers in their place. Where every
 * key is excluded by some row the point that fast euclidean distances are taken about may be another one. */
static void check(const ts_attention_spec *spec, exclusion kind, bool weights, const char *isa) {
    run r = attend(spec, kind, NULL, weights);
    keep(&r, &right);
    const bool moves = kind == BY_SOME_OF_ALL && spec->fast && spec->score == TS_SCORE_EUCLIDEAN;
    const bool jumps = spec->simplex.map == &ts_hardmax_map || spec->simplex.map == &ts_sparsemax_map;
    if (moves && jumps) return;
    for (int which = 0; which < JUNK_COUNT; which++) {
        const ts_real value = junk(which);
        char text[200];
        r = attend(spec, kind, &value, weights);
        keep(&r, &got);
        snprintf(text, sizeof text, "%s, %s, score %d, dropout %g, %s%s, exclusion %d, junk %g", isa,
                 spec->simplex.map->name, spec->score, spec->dropout, spec->fast ? "fast" : "plain",
                 weights ? ", weights" : "", kind, (double)value);
        compare(text, kind, weights ? M : F, !moves ? 0 : sizeof(ts_real) == sizeof(double) ? 1e-12 : 2e-4);
    }
}

/* Every map has a plain form, the same on every instruction set; these have a fast one. */
static const ts_simplex *const FAST[] = {&ts_softmax_map, &ts_sparsemax_map, &ts_hardmax_map, &ts_linear_map};
enum { FAST_COUNT = 4 };

static void check_map(const ts_simplex *map, bool fast, const char *isa) {
    for (int c = 0; c < 2 * 2 * 3; c++) {
        const exclusion kind = (exclusion)(c % 3);
        const ts_attention_spec spec = spec_of(map, (ts_score)(c / 3 % 2), c / 6 * 0.2, fast);
        check(&spec, kind, false, isa);
        if (!fast && spec.dropout == 0) check(&spec, kind, true, isa);
    }
}

START_TEST(plain_form) {
    check_map(ts_simplex_maps[_i], false, "any");
}
END_TEST

START_TEST(fast_form) {
    for (int isa = 0; isa < ISA_COUNT; isa++)
        if (ts_isa_use(ISAS[isa])) check_map(FAST[_i], true, ISAS[isa]);
}
END_TEST

#ifdef _OPENMP
/* With fewer batches than threads rows are shared out, then keys. */
START_TEST(fast_form_on_many_threads) {
    const int usual = omp_get_max_threads();
    omp_set_num_threads(7);
    check_map(FAST[_i], true, "7 threads");
    omp_set_num_threads(usual);
}
END_TEST
#endif

/* ---- dropped weights --------------------------------------------------------------------------------------------- */

/* One value of all, where rows that its weight reaches are not asked for; which rows those are, two finite values tell.
 */
static run drop(const ts_attention_spec *spec, ts_real value, const bool *reached) {
    ts_tape_reset(tape);
    run r = {positive(N, E, "q"), positive(M, E, "k"), positive(M, F, "v"), NULL};
    ts_tensor *dy = positive(N, F, "dy");
    for (int64_t c = 0; c < F; c++) r.v->data[4 * F + c] = value;
    for (int64_t i = 0; i < N * F && reached != NULL; i++)
        if (reached[i / F]) dy->data[i] = 0;
    r.y = ts_attention(tape, r.q, r.k, r.v, NULL, spec);
    ck_assert_int_eq(ts_backward_from(tape, r.y, dy->data), TS_OK);
    return r;
}

static void check_dropped(const ts_attention_spec *spec, const char *isa) {
    bool reached[N] = {false};
    char text[200];
    int count = 0;
    run r = drop(spec, 100, NULL);
    keep(&r, &got);
    r = drop(spec, 1, NULL);
    keep(&r, &right);
    for (int64_t i = 0; i < N * F; i++) reached[i / F] = reached[i / F] || got.y[i] != right.y[i];
    for (int i = 0; i < N; i++) count += reached[i];
    ck_assert_msg(count < N, "%s: no row drops it", spec->simplex.map->name);
    r = drop(spec, 1, reached);
    keep(&r, &right);
    for (int which = 0; which < JUNK_COUNT; which++) {
        r = drop(spec, junk(which), reached);
        keep(&r, &got);
        snprintf(text, sizeof text, "%s, %s, score %d, %s, dropped %g", isa, spec->simplex.map->name, spec->score,
                 spec->fast ? "fast" : "plain", (double)junk(which));
        for (int64_t i = 0; i < N * F; i++) ck_assert_msg(reached[i / F] || got.y[i] == right.y[i], "y of %s", text);
        if (spec->simplex.map == &ts_gumbel_hardmax_map) continue; /* its gradient sees keys that have no weight */
        same(text, got.dq, right.dq, N, E, 0, N);
        same(text, got.dk, right.dk, M, E, 0, M);
        same(text, got.dv, right.dv, M, F, 0, M);
    }
}

START_TEST(dropped_weights) {
    for (int score = 0; score < 2; score++) {
        const ts_attention_spec spec = spec_of(ts_simplex_maps[_i], (ts_score)score, 0.5, false);
        check_dropped(&spec, "any");
    }
}
END_TEST

START_TEST(dropped_weights_in_the_fast_form) {
    for (int c = 0; c < ISA_COUNT * 2; c++) {
        if (!ts_isa_use(ISAS[c / 2])) continue;
        const ts_attention_spec spec = spec_of(FAST[_i], (ts_score)(c % 2), 0.5, true);
        check_dropped(&spec, ISAS[c / 2]);
    }
}
END_TEST

/* ---- precision --------------------------------------------------------------------------------------------------- */

/* An outlier that one row sees costs the others no digits, even where no key is seen by all. */
START_TEST(an_outlier_of_another_row) {
    static const double outliers[] = {1e3, 1e6, 1e10, 1e30, -1e30};
    for (int c = 0; c < ISA_COUNT * 5; c++) {
        if (!ts_isa_use(ISAS[c / 5])) continue;
        ts_tape_reset(tape);
        ts_attention_spec spec = spec_of(&ts_softmax_map, TS_SCORE_EUCLIDEAN, 0, true);
        ts_tensor *q = positive(N, E, "q"), *k = positive(M, E, "k"), *v = positive(M, F, "v");
        ts_tensor *mask = ts_constant(tape, TS_SHAPE(BATCHES, N, M), NULL);
        for (int64_t i = 0; i < BATCHES * N * M; i++) /* odd rows see the outliers, most keys, and even ones the rest */
            mask->data[i] = (i % M < 50) == (i / M % N % 2 == 1);
        for (int64_t i = 0; i < BATCHES * M * E; i++)
            if (i / E % M < 50) k->data[i] = (ts_real)outliers[c % 5];
        const ts_tensor *fast = ts_attention(tape, q, k, v, mask, &spec);
        spec.fast = false;
        const ts_tensor *plain = ts_attention(tape, q, k, v, mask, &spec);
        for (int64_t i = 0; i < BATCHES * N * F; i++)
            if (i / F % N % 2 == 0) ck_assert_double_eq_tol((double)fast->data[i], (double)plain->data[i], 32 * EPS);
    }
}
END_TEST

int main(void) {
    ts_parallel_cutoff = 1000; /* small work meets threads */
    TCase *tests = isa_case();
    int maps = 0;
    while (ts_simplex_maps[maps] != NULL) maps++;
    tcase_add_test(tests, a_value_that_overflows);
    tcase_add_test(tests, a_weight_of_zero_and_a_large_value);
    tcase_add_loop_test(tests, plain_form, 0, maps);
    tcase_add_loop_test(tests, fast_form, 0, FAST_COUNT);
#ifdef _OPENMP
    tcase_add_loop_test(tests, fast_form_on_many_threads, 0, FAST_COUNT);
#endif
    tcase_add_loop_test(tests, dropped_weights, 0, maps);
    tcase_add_loop_test(tests, dropped_weights_in_the_fast_form, 0, FAST_COUNT);
    tcase_add_test(tests, an_outlier_of_another_row);
    return run_case("excluded", tests);
}
