/* The nearest key, by distance and by dot product, against a search written out in double, on numbers made to be close,
 * far, small, large and equal; and the bound that the filter before it promises. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../autograd/kernels/nearest_key_kernels.h"
#include "../autograd/nearest_key.h"
#include "../autograd/rng.h"
#include "instruction_sets.h"
#include "rounding.h"

typedef enum data_kind {
    UNIFORM,
    GRID,
    NEAR_TIES,
    FAR,
    TINY,
    HUGE_ONES,
    OVERFLOWING,
    OUTLIER,
    EQUAL_KEYS,
    KINDS
} data_kind;

typedef struct problem {
    data_kind kind;
    int64_t n, d, k;
    ts_real *x;
    double *exact, *keys; /* x are roundings of `exact`, or their equals */
    bool rounded;
} problem;

static ts_key_rows rows_of(const problem *p) {
    return (ts_key_rows){p->x, p->rounded ? p->exact : NULL};
}

static double number(data_kind kind, double u) {
    switch (kind) {
    case GRID: return floor(3 * u);
    case FAR: return 1e6 + u;
    case TINY: return 1e-20 * u;
    case HUGE_ONES: return 1e15 * (u - 0.5);
    case OVERFLOWING: return (sizeof(ts_real) == sizeof(float) ? 1e30 : 1e120) * (u - 0.5);
    case OUTLIER: return u < 0.01 ? 1e7 : u;
    case EQUAL_KEYS: return floor(2 * u);
    default: return u;
    }
}

/* Between two of the keys, up to three roundings off. */
static void make_near_ties(const problem *p, ts_rng rng) {
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t a = ts_rng_below(rng, (uint64_t)i, p->k), b = (a + 1) % p->k;
        for (int64_t c = 0; c < p->d; c++) {
            const double off = (double)ts_rng_below(rng, (uint64_t)(p->n + i * p->d + c), 7) - 3;
            const double middle = (p->keys[a * p->d + c] + p->keys[b * p->d + c]) / 2;
            p->exact[i * p->d + c] = middle * (1 + off * (p->rounded ? DBL_EPSILON : EPS));
        }
    }
}

/* Numbers of ts_real, or all digits of doubles. */
static problem problem_of(data_kind kind, bool rounded, int64_t n, int64_t d, int64_t k) {
    const ts_rng rng = {test_seed(), ts_rng_stream("nearest"), (uint32_t)kind};
    problem p = {.kind = kind, .rounded = rounded, .n = n, .d = d, .k = k, .x = malloc((size_t)(n * d) * sizeof *p.x)};
    p.exact = malloc((size_t)(n * d) * sizeof *p.exact);
    p.keys = malloc((size_t)(k * d) * sizeof *p.keys);
    ck_assert(p.x != NULL && p.exact != NULL && p.keys != NULL);
    for (int64_t i = 0; i < k * d; i++) p.keys[i] = number(kind, ts_rng_uniform(rng, (uint64_t)i));
    for (int64_t i = 0; i < n * d; i++) p.exact[i] = number(kind, ts_rng_uniform(rng, (uint64_t)(k * d + i)));
    for (int64_t i = 0; i < k * d && !rounded; i++) p.keys[i] = (double)(ts_real)p.keys[i];
    if (kind == NEAR_TIES) make_near_ties(&p, rng);
    for (int64_t i = 0; i < n * d; i++) p.x[i] = (ts_real)p.exact[i];
    for (int64_t i = 0; i < n * d && !rounded; i++) p.exact[i] = (double)p.x[i];
    return p;
}

static void clear(problem *p) {
    free(p->x);
    free(p->exact);
    free(p->keys);
}

static double distance(const problem *p, bool dot, double gamma, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t c = 0; c < p->d && dot; c++) sum += p->exact[i * p->d + c] * p->keys[j * p->d + c];
    if (dot) return -(gamma * sum);
    for (int64_t c = 0; c < p->d; c++) {
        const double difference = p->exact[i * p->d + c] - p->keys[j * p->d + c];
        sum += difference * difference;
    }
    return gamma * sum;
}

/* The keys at the least distance, in order; how many. */
static int64_t search(const problem *p, bool dot, double gamma, int64_t i, int32_t *found) {
    double least = INFINITY;
    int64_t count = 0;
    for (int64_t j = 0; j < p->k; j++) least = fmin(least, distance(p, dot, gamma, i, j));
    for (int64_t j = 0; j < p->k; j++)
        if (distance(p, dot, gamma, i, j) <= least) found[count++] = (int32_t)j;
    return count;
}

static void check_rows(const problem *p, const ts_nearest_keys *keys, const int32_t *nearest) {
    int32_t *found = malloc(2 * (size_t)p->k * sizeof *found), *ties = found + p->k;
    ck_assert_ptr_nonnull(found);
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t count = search(p, keys->dot, keys->gamma, i, found);
        ck_assert_msg(nearest[i] == (count == 1 ? found[0] : -1 - found[0]),
                      "%s, kind %d, rounded %d, dot %d, n %d d %d k %d, row %d: %d, not %d of %d",
                      ts_isa_name(ts_isa_in_use()), p->kind, p->rounded, keys->dot, (int)p->n, (int)p->d, (int)p->k,
                      (int)i, nearest[i], found[0], (int)count);
        ck_assert_int_eq(ts_nearest_keys_ties(keys, ts_key_row(rows_of(p), i, p->d), ties), count);
        ck_assert_mem_eq(ties, found, (size_t)count * sizeof *ties);
    }
    free(found);
}

static void check_problem(const problem *p, double gamma) {
    ts_real *memory = malloc((size_t)ts_nearest_keys_size(p->d, p->k) * sizeof *memory);
    ts_real *work = malloc((size_t)ts_nearest_keys_work(p->d, p->k) * sizeof *work);
    int32_t *nearest = malloc((size_t)p->n * sizeof *nearest);
    ck_assert(memory != NULL && work != NULL && nearest != NULL);
    for (int i = 0; i < 2 * ISA_COUNT; i++) {
        if (!ts_isa_use(ISAS[i / 2])) continue;
        const ts_nearest_keys keys =
            ts_nearest_keys_prepare(p->d, p->k, i % 2 == 1, gamma, p->rounded, p->keys, memory);
        ts_nearest_keys_find(&keys, p->n, rows_of(p), work, nearest);
        check_rows(p, &keys, nearest);
    }
    free(memory);
    free(work);
    free(nearest);
}

static const int64_t ns[] = {1, 2, 7, 48, 49, 131}, ds[] = {1, 2, 3, 4, 5, 32, 33, 64},
                     ks[] = {1, 2, 7, 10, 64, 65, 100};
#define COUNT(a) (sizeof(a) / sizeof *(a))

START_TEST(all_sizes_of_all_kinds) {
    const bool rounded = _i == 1;
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t d = 0; d < COUNT(ds); d++)
            for (size_t k = 0; k < COUNT(ks); k++)
                for (size_t n = d * k % 3; n < COUNT(ns); n += 3) {
                    problem p = problem_of((data_kind)kind, rounded, ns[n], ds[d], ks[k]);
                    check_problem(&p, 1);
                    clear(&p);
                }
}
END_TEST

/* Products with gamma are rounded, and may make ties of what was none. */
START_TEST(any_gamma) {
    const double gammas[] = {1e-12, 0.1, 3, 1e12};
    for (size_t g = 0; g < COUNT(gammas); g++)
        for (int kind = 0; kind < KINDS; kind++) {
            problem p = problem_of((data_kind)kind, _i == 1, 200, 2, 9);
            check_problem(&p, gammas[g]);
            clear(&p);
        }
}
END_TEST

START_TEST(many_coordinates) {
    problem p = problem_of(UNIFORM, _i == 1, 50, 100003, 3);
    check_problem(&p, 1);
    clear(&p);
}
END_TEST

/* ---- the filter -------------------------------------------------------------------------------------------------- */

static ts_nearest_work work_of(const problem *p, ts_real *work) {
    ts_nearest_work w = {.lanes = work};
    w.scores = w.lanes + p->d * TS_NEAREST_ROWS;
    w.limits = w.scores + p->k * TS_NEAREST_ROWS;
    w.padded = w.limits + TS_NEAREST_ROWS;
    return w;
}

/* Scores may be off by half of what a limit lies above the least score. Measured in double, which is exact only where
 * ts_real is not. */
static double worst_score(const problem *p, const ts_nearest_keys *keys, const ts_nearest_work *w, int64_t r) {
    double offset = 0, least = INFINITY, worst = 0;
    for (int64_t c = 0; c < p->d; c++) {
        const double x = p->exact[r * p->d + c], a = x - (double)keys->middle[c];
        double mean = 0;
        for (int64_t j = 0; j < p->k && keys->dot; j++)
            mean += (p->keys[j * p->d + c] + (double)keys->factors[j * p->d + c]) / (double)p->k;
        offset += keys->dot ? -x * mean : a * a; /* key + factor is the mean key, to a rounding */
    }
    for (int64_t j = 0; j < p->k; j++) {
        const double score = (double)w->scores[j * TS_NEAREST_ROWS + r];
        least = fmin(least, score);
        worst = fmax(worst, fabs(score - (distance(p, keys->dot, 1, r, j) - offset)));
    }
    return worst / (((double)w->limits[r] - least) / 2);
}

static double worst_in(const problem *p, bool dot) {
    double worst = 0;
    int32_t nearest[TS_NEAREST_ROWS];
    ts_real *memory = malloc((size_t)ts_nearest_keys_size(p->d, p->k) * sizeof *memory);
    ts_real *work = malloc((size_t)ts_nearest_keys_work(p->d, p->k) * sizeof *work);
    ck_assert(memory != NULL && work != NULL);
    const ts_nearest_keys keys = ts_nearest_keys_prepare(p->d, p->k, dot, 1, p->rounded, p->keys, memory);
    const ts_nearest_work w = work_of(p, work);
    ts_nearest_kernels_base(&keys, p->n, 0, p->x, &w, nearest);
    for (int64_t r = 0; r < p->n; r++) worst = fmax(worst, worst_score(p, &keys, &w, r));
    free(memory);
    free(work);
    return worst;
}

START_TEST(scores_keep_their_bound) {
    for (int kind = 0; kind < KINDS; kind++) {
        double worst = 0;
        if (kind == OVERFLOWING || sizeof(ts_real) == sizeof(double)) continue;
        for (size_t d = 0; d < COUNT(ds); d++)
            for (size_t k = 0; k < 2 * COUNT(ks); k++) {
                problem p = problem_of((data_kind)kind, _i == 1, TS_NEAREST_ROWS, ds[d], ks[k / 2]);
                worst = fmax(worst, worst_in(&p, k % 2 == 1));
                clear(&p);
            }
        ck_assert_msg(worst <= 1, "kind %d: %g of the bound", kind, worst);
    }
}
END_TEST

/* What nothing brings into doubt is settled by the filter. */
START_TEST(clear_cases_are_settled) {
    enum { N = TS_NEAREST_ROWS, D = 8, K = 4 };
    ts_real memory[D + K * D + K], work[(2 * D + K + 1) * N], x[N * D];
    double keys[K * D];
    ck_assert_int_le(ts_nearest_keys_size(D, K), (int64_t)COUNT(memory));
    ck_assert_int_le(ts_nearest_keys_work(D, K), (int64_t)COUNT(work));
    const double offsets[] = {0, 1e4, -1e6};
    for (size_t o = 0; o < COUNT(offsets); o++) {
        const problem p = {.kind = UNIFORM, .n = N, .d = D, .k = K, .x = x, .keys = keys};
        int32_t nearest[N];
        for (int i = 0; i < K * D; i++) keys[i] = offsets[o] + (i / D == i % D);
        for (int i = 0; i < N * D; i++) x[i] = (ts_real)(offsets[o] + (i / D % K == i % D ? 0.75 : 0));
        const ts_nearest_keys s = ts_nearest_keys_prepare(D, K, false, 1, _i == 1, keys, memory);
        const ts_nearest_work w = work_of(&p, work);
        ts_nearest_kernels_base(&s, N, 0, x, &w, nearest);
        for (int i = 0; i < N; i++) ck_assert_int_eq(nearest[i], i % K);
    }
}
END_TEST

int main(void) {
    say_missing_instruction_sets();
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, NULL, usual_instruction_set);
    tcase_add_loop_test(tests, all_sizes_of_all_kinds, 0, 2);
    tcase_add_loop_test(tests, any_gamma, 0, 2);
    tcase_add_loop_test(tests, many_coordinates, 0, 2);
    tcase_add_loop_test(tests, scores_keep_their_bound, 0, 2);
    tcase_add_loop_test(tests, clear_cases_are_settled, 0, 2);
    return run_case("nearest key", tests);
}
