/* The fast path of attention against attention written out in double, draw by draw and sum by sum. The gradients of the
 * same sources in double are checked against numeric ones by the generic op test (the cases named "fast"). */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/kernels/fast_attention.h"
#include "../autograd/kernels/isa.h"
#define SIMD_BYTES 16
#include "../autograd/kernels/simd.h"
#include "../autograd/ops.h"
#include "test_main.h"

static const double EPS = sizeof(ts_real) == sizeof(double) ? DBL_EPSILON : FLT_EPSILON;
static const char *const ISAS[] = {"base", "avx2", "avx512"};
enum { ISA_COUNT = 3 };

static ts_tape *tape;

static void setup(void) {
    tape = ts_tape_create(TS_RECORD);
}

static void teardown(void) {
    ts_tape_free(tape);
    ts_isa_use(NULL);
}

static ts_attention_spec fast_spec(ts_score score, double gamma, double dropout) {
    return (ts_attention_spec){.score = score,
                               .simplex = {.map = &ts_softmax_map},
                               .gamma = gamma,
                               .dropout = dropout,
                               .dropout_rng = {5, 6, 7},
                               .fast = true};
}

/* offset + uniform in [-1,1), rounded to float so that both precisions see the same numbers. */
static ts_tensor *random_tensor(int64_t b, int64_t n, int64_t d, double offset, const char *name) {
    ts_tensor *t = ts_variable(tape, TS_SHAPE(b, n, d), NULL);
    const ts_rng rng = {test_seed(), ts_rng_stream(name), 0};
    for (int64_t i = 0; i < b * n * d; i++)
        t->data[i] = (ts_real)(float)(offset + 2 * ts_rng_uniform(rng, (uint64_t)i) - 1);
    return t;
}

/* ---- attention written out --------------------------------------------------------------------------------------- */

typedef struct problem {
    int64_t b, n, m, e, f;
    ts_attention_spec spec;
    double offset;
} problem;

/* In double: results, and how large the errors of the fast path may be. */
typedef struct reference {
    double *y, *dq, *dk, *dv;
    double y_bound, dq_bound, dk_bound, dv_bound;
} reference;

static double squared_distance(const ts_real *x, const double *y, int64_t n) {
    double sum = 0;
    for (int64_t c = 0; c < n; c++) sum += ((double)x[c] - y[c]) * ((double)x[c] - y[c]);
    return sum;
}

/* The largest distance of a query or key from the mean key (of its batch), or from the origin. */
static double radius(const problem *p, const ts_real *q, const ts_real *k) {
    double largest = 0, *centre = calloc((size_t)p->e, sizeof *centre);
    for (int64_t b = 0; b < p->b; b++) {
        memset(centre, 0, (size_t)p->e * sizeof *centre);
        for (int64_t j = 0; j < p->m * p->e && p->spec.score == TS_SCORE_EUCLIDEAN; j++)
            centre[j % p->e] += (double)k[b * p->m * p->e + j] / (double)p->m;
        for (int64_t i = 0; i < p->n; i++)
            largest = fmax(largest, squared_distance(q + (b * p->n + i) * p->e, centre, p->e));
        for (int64_t j = 0; j < p->m; j++)
            largest = fmax(largest, squared_distance(k + (b * p->m + j) * p->e, centre, p->e));
    }
    free(centre);
    return sqrt(largest);
}

/* A row's weights p, after dropout `kept`; returns nothing but those. */
static void row_weights(const problem *p, int64_t row, const ts_real *q, const ts_real *k, double *weights,
                        double *kept) {
    const ts_drop_key key = ts_drop_key_of(p->spec.dropout_rng, p->spec.dropout);
    double max = -INFINITY, sum = 0;
    for (int64_t j = 0; j < p->m; j++) {
        double s = 0;
        for (int64_t c = 0; c < p->e; c++) {
            const double x = (double)q[c], y = (double)k[j * p->e + c];
            s += p->spec.score == TS_SCORE_DOT ? x * y : -(x - y) * (x - y);
        }
        weights[j] = p->spec.gamma * s;
        max = fmax(max, weights[j]);
    }
    for (int64_t j = 0; j < p->m; j++) sum += weights[j] = exp(weights[j] - max);
    for (int64_t j = 0; j < p->m; j++) {
        weights[j] /= sum;
        kept[j] = p->spec.dropout > 0 && ts_drop(key, row, j) ? 0 : 1 / (1 - p->spec.dropout);
    }
}

/* One row's output, and what it adds to the gradients. */
static void reference_row(const problem *p, int64_t row, const ts_tensor *const in[3], const ts_real *dy,
                          double *weights, double *kept, double *column, reference *r) {
    const int64_t batch = row / p->n;
    const ts_real *q = in[0]->data + row * p->e, *k = in[1]->data + batch * p->m * p->e;
    const ts_real *v = in[2]->data + batch * p->m * p->f;
    double mean = 0, *y = r->y + row * p->f;
    row_weights(p, row, q, k, weights, kept);
    for (int64_t j = 0; j < p->m; j++)
        for (int64_t c = 0; c < p->f; c++) {
            y[c] += weights[j] * kept[j] * (double)v[j * p->f + c];
            r->dv[(batch * p->m + j) * p->f + c] += weights[j] * kept[j] * (double)dy[c];
        }
    for (int64_t c = 0; c < p->f; c++) mean += y[c] * (double)dy[c];
    for (int64_t j = 0; j < p->m; j++) {
        double dp = 0;
        for (int64_t c = 0; c < p->f; c++) dp += (double)dy[c] * (double)v[j * p->f + c];
        const double ds = weights[j] * (kept[j] * dp - mean) * p->spec.gamma;
        for (int64_t c = 0; c < p->e; c++) {
            const double x = (double)q[c], z = (double)k[j * p->e + c];
            const bool dot = p->spec.score == TS_SCORE_DOT;
            r->dq[row * p->e + c] += ds * (dot ? z : 2 * (z - x));
            r->dk[(batch * p->m + j) * p->e + c] += ds * (dot ? x : 2 * (x - z));
        }
        column[batch * p->m + j] += weights[j];
    }
}

static double largest_of(const ts_real *x, int64_t n) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs((double)x[i]));
    return largest;
}

/* The bounds that fast_attention.h states: a score is off by `s`, a weight relatively by as much. Products and sums add
 * roundings of their own. */
static void set_bounds(const problem *p, const ts_tensor *const in[3], const ts_real *dy, const double *column,
                       reference *r) {
    const double radii = radius(p, in[0]->data, in[1]->data), share = 1 / (1 - p->spec.dropout);
    const double s = 4 * EPS * p->spec.gamma * radii * radii, w = 2 * s + 32 * EPS;
    const double v = largest_of(in[2]->data, p->b * p->m * p->f), up = largest_of(dy, p->b * p->n * p->f);
    const double factor = p->spec.gamma * (p->spec.score == TS_SCORE_DOT ? 1 : 2);
    double heaviest = 0; /* column of weights */
    for (int64_t j = 0; j < p->b * p->m; j++) heaviest = fmax(heaviest, column[j]);
    const double slope = w * share * up * v * sqrt((double)p->f) / 8; /* of a dS, over its weight: roundings vary */
    r->y_bound = w * share * v;
    r->dv_bound = w * share * up * fmax(heaviest, 1);
    r->dq_bound = slope * factor * radii;
    r->dk_bound = slope * factor * radii * fmax(heaviest, 1);
}

static reference reference_of(const problem *p, const ts_tensor *const in[3], const ts_real *dy) {
    reference r = {.y = calloc((size_t)(p->b * p->n * p->f), sizeof(double)),
                   .dq = calloc((size_t)(p->b * p->n * p->e), sizeof(double)),
                   .dk = calloc((size_t)(p->b * p->m * p->e), sizeof(double)),
                   .dv = calloc((size_t)(p->b * p->m * p->f), sizeof(double))};
    double *rows = calloc((size_t)(2 * p->m + p->b * p->m), sizeof(double));
    for (int64_t row = 0; row < p->b * p->n; row++)
        reference_row(p, row, in, dy + row * p->f, rows, rows + p->m, rows + 2 * p->m, &r);
    set_bounds(p, in, dy, rows + 2 * p->m, &r);
    free(rows);
    return r;
}

static void reference_free(reference *r) {
    free(r->y), free(r->dq), free(r->dk), free(r->dv);
}

static void compare(const problem *p, const char *what, const ts_real *fast, const double *right, int64_t n,
                    double bound) {
    double worst = 0;
    for (int64_t i = 0; i < n; i++) {
        const double error = fabs((double)fast[i] - right[i]);
        if (!(error <= worst)) worst = error; /* NaN too */
    }
    ck_assert_msg(worst <= bound,
                  "%s, %s: b %d n %d m %d e %d f %d, score %d gamma %g dropout %g offset %g: off by %g, not %g",
                  ts_isa_name(ts_isa_in_use()), what, (int)p->b, (int)p->n, (int)p->m, (int)p->e, (int)p->f, p->spec.score,
                  p->spec.gamma, p->spec.dropout, p->offset, worst, bound);
}

/* Forward and backward of one problem on every instruction set that is here. */
static void check_problem(const problem *p) {
    reference r = {.y = NULL};
    for (int isa = -1; isa < ISA_COUNT; isa++) {
        if (isa >= 0 && (strcmp(ISAS[isa], ts_isa_name(ts_isa_in_use())) == 0 || !ts_isa_use(ISAS[isa])))
            continue;
        ts_tape_reset(tape);
        ts_tensor *in[3] = {random_tensor(p->b, p->n, p->e, p->offset, "q"),
                            random_tensor(p->b, p->m, p->e, p->offset, "k"), random_tensor(p->b, p->m, p->f, 0, "v")};
        const ts_tensor *dy = random_tensor(p->b, p->n, p->f, 0, "dy");
        ts_tensor *y = ts_attention(tape, in[0], in[1], in[2], NULL, &p->spec);
        ck_assert_int_eq(ts_backward_from(tape, y, dy->data), TS_OK);
        if (r.y == NULL) r = reference_of(p, (const ts_tensor *const *)in, dy->data);
        compare(p, "y", y->data, r.y, p->b * p->n * p->f, r.y_bound);
        compare(p, "dq", in[0]->grad, r.dq, p->b * p->n * p->e, r.dq_bound);
        compare(p, "dk", in[1]->grad, r.dk, p->b * p->m * p->e, r.dk_bound);
        compare(p, "dv", in[2]->grad, r.dv, p->b * p->m * p->f, r.dv_bound);
    }
    reference_free(&r);
    ts_isa_use(NULL);
}

static const int NUMBERS[] = {1, 7, 16, 33, 42, 513, 1500}, WIDTHS[] = {1, 2, 7, 10, 16, 42, 48, 132};
enum { NUMBER_COUNT = 7, WIDTH_COUNT = 8 };

/* Every pair of numbers of queries and keys, with the rest in turn. */
START_TEST(numbers_of_queries_and_keys) {
    int turn = 0;
    for (int i = 0; i < NUMBER_COUNT; i++)
        for (int j = 0; j < NUMBER_COUNT; j++)
            for (int score = 0; score < 2; score++, turn++) {
                const bool large = NUMBERS[i] * NUMBERS[j] > 100000;
                problem p = {.b = large ? 1 : 1 + turn % 3, .n = NUMBERS[i], .m = NUMBERS[j]};
                p.e = large ? WIDTHS[turn % 4] : WIDTHS[turn % WIDTH_COUNT];
                p.f = large ? 3 : WIDTHS[turn * 3 % WIDTH_COUNT];
                p.spec = fast_spec((ts_score)score, turn % 5 == 0 ? 2 : 0.3, turn % 4 < 2 ? 0 : 0.1 * (turn % 4));
                check_problem(&p);
            }
}
END_TEST

START_TEST(widths) {
    for (int i = 0; i < WIDTH_COUNT; i++)
        for (int j = 0; j < WIDTH_COUNT; j++)
            for (int score = 0; score < 2; score++) {
                const problem p = {.b = 2,
                                   .n = 33 + j,
                                   .m = 16 + 9 * i,
                                   .e = WIDTHS[i],
                                   .f = WIDTHS[j],
                                   .spec = fast_spec((ts_score)score, 0.2, (i + j) % 3 == 0 ? 0.25 : 0)};
                check_problem(&p);
            }
}
END_TEST

/* Sharp and flat weights; and everything a thousand away from the origin, where the bound is the same. */
START_TEST(gammas_and_offsets) {
    static const double gammas[] = {1e-3, 0.1, 10, 1e3};
    for (int g = 0; g < 4; g++)
        for (int far = 0; far < 2; far++)
            for (int score = 0; score < 2; score++) {
                problem p = {.b = 2, .n = 42, .m = 133, .e = 10, .f = 7, .offset = far ? 1000 : 0};
                p.spec = fast_spec((ts_score)score, gammas[g], 0);
                if (far && score == TS_SCORE_DOT) continue;
                check_problem(&p);
            }
}
END_TEST

/* More keys than any tile, chunk or array of them. */
START_TEST(many_keys) {
    const problem p = {.b = 1, .n = 19, .m = 65536, .e = 3, .f = 2, .spec = fast_spec(TS_SCORE_EUCLIDEAN, 3, 0.01)};
    check_problem(&p);
}
END_TEST

START_TEST(memory_is_linear) {
    ts_fast_attention a = {.batches = 1, .n = 1 << 16, .m = 1 << 16, .e = 42, .f = 42, .euclidean = true, .gamma = 1};
    a.wants_grad = true, a.dropout = 0.1;
    const double whole = (double)ts_fast_attention_scratch(&a);
    ck_assert(whole < 20.0 * (1 << 16) * 42 * sizeof(ts_real));
    a.n = 1 << 15, a.m = 1 << 15;
    ck_assert(whole <= 2 * (double)ts_fast_attention_scratch(&a));
}
END_TEST

START_TEST(one_query_one_key) {
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!ts_isa_use(ISAS[isa])) continue;
        ts_tape_reset(tape);
        const ts_attention_spec spec = fast_spec(TS_SCORE_EUCLIDEAN, 3, 0);
        ts_tensor *q = random_tensor(1, 1, 5, 10, "q"), *k = random_tensor(1, 1, 5, -4, "k");
        ts_tensor *v = random_tensor(1, 1, 3, 0, "v"), *dy = random_tensor(1, 1, 3, 0, "dy");
        ts_tensor *y = ts_attention(tape, q, k, v, NULL, &spec);
        ck_assert_int_eq(ts_backward_from(tape, y, dy->data), TS_OK);
        ck_assert_mem_eq(y->data, v->data, 3 * sizeof(ts_real));
        ck_assert_mem_eq(v->grad, dy->data, 3 * sizeof(ts_real));
        for (int c = 0; c < 5; c++) ck_assert(fabs((double)q->grad[c]) < 1e-4 && fabs((double)k->grad[c]) < 1e-4);
    }
}
END_TEST

/* ---- threads ----------------------------------------------------------------------------------------------------- */

#ifdef _OPENMP
enum { SOME = 6 * 1100 * 5 };

/* y and the gradients, with q, k, v three tensors or one and the same. */
static void run_on(int threads, int64_t b, int64_t n, int64_t m, bool one, ts_real results[4][SOME]) {
    omp_set_num_threads(threads);
    ts_tape_reset(tape);
    ts_tensor *q = random_tensor(b, n, 5, 0, "q");
    ts_tensor *k = one ? q : random_tensor(b, m, 5, 0, "k"), *v = one ? q : random_tensor(b, m, 5, 0, "v");
    const ts_attention_spec spec = fast_spec(TS_SCORE_EUCLIDEAN, 2, 0.1);
    ts_tensor *y = ts_attention(tape, q, k, v, NULL, &spec);
    ck_assert_int_eq(ts_backward_from(tape, y, random_tensor(b, n, 5, 0, "dy")->data), TS_OK);
    memset(results, 0, 4 * sizeof results[0]);
    memcpy(results[0], y->data, (size_t)(b * n * 5) * sizeof(ts_real));
    memcpy(results[1], q->grad, (size_t)(b * n * 5) * sizeof(ts_real));
    memcpy(results[2], k->grad, (size_t)(b * m * 5) * sizeof(ts_real));
    memcpy(results[3], v->grad, (size_t)(b * m * 5) * sizeof(ts_real));
}

START_TEST(the_same_bits_on_any_number_of_threads) {
    static ts_real results[2][4][SOME];
    static const int64_t shapes[][3] = {{1, 97, 1100}, {1, 1100, 1100}, {2, 200, 130}, {3, 101, 64}, {6, 50, 70}};
    const int usual = omp_get_max_threads();
    for (int s = 0; s < 5; s++)
        for (int one = 0; one < 2; one++) {
            const int64_t b = shapes[s][0], n = shapes[s][1], m = one ? n : shapes[s][2];
            run_on(1, b, n, m, one, results[0]);
            for (int t = 0; t < 3; t++) {
                run_on((int[]){2, 3, 8}[t], b, n, m, one, results[1]);
                ck_assert_msg(memcmp(results[0], results[1], sizeof results[0]) == 0, "shape %d", s);
            }
        }
    omp_set_num_threads(usual);
}
END_TEST
#endif

/* ---- what is not finite ------------------------------------------------------------------------------------------ */

static bool all_nan(const ts_real *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (!isnan((double)x[i])) return false;
    return true;
}

/* NaN in a query spoils its row, in a key or value all rows of the batch; other rows and batches stay as they were. */
START_TEST(not_a_number_is_not_lost) {
    for (int isa = 0; isa < ISA_COUNT; isa++)
        for (int score = 0; score < 2; score++)
            for (int which = 0; which < 3; which++) {
                if (!ts_isa_use(ISAS[isa])) continue;
                ts_tape_reset(tape);
                const ts_attention_spec spec = fast_spec((ts_score)score, 1, 0);
                ts_tensor *in[3] = {random_tensor(2, 70, 5, 0, "q"), random_tensor(2, 150, 5, 0, "k"),
                                    random_tensor(2, 150, 3, 0, "v")};
                in[which]->data[66 * 5] = (ts_real)NAN; /* row 66, or for values 110 */
                ts_tensor *y = ts_attention(tape, in[0], in[1], in[2], NULL, &spec);
                ck_assert_int_eq(ts_backward(tape, ts_sum(tape, y, TS_ALL_AXES, false)), TS_OK);
                for (int64_t row = 0; row < 140; row++)
                    for (int64_t c = 0; c < 3; c++) {
                        const bool spoilt = which == 0 ? row == 66 : row < 70 && (which == 1 || c == 0);
                        ck_assert(isnan((double)y->data[row * 3 + c]) == spoilt);
                    }
                if (which == 0) ck_assert(all_nan(in[0]->grad + 66 * 5, 5) && all_nan(in[2]->grad, 150 * 3));
                if (which > 0) ck_assert(all_nan(in[0]->grad, 70 * 5) && all_nan(in[1]->grad, 150 * 5));
                ck_assert(!isnan((double)in[0]->grad[70 * 5]) && !isnan((double)in[2]->grad[150 * 3]));
            }
}
END_TEST

START_TEST(scores_of_minus_infinity) {
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!ts_isa_use(ISAS[isa])) continue;
        ts_tape_reset(tape);
        const ts_attention_spec spec = fast_spec(TS_SCORE_DOT, 1, 0);
        const ts_real big = sizeof(ts_real) == sizeof(double) ? (ts_real)1e200 : (ts_real)1e30;
        ts_tensor *q = ts_variable(tape, TS_SHAPE(2, 1), (ts_real[]){big, 0});
        ts_tensor *k = ts_variable(tape, TS_SHAPE(3, 1), (ts_real[]){-big, -big, -big});
        ts_tensor *v = ts_variable(tape, TS_SHAPE(3, 1), (ts_real[]){1, 2, 6});
        ts_tensor *y = ts_attention(tape, q, k, v, NULL, &spec);
        ck_assert(y->data[0] == 0); /* all are -inf: zeros, no gradient */
        ck_assert_double_eq_tol((double)y->data[1], 3, 1e-5);
        ck_assert_int_eq(ts_backward_from(tape, y, (ts_real[]){1, 0}), TS_OK);
        for (int i = 0; i < 3; i++) ck_assert(v->grad[i] == 0 && k->grad[i] == 0 && q->grad[i % 2] == 0);
        k->data[1] = 0; /* one is not: it has all the weight */
        y = ts_attention(tape, q, k, v, NULL, &spec);
        ck_assert(y->data[0] == 2);
    }
}
END_TEST

/* ---- the exponential --------------------------------------------------------------------------------------------- */

START_TEST(powers_of_two) {
    const bool is_double = sizeof(ts_real) == sizeof(double);
    const double lowest = is_double ? -1021 : -125, smallest = is_double ? DBL_MIN : (double)FLT_MIN;
    double worst = 0;
    for (int i = 0; i <= 400000; i++) {
        const ts_real x = (ts_real)(lowest * i / 400000);
        const double y = (double)vec_exp2(vec_all(x))[0];
        worst = fmax(worst, fabs(y / exp2((double)x) - 1));
    }
    ck_assert_msg(worst <= (is_double ? 5e-16 : 1.5e-7), "%g", worst);
    for (int i = 0; i < 4000; i++) { /* where normal numbers end */
        const double y = (double)vec_exp2(vec_all((ts_real)(lowest - i * 1e-3)))[0];
        ck_assert(y == 0 || y >= smallest);
        ck_assert(i < 1010 || y == 0);
    }
    ck_assert(vec_exp2(vec_all(0))[0] == 1 && vec_exp2(vec_all((ts_real)-INFINITY))[0] == 0);
    ck_assert(isnan((double)vec_exp2(vec_all((ts_real)NAN))[0]) && vec_exp2(vec_all(3))[0] == 8);
}
END_TEST

/* ---- dropout ----------------------------------------------------------------------------------------------------- */

enum { ROWS = 300, COLUMNS = 700 };

/* |sum - mean| in standard deviations, for a count of `n` draws of probability p. */
static double deviations(int64_t count, int64_t n, double p) {
    return fabs((double)count - (double)n * p) / sqrt((double)n * p * (1 - p));
}

START_TEST(draws_have_their_rate) {
    static const double rates[] = {0.01, 0.1, 0.5, 0.9};
    for (int r = 0; r < 4; r++)
        for (uint32_t step = 0; step < 4; step++) {
            const ts_drop_key key = ts_drop_key_of((ts_rng){test_seed(), 1, step}, rates[r]);
            int64_t count = 0, in_row[ROWS] = {0}, in_column[COLUMNS] = {0};
            for (int64_t i = 0; i < ROWS; i++)
                for (int64_t j = 0; j < COLUMNS; j++)
                    if (ts_drop(key, i, j)) count++, in_row[i]++, in_column[j]++;
            ck_assert(deviations(count, ROWS * COLUMNS, rates[r]) < 5);
            for (int64_t i = 0; i < ROWS; i++) ck_assert(deviations(in_row[i], COLUMNS, rates[r]) < 7);
            for (int64_t j = 0; j < COLUMNS; j++) ck_assert(deviations(in_column[j], ROWS, rates[r]) < 7);
        }
    const ts_drop_key never = ts_drop_key_of((ts_rng){1, 1, 1}, 1e-12);
    const ts_drop_key nearly_always = ts_drop_key_of((ts_rng){1, 1, 1}, 1 - 1e-12);
    for (int64_t j = 0; j < 10000; j++) ck_assert(!ts_drop(never, 3, j) && ts_drop(nearly_always, 3, j));
}
END_TEST

/* Neighbours in a row, in a column, the same place at the next step, of another stream, of another batch (rows far
 * apart), and the four corners of rectangles, which an additive rule would tie together: each agrees half the time. */
START_TEST(draws_are_independent) {
    const ts_drop_key key = ts_drop_key_of((ts_rng){test_seed(), 1, 0}, 0.5);
    const ts_drop_key next = ts_drop_key_of((ts_rng){test_seed(), 1, 1}, 0.5);
    const ts_drop_key other = ts_drop_key_of((ts_rng){test_seed(), 2, 0}, 0.5);
    int64_t same[7] = {0};
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++) {
            const bool here = ts_drop(key, i, j), right = ts_drop(key, i, j + 1), below = ts_drop(key, i + 1, j);
            const bool across = ts_drop(key, i + 1, j + 1), far = ts_drop(key, i + ((int64_t)1 << 33), j);
            same[0] += here == right, same[1] += here == below, same[2] += here == across;
            same[3] += here == far, same[4] += (here ^ right) == (below ^ across);
            same[5] += here == ts_drop(next, i, j), same[6] += here == ts_drop(other, i, j);
        }
    for (int k = 0; k < 7; k++)
        ck_assert_msg(deviations(same[k], ROWS * COLUMNS, 0.5) < 5, "relation %d: %lld of %d", k, (long long)same[k],
                      ROWS * COLUMNS);
}
END_TEST

/* Any two rows have as many drops in common as chance gives: over all pairs the squared deviations average one. */
START_TEST(rows_are_independent_in_pairs) {
    const ts_drop_key key = ts_drop_key_of((ts_rng){test_seed(), 1, 0}, 0.5);
    static unsigned char drops[ROWS][COLUMNS];
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++) drops[i][j] = ts_drop(key, i, j);
    double squares = 0, largest = 0;
    for (int a = 0; a < ROWS; a++)
        for (int b = 0; b < a; b++) {
            int64_t same = 0;
            for (int j = 0; j < COLUMNS; j++) same += drops[a][j] == drops[b][j];
            const double d = deviations(same, COLUMNS, 0.5);
            squares += d * d, largest = fmax(largest, d);
        }
    ck_assert_double_eq_tol(squares / (ROWS * (ROWS - 1) / 2), 1, 0.05);
    ck_assert(largest < 6);
}
END_TEST

/* ---- where it does not apply ------------------------------------------------------------------------------------- */

static void check_exact(ts_attention_spec spec, bool masked) {
    ts_tape_reset(tape);
    ts_tensor *q = random_tensor(2, 9, 4, 0, "q"), *k = random_tensor(2, 11, 4, 0, "k");
    ts_tensor *v = random_tensor(2, 11, 3, 0, "v"), *mask = masked ? random_tensor(2, 9, 11, 0, "mask") : NULL;
    const ts_tensor *fast = ts_attention(tape, q, k, v, mask, &spec);
    spec.fast = false;
    const ts_tensor *exact = ts_attention(tape, q, k, v, mask, &spec);
    ck_assert_msg(ts_tape_error(tape) == NULL, "%s", ts_tape_error(tape));
    ck_assert_mem_eq(fast->data, exact->data, 2 * 9 * 3 * sizeof(ts_real));
}

START_TEST(other_maps_and_masks_are_exact) {
    ts_attention_spec spec = fast_spec(TS_SCORE_EUCLIDEAN, 1, 0.1);
    check_exact(spec, true);
    spec.simplex.map = &ts_sparsemax_map;
    check_exact(spec, false);
    spec = fast_spec(TS_SCORE_DOT, 1e20, 0);
    check_exact(spec, false);
    spec = fast_spec(TS_SCORE_DOT, 1, 1);
    check_exact(spec, false);
}
END_TEST

START_TEST(without_gradients) {
    const ts_attention_spec spec = fast_spec(TS_SCORE_EUCLIDEAN, 1, 0);
    ts_tensor *q = random_tensor(2, 50, 4, 0, "q"), *k = random_tensor(2, 70, 4, 0, "k");
    ts_tensor *y = ts_attention(tape, q, k, k, NULL, &spec);
    ts_tape *infer = ts_tape_create(TS_INFER);
    ts_tensor *x = ts_borrow(infer, q->shape, q->data), *z = ts_borrow(infer, k->shape, k->data);
    const ts_tensor *same = ts_attention(infer, x, z, z, NULL, &spec);
    ck_assert_mem_eq(y->data, same->data, 2 * 50 * 4 * sizeof(ts_real));
    ts_tape_free(infer);
}
END_TEST

START_TEST(instruction_sets) {
    const char *wanted = getenv("TESSERA_ISA");
    ck_assert(!ts_isa_use("abacus"));
    if (wanted != NULL) ck_assert_str_eq(ts_isa_name(ts_isa_in_use()), wanted); /* nothing has chosen another yet */
    ck_assert(ts_isa_use("base"));
    ck_assert_str_eq(ts_isa_name(ts_isa_in_use()), "base");
    ck_assert(ts_isa_use(NULL));
    printf("widest instruction set here: %s\n", ts_isa_name(ts_isa_in_use()));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("fast attention");
    TCase *sets = tcase_create("instruction sets"), *tests = tcase_create("all"); /* in this order */
    printf("seed %" PRIu64 "\n", test_seed());
    tcase_set_timeout(tests, 0);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(sets, instruction_sets);
    suite_add_tcase(suite, sets);
    tcase_add_test(tests, numbers_of_queries_and_keys);
    tcase_add_test(tests, widths);
    tcase_add_test(tests, gammas_and_offsets);
    tcase_add_test(tests, many_keys);
    tcase_add_test(tests, memory_is_linear);
    tcase_add_test(tests, one_query_one_key);
#ifdef _OPENMP
    tcase_add_test(tests, the_same_bits_on_any_number_of_threads);
#endif
    tcase_add_test(tests, not_a_number_is_not_lost);
    tcase_add_test(tests, scores_of_minus_infinity);
    tcase_add_test(tests, powers_of_two);
    tcase_add_test(tests, draws_have_their_rate);
    tcase_add_test(tests, draws_are_independent);
    tcase_add_test(tests, rows_are_independent_in_pairs);
    tcase_add_test(tests, other_maps_and_masks_are_exact);
    tcase_add_test(tests, without_gradients);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
