/* The fast path of attention against attention written out in double, draw by draw and sum by sum, with the row maps of
 * the exact one. The gradients of the same sources in double are checked against numeric ones by the generic op test
 * (the cases named "fast"). */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/kernels/fast_attention.h"
#include "../autograd/parallel.h"
#define SIMD_BYTES 16
#include "../autograd/kernels/simd.h"
#include "../autograd/ops.h"
#include "instruction_sets.h"

static const double EPS = sizeof(ts_real) == sizeof(double) ? DBL_EPSILON : FLT_EPSILON;
static const char *const ISAS[] = {"base", "avx2", "avx512"};
enum { ISA_COUNT = 3 };

static ts_tape *tape;

/* Gradients that hold nothing yet hold anything. */
static void spoil_fresh(void *context, const ts_node *node, ts_pass *pass) {
    (void)context;
    for (int i = 0; i < node->n_in; i++)
        for (int64_t e = 0; node->fresh >> i & 1u && e < ts_size(&node->in[i]->shape); e++)
            node->in[i]->grad[e] = (ts_real)NAN;
    pass(node);
}

static void setup(void) {
    tape = ts_tape_create(TS_RECORD);
    ts_tape_observe(tape, spoil_fresh, NULL);
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

/* Under a mask either all keys are seen, or half of them, at random, and some rows see none. */
typedef enum mask_kind { NO_MASK, ALL_SEEN, SOME_SEEN, MASK_KINDS } mask_kind;

typedef struct problem {
    int64_t b, n, m, e, f;
    ts_attention_spec spec;
    double offset;
    mask_kind mask;
} problem;

typedef struct inputs {
    ts_tensor *q, *k, *v, *mask, *dy;
} inputs;

static ts_tensor *random_mask(int64_t b, int64_t n, int64_t m, mask_kind kind) {
    ts_tensor *mask = ts_constant(tape, TS_SHAPE(b, n, m), NULL);
    const ts_rng rng = {test_seed(), ts_rng_stream("mask"), 0};
    for (int64_t i = 0; i < b * n * m; i++) {
        const bool seen = ts_rng_uniform(rng, (uint64_t)i) < 0.5 && i / m % 5 != 3;
        mask->data[i] = kind == ALL_SEEN || seen;
    }
    return mask;
}

static inputs inputs_of(const problem *p) {
    return (inputs){.q = random_tensor(p->b, p->n, p->e, p->offset, "q"),
                    .k = random_tensor(p->b, p->m, p->e, p->offset, "k"),
                    .v = random_tensor(p->b, p->m, p->f, 0, "v"),
                    .mask = p->mask == NO_MASK ? NULL : random_mask(p->b, p->n, p->m, p->mask),
                    .dy = random_tensor(p->b, p->n, p->f, 0, "dy")};
}

/* In double: results, and how large the errors of the fast path may be. */
typedef struct reference {
    double *y, *dq, *dk, *dv;
    double y_bound, dq_bound, dk_bound, dv_bound;
    double score_error; /* what fast_attention.h states */
    /* Sums over a row, the largest, and over columns [b,m] of the errors of weights and of slopes over |dP|. */
    double row_weights, row_slopes, *weights, *slopes;
    bool *undecided; /* [b,n] rows: they get dy = 0, and their y is not compared if their weights may jump */
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

/* A row in work: its keys, those that the mask leaves, with all that belongs to them; arrays of m. */
typedef struct row_work {
    int64_t at, count, *key;
    double *scores, *weights, *kept, *dp, *ds;
    double z, size; /* size: sum |scores| */
    ts_simplex_row simplex;
} row_work;

static row_work row_create(const problem *p) {
    row_work r = {.key = malloc((size_t)p->m * sizeof(int64_t)), .scores = malloc((size_t)(5 * p->m) * sizeof(double))};
    r.weights = r.scores + p->m, r.kept = r.weights + p->m, r.dp = r.kept + p->m, r.ds = r.dp + p->m;
    return r;
}

static void row_free(row_work *r) {
    free(r->key), free(r->scores);
}

static double exact_score(const problem *p, const ts_real *q, const ts_real *k) {
    double s = 0;
    for (int64_t c = 0; c < p->e; c++) {
        const double x = (double)q[c], y = (double)k[c];
        s += p->spec.score == TS_SCORE_DOT ? x * y : -(x - y) * (x - y);
    }
    return p->spec.gamma * s;
}

static void row_weigh(const problem *p, const inputs *in, int64_t at, row_work *r) {
    const ts_drop_key key = ts_drop_key_of(p->spec.dropout_rng, p->spec.dropout);
    const ts_real *q = in->q->data + at * p->e, *k = in->k->data + at / p->n * p->m * p->e;
    r->at = at, r->count = 0, r->size = 0, r->z = 1;
    for (int64_t j = 0; j < p->m; j++) {
        if (in->mask != NULL && in->mask->data[at * p->m + j] == 0) continue;
        r->key[r->count] = j;
        r->scores[r->count] = exact_score(p, q, k + j * p->e);
        r->size += fabs(r->scores[r->count]);
        r->kept[r->count++] = p->spec.dropout > 0 && ts_drop(key, at, j) ? 0 : 1 / (1 - p->spec.dropout);
    }
    r->simplex = (ts_simplex_row){.n = r->count};
    if (r->count > 0) r->z = p->spec.simplex.map->forward(&r->simplex, r->scores, r->weights);
}

/* Whether scores off by `error` may change who is a maximiser, or in the support. */
static bool is_undecided(const problem *p, const row_work *r, double error) {
    const ts_simplex *map = p->spec.simplex.map;
    double max = -INFINITY, threshold = 0;
    for (int64_t l = 0; l < r->count; l++) {
        max = fmax(max, r->scores[l]);
        if (map == &ts_sparsemax_map && r->weights[l] > 0) threshold = r->scores[l] - r->weights[l];
    }
    for (int64_t l = 0; l < r->count; l++) {
        if (map == &ts_hardmax_map && r->scores[l] < max && r->scores[l] >= max - 2 * error) return true;
        if (map == &ts_sparsemax_map && fabs(r->scores[l] - threshold) <= 2 * error) return true;
    }
    return false;
}

/* One row's output, and what it adds to the gradients. */
static void row_results(const problem *p, const inputs *in, row_work *r, reference *ref) {
    const int64_t batch = r->at / p->n;
    const ts_real *q = in->q->data + r->at * p->e, *dy = in->dy->data + r->at * p->f;
    const ts_simplex *map = p->spec.simplex.map;
    for (int64_t l = 0; l < r->count; l++) {
        const int64_t j = batch * p->m + r->key[l];
        const double weight = r->weights[l] / r->z * r->kept[l];
        r->dp[l] = 0;
        for (int64_t c = 0; c < p->f; c++) {
            ref->y[r->at * p->f + c] += weight * (double)in->v->data[j * p->f + c];
            if (ref->undecided[r->at]) continue;
            ref->dv[j * p->f + c] += weight * (double)dy[c];
            r->dp[l] += r->kept[l] * (double)dy[c] * (double)in->v->data[j * p->f + c];
        }
    }
    if (map->backward == NULL || r->count == 0 || ref->undecided[r->at]) return;
    map->backward(&r->simplex, r->scores, r->weights, r->z, r->dp, r->ds);
    for (int64_t l = 0; l < r->count; l++)
        for (int64_t c = 0; c < p->e; c++) {
            const int64_t j = batch * p->m + r->key[l];
            const double x = (double)q[c], z = (double)in->k->data[j * p->e + c], ds = r->ds[l] * p->spec.gamma;
            const bool dot = p->spec.score == TS_SCORE_DOT;
            ref->dq[r->at * p->e + c] += ds * (dot ? z : 2 * (z - x));
            ref->dk[j * p->e + c] += ds * (dot ? x : 2 * (x - z));
        }
}

/* The errors of weights and slopes that a score's error `s` makes, and roundings. */
static void row_errors(const problem *p, const row_work *r, reference *ref) {
    const double s = ref->score_error, rounding = 32 * EPS;
    const ts_simplex *map = p->spec.simplex.map;
    double all_weights = 0, all_slopes = 0;
    for (int64_t l = 0; l < r->count; l++) {
        const double weight = r->weights[l] / r->z;
        double error = weight * rounding, slope = 0;
        if (map == &ts_softmax_map) slope = error = weight * (2 * s + rounding);
        if (map == &ts_sparsemax_map && weight > 0) error += 2 * s, slope = rounding;
        if (map == &ts_linear_map) {
            const double off = (double)r->count * s / r->size; /* the sum, relatively */
            error += s / r->size + weight * off;
            slope = (2 * off + rounding) / r->size;
        }
        ref->weights[r->at / p->n * p->m + r->key[l]] += error;
        ref->slopes[r->at / p->n * p->m + r->key[l]] += slope;
        all_weights += error, all_slopes += slope;
    }
    ref->row_weights = fmax(ref->row_weights, all_weights);
    ref->row_slopes = fmax(ref->row_slopes, all_slopes);
}

static double largest_of(const ts_real *x, int64_t n) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs((double)x[i]));
    return largest;
}

static void set_bounds(const problem *p, const inputs *in, double radii, reference *ref) {
    const double share = 1 / (1 - p->spec.dropout), factor = p->spec.gamma * (p->spec.score == TS_SCORE_DOT ? 1 : 2);
    const double v = largest_of(in->v->data, p->b * p->m * p->f), up = largest_of(in->dy->data, p->b * p->n * p->f);
    const double slope = share * up * v * sqrt((double)p->f) / 8; /* of dP: roundings vary */
    double column_weights = ref->row_weights, column_slopes = ref->row_slopes;
    for (int64_t j = 0; j < p->b * p->m; j++) {
        column_weights = fmax(column_weights, ref->weights[j]);
        column_slopes = fmax(column_slopes, ref->slopes[j]);
    }
    ref->y_bound = ref->row_weights * share * v;
    ref->dv_bound = column_weights * share * up;
    ref->dq_bound = ref->row_slopes * slope * factor * radii;
    ref->dk_bound = column_slopes * slope * factor * radii;
}

static reference reference_of(const problem *p, const inputs *in) {
    const double radii = radius(p, in->q->data, in->k->data);
    reference ref = {.y = calloc((size_t)(p->b * p->n * p->f), sizeof(double)),
                     .dq = calloc((size_t)(p->b * p->n * p->e), sizeof(double)),
                     .dk = calloc((size_t)(p->b * p->m * p->e), sizeof(double)),
                     .dv = calloc((size_t)(p->b * p->m * p->f), sizeof(double)),
                     .weights = calloc((size_t)(2 * p->b * p->m), sizeof(double)),
                     .undecided = calloc((size_t)(p->b * p->n), sizeof(bool)),
                     .score_error = 4 * EPS * p->spec.gamma * radii * radii};
    ref.slopes = ref.weights + p->b * p->m;
    row_work r = row_create(p);
    int64_t undecided = 0;
    for (int64_t at = 0; at < p->b * p->n; at++) {
        row_weigh(p, in, at, &r);
        ref.undecided[at] = is_undecided(p, &r, ref.score_error);
        undecided += ref.undecided[at];
        row_results(p, in, &r, &ref);
        row_errors(p, &r, &ref);
    }
    ck_assert_msg(undecided <= 1 + p->b * p->n / 2, "%s: %d rows of %d are undecided", p->spec.simplex.map->name,
                  (int)undecided, (int)(p->b * p->n));
    row_free(&r);
    set_bounds(p, in, radii, &ref);
    return ref;
}

static void reference_free(reference *r) {
    free(r->y), free(r->dq), free(r->dk), free(r->dv), free(r->weights), free(r->undecided);
}

/* `passed_over`, if not NULL: of rows of f numbers. */
static void compare(const problem *p, const char *what, const ts_real *fast, const double *right, int64_t n,
                    double bound, const bool *passed_over) {
    double worst = 0;
    for (int64_t i = 0; i < n; i++) {
        const double error = fabs((double)fast[i] - right[i]);
        if (passed_over != NULL && passed_over[i / p->f]) continue;
        if (!(error <= worst)) worst = error; /* NaN too */
    }
    ck_assert_msg(
        worst <= bound,
        "%s, %s %s: b %d n %d m %d e %d f %d, score %d gamma %g dropout %g offset %g mask %d: off by %g, not %g",
        ts_isa_name(ts_isa_in_use()), p->spec.simplex.map->name, what, (int)p->b, (int)p->n, (int)p->m, (int)p->e,
        (int)p->f, p->spec.score, p->spec.gamma, p->spec.dropout, p->offset, p->mask, worst, bound);
}

/* Forward and backward of one problem on every instruction set that is here. */
static void check_problem(const problem *p) {
    reference r = {.y = NULL};
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!ts_isa_use(ISAS[isa])) continue;
        ts_tape_reset(tape);
        const inputs in = inputs_of(p);
        if (r.y == NULL) r = reference_of(p, &in);
        for (int64_t i = 0; i < p->b * p->n * p->f; i++)
            if (r.undecided[i / p->f]) in.dy->data[i] = 0;
        ts_tensor *y = ts_attention(tape, in.q, in.k, in.v, in.mask, &p->spec);
        ck_assert_int_eq(ts_backward_from(tape, y, in.dy->data), TS_OK);
        compare(p, "y", y->data, r.y, p->b * p->n * p->f, r.y_bound,
                p->spec.simplex.map == &ts_hardmax_map ? r.undecided : NULL);
        compare(p, "dq", in.q->grad, r.dq, p->b * p->n * p->e, r.dq_bound, NULL);
        compare(p, "dk", in.k->grad, r.dk, p->b * p->m * p->e, r.dk_bound, NULL);
        compare(p, "dv", in.v->grad, r.dv, p->b * p->m * p->f, r.dv_bound, NULL);
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

/* ---- row maps and masks ------------------------------------------------------------------------------------------ */

static const ts_simplex *const MAPS[] = {&ts_softmax_map, &ts_sparsemax_map, &ts_hardmax_map, &ts_linear_map};
enum { MAP_COUNT = 4 };

static ts_attention_spec map_spec(int map, int score, double gamma, double dropout) {
    ts_attention_spec spec = fast_spec((ts_score)score, gamma, dropout);
    spec.simplex.map = MAPS[map];
    return spec;
}

/* Linear weights are for scores that are not negative. */
static double offset_of(int map, int score) {
    return MAPS[map] == &ts_linear_map && score == TS_SCORE_DOT ? 1 : 0;
}

START_TEST(maps_and_masks) {
    static const int numbers[] = {1, 7, 42, 513}, sizes[] = {1, 5, 33};
    int turn = 0;
    for (int map = 0; map < MAP_COUNT; map++)
        for (int score = 0; score < 2; score++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++, turn++) {
                    problem p = {.b = 1 + turn % 2, .n = numbers[i], .m = numbers[j]};
                    p.e = sizes[turn % 3], p.f = sizes[turn / 2 % 3];
                    p.spec = map_spec(map, score, turn % 5 == 0 ? 2 : 0.3, turn / 4 % 3 == 0 ? 0.2 : 0);
                    p.offset = offset_of(map, score);
                    for (int mask = 0; mask < MASK_KINDS; mask++) {
                        p.mask = (mask_kind)mask;
                        check_problem(&p);
                    }
                }
}
END_TEST

/* As gammas_and_offsets, for every map. */
START_TEST(gammas_and_offsets_of_maps) {
    static const double gammas[] = {1e-3, 0.1, 10, 1e3};
    for (int map = 0; map < MAP_COUNT; map++)
        for (int g = 0; g < 4; g++)
            for (int far = 0; far < 2; far++)
                for (int score = 0; score < 2; score++) {
                    problem p = {.b = 2, .n = 42, .m = 133, .e = 10, .f = 7, .mask = g % 2 ? SOME_SEEN : NO_MASK};
                    p.spec = map_spec(map, score, gammas[g], 0);
                    p.offset = far ? 1e4 : offset_of(map, score);
                    if (far && score == TS_SCORE_DOT) continue;
                    check_problem(&p);
                }
}
END_TEST

/* More keys than scores or slopes are kept of. */
START_TEST(many_keys_of_maps) {
    for (int map = 0; map < MAP_COUNT; map++)
        for (int i = 0; i < 3; i++) {
            problem p = {.b = 1, .n = 19, .m = (int[]){1024, 1500, 9000}[i], .e = 3, .f = 2};
            p.spec = map_spec(map, TS_SCORE_EUCLIDEAN, 3, 0.01);
            p.mask = i == 1 ? SOME_SEEN : NO_MASK;
            check_problem(&p);
        }
}
END_TEST

START_TEST(memory_of_maps_is_linear) {
    for (int map = 0; map < MAP_COUNT; map++) {
        ts_fast_attention a = {.batches = 1, .n = 1 << 12, .m = 1 << 20, .e = 3, .f = 3, .euclidean = true, .gamma = 1};
        a.map = MAPS[map]->fast, a.wants_grad = true;
        const double whole = (double)ts_fast_attention_scratch(&a);
        ck_assert(whole < 30.0 * (1 << 20) * sizeof(ts_real));
    }
}
END_TEST

START_TEST(memory_is_linear) {
    ts_fast_attention a = {.batches = 1, .n = 1 << 16, .m = 1 << 16, .e = 42, .f = 42, .euclidean = true, .gamma = 1};
    a.map = TS_FAST_SOFTMAX;
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

/* y and the gradients, with q, k, v three tensors, or one and the same under a mask. */
static void run_on(int threads, int map, int64_t b, int64_t n, int64_t m, bool one, ts_real results[4][SOME]) {
    omp_set_num_threads(threads);
    ts_tape_reset(tape);
    ts_tensor *q = random_tensor(b, n, 5, 0, "q");
    ts_tensor *k = one ? q : random_tensor(b, m, 5, 0, "k"), *v = one ? q : random_tensor(b, m, 5, 0, "v");
    const ts_attention_spec spec = map_spec(map, TS_SCORE_EUCLIDEAN, 2, 0.1);
    ts_tensor *y = ts_attention(tape, q, k, v, one ? random_mask(b, n, m, SOME_SEEN) : NULL, &spec);
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
    for (int c = 0; c < 5 * 2 * MAP_COUNT; c++) {
        const int s = c % 5, one = c / 5 % 2, map = c / 10;
        const int64_t b = shapes[s][0], n = shapes[s][1], m = one ? n : shapes[s][2];
        run_on(1, map, b, n, m, one, results[0]);
        for (int t = 0; t < 3; t++) {
            run_on((int[]){2, 3, 8}[t], map, b, n, m, one, results[1]);
            ck_assert_msg(memcmp(results[0], results[1], sizeof results[0]) == 0, "%s, shape %d", MAPS[map]->name, s);
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

static void check_not_a_number(int map, int score, int which) {
    ts_tape_reset(tape);
    const ts_attention_spec spec = map_spec(map, score, 1, 0);
    ts_tensor *in[3] = {random_tensor(2, 70, 5, 0, "q"), random_tensor(2, 150, 5, 0, "k"),
                        random_tensor(2, 150, 3, 0, "v")};
    in[which]->data[66 * 5] = (ts_real)NAN; /* row 66, or for values 110 */
    ts_tensor *y = ts_attention(tape, in[0], in[1], in[2], NULL, &spec);
    ck_assert_int_eq(ts_backward(tape, ts_sum(tape, y, TS_ALL_AXES, false)), TS_OK);
    for (int64_t i = 0; i < 140; i++)
        for (int64_t c = 0; c < 3; c++) {
            const bool spoilt = which == 0 ? i == 66 : i < 70 && (which == 1 || c == 0);
            ck_assert_msg(isnan((double)y->data[i * 3 + c]) == spoilt, "%s, score %d, input %d, row %d",
                          MAPS[map]->name, score, which, (int)i);
        }
    if (which == 0) ck_assert(all_nan(in[2]->grad, 150 * 3));
    if (which == 0 && MAPS[map]->backward != NULL) ck_assert(all_nan(in[0]->grad + 66 * 5, 5));
    if (which == 1 && MAPS[map]->backward != NULL) ck_assert(all_nan(in[0]->grad, 70 * 5));
    if (which > 0 && MAPS[map] == &ts_softmax_map)
        ck_assert(all_nan(in[0]->grad, 70 * 5) && all_nan(in[1]->grad, 150 * 5));
    ck_assert(!isnan((double)in[0]->grad[70 * 5]) && !isnan((double)in[2]->grad[150 * 3]));
}

/* NaN in a query spoils its row, in a key or value all rows of the batch; other rows and batches stay as they were. */
START_TEST(not_a_number_is_not_lost) {
    for (int isa = 0; isa < ISA_COUNT; isa++)
        for (int map = 0; map < MAP_COUNT && ts_isa_use(ISAS[isa]); map++)
            for (int score = 0; score < 2; score++)
                for (int which = 0; which < 3; which++) check_not_a_number(map, score, which);
}
END_TEST

static bool all_zero(const ts_real *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (x[i] != 0) return false;
    return true;
}

/* Attention of 40 rows to 100 keys, of which `excluded` is seen by rows from `seen_from` on and has coordinates and
 * values of `junk`, as row 7 has, which sees nothing, and its dy. */
typedef struct masked_run {
    ts_tensor *q, *k, *v, *y;
} masked_run;

static masked_run run_masked(int map, int score, int64_t excluded, int64_t seen_from, double junk) {
    ts_tape_reset(tape);
    const ts_attention_spec spec = map_spec(map, score, 1, 0.1);
    const double offset = offset_of(map, score);
    masked_run r = {random_tensor(1, 40, 5, offset, "q"), random_tensor(1, 100, 5, offset, "k"),
                    random_tensor(1, 100, 3, 0, "v"), NULL};
    ts_tensor *mask = random_mask(1, 40, 100, ALL_SEEN), *dy = random_tensor(1, 40, 3, 0, "dy");
    for (int64_t i = 0; i < seen_from; i++) mask->data[i * 100 + excluded] = 0;
    memset(mask->data + 7 * 100, 0, 100 * sizeof(ts_real));
    for (int64_t c = 0; c < 5; c++) r.q->data[7 * 5 + c] = r.k->data[excluded * 5 + c] = (ts_real)junk;
    for (int64_t c = 0; c < 3; c++) dy->data[7 * 3 + c] = r.v->data[excluded * 3 + c] = (ts_real)junk;
    r.y = ts_attention(tape, r.q, r.k, r.v, mask, &spec);
    ck_assert_int_eq(ts_backward_from(tape, r.y, dy->data), TS_OK);
    return r;
}

/* What no row sees leaves no trace, and a row that sees nothing is zeros without gradient, whatever stands there. */
START_TEST(excluded_exactly) {
    static const double junk[] = {1, 1e30, INFINITY, NAN};
    for (int c = 0; c < ISA_COUNT * MAP_COUNT * 2 * 4; c++) {
        const int isa = c / (MAP_COUNT * 2 * 4), map = c / 8 % MAP_COUNT, score = c / 4 % 2;
        ts_real right[4][500];
        if (!ts_isa_use(ISAS[isa])) continue;
        masked_run r = run_masked(map, score, 63, 40, 0);
        memcpy(right[0], r.y->data, 40 * 3 * sizeof(ts_real));
        memcpy(right[1], r.q->grad, 40 * 5 * sizeof(ts_real));
        memcpy(right[2], r.k->grad, 100 * 5 * sizeof(ts_real));
        memcpy(right[3], r.v->grad, 100 * 3 * sizeof(ts_real));
        r = run_masked(map, score, 63, 40, junk[c % 4]);
        ck_assert_mem_eq(right[0], r.y->data, 40 * 3 * sizeof(ts_real));
        ck_assert_mem_eq(right[1], r.q->grad, 40 * 5 * sizeof(ts_real));
        ck_assert_mem_eq(right[2], r.k->grad, 100 * 5 * sizeof(ts_real));
        ck_assert_mem_eq(right[3], r.v->grad, 100 * 3 * sizeof(ts_real));
        ck_assert(all_zero(r.y->data + 7 * 3, 3) && all_zero(r.q->grad + 7 * 5, 5));
        ck_assert(all_zero(r.k->grad + 63 * 5, 5) && all_zero(r.v->grad + 63 * 3, 3));
    }
}
END_TEST

/* Rows that see a key of NaN are NaN, the others are not. */
START_TEST(not_excluded_by_all) {
    for (int c = 0; c < ISA_COUNT * MAP_COUNT * 2; c++) {
        if (!ts_isa_use(ISAS[c / (MAP_COUNT * 2)])) continue;
        const masked_run r = run_masked(c / 2 % MAP_COUNT, c % 2, 3, 20, NAN);
        for (int64_t i = 0; i < 40 * 3; i++) ck_assert(isnan((double)r.y->data[i]) == (i / 3 >= 20));
        for (int64_t i = 0; i < 20 * 5; i++) ck_assert(isfinite((double)r.q->grad[i]));
        ck_assert(all_nan(r.v->grad, 100 * 3));
    }
}
END_TEST

/* Excluded keys far away do not move the point that distances are taken about. */
START_TEST(padding_costs_no_precision) {
    ts_attention_spec spec = fast_spec(TS_SCORE_EUCLIDEAN, 1, 0);
    ts_tensor *q = random_tensor(1, 30, 5, 1e4, "q"), *k = random_tensor(1, 90, 5, 1e4, "k");
    ts_tensor *v = random_tensor(1, 90, 3, 0, "v"), *mask = random_mask(1, 30, 90, ALL_SEEN);
    for (int64_t i = 0; i < 30 * 90; i++) mask->data[i] = i % 90 % 3 == 0;
    for (int64_t i = 0; i < 90 * 5; i++)
        if (i / 5 % 3 != 0) k->data[i] = 0;
    const ts_tensor *fast = ts_attention(tape, q, k, v, mask, &spec);
    spec.fast = false;
    const ts_tensor *exact = ts_attention(tape, q, k, v, mask, &spec);
    for (int64_t i = 0; i < 30 * 3; i++)
        ck_assert_double_eq_tol((double)fast->data[i], (double)exact->data[i], 200 * EPS);
}
END_TEST

/* So large that its square overflows. */
static const ts_real BIG = (ts_real)(sizeof(ts_real) == sizeof(double) ? 1e200 : 1e30);

/* y of n queries of one number, m keys and values, all of which it gives to `in`. */
static ts_tensor *attend(int map, int64_t n, const ts_real *q, int64_t m, const ts_real *k, const ts_real *v,
                         ts_tensor *in[3]) {
    const ts_attention_spec spec = map_spec(map, TS_SCORE_DOT, 1, 0);
    in[0] = ts_variable(tape, TS_SHAPE(n, 1), q);
    in[1] = ts_variable(tape, TS_SHAPE(m, 1), k);
    in[2] = ts_variable(tape, TS_SHAPE(m, 1), v);
    return ts_attention(tape, in[0], in[1], in[2], NULL, &spec);
}

START_TEST(scores_of_minus_infinity) {
    for (int c = 0; c < ISA_COUNT * MAP_COUNT; c++) {
        const int map = c % MAP_COUNT;
        const bool linear = MAPS[map] == &ts_linear_map;
        ts_tensor *in[3];
        if (!ts_isa_use(ISAS[c / MAP_COUNT])) continue;
        ts_tape_reset(tape);
        ts_tensor *y = attend(map, 2, (ts_real[]){BIG, 0}, 3, (ts_real[]){-BIG, -BIG, -BIG}, (ts_real[]){1, 2, 6}, in);
        ck_assert(y->data[0] == 0);                                        /* all are -inf: zeros, no gradient */
        ck_assert_double_eq_tol((double)y->data[1], linear ? 0 : 3, 1e-5); /* a linear row of zeros has no weights */
        ck_assert_int_eq(ts_backward_from(tape, y, (ts_real[]){1, 0}), TS_OK);
        for (int i = 0; i < 3; i++) ck_assert(all_zero(in[i]->grad, i == 0 ? 2 : 3));
        const ts_real keys[] = {-BIG, linear ? 1 / BIG : 0, -BIG}; /* one is not: it has all the weight */
        y = attend(map, 1, (ts_real[]){BIG}, 3, keys, (ts_real[]){1, 2, 6}, in);
        ck_assert_double_eq_tol((double)y->data[0], 2, 1e-6);
    }
}
END_TEST

/* Of linear scores those of +inf share the weight, wherever they are, and the row has no gradient; under other maps,
 * which take differences, they are NaN. */
START_TEST(scores_of_plus_infinity) {
    enum { KEYS = 200 };
    ts_real k[KEYS], v[KEYS];
    for (int j = 0; j < KEYS; j++) {
        v[j] = (ts_real)j, k[j] = (ts_real)(j % 7 == 0 ? -BIG : 1);
        if (j == 100 || j == 170) k[j] = BIG; /* after finite ones, and again after that */
    }
    for (int c = 0; c < ISA_COUNT * MAP_COUNT; c++) {
        ts_tensor *in[3];
        if (!ts_isa_use(ISAS[c / MAP_COUNT])) continue;
        ts_tape_reset(tape);
        ts_tensor *y = attend(c % MAP_COUNT, 1, (ts_real[]){BIG}, KEYS, k, v, in);
        ck_assert_int_eq(ts_backward_from(tape, y, (ts_real[]){1}), TS_OK);
        if (MAPS[c % MAP_COUNT] != &ts_linear_map) {
            ck_assert(isnan((double)y->data[0]));
            continue;
        }
        ck_assert(y->data[0] == 135 && all_zero(in[0]->grad, 1) && all_zero(in[1]->grad, KEYS));
        for (int j = 0; j < KEYS; j++) ck_assert(in[2]->grad[j] == (ts_real)(j == 100 || j == 170 ? 0.5 : 0));
    }
}
END_TEST

/* Equal keys have equal scores: they tie. */
START_TEST(ties_share) {
    for (int c = 0; c < ISA_COUNT * 2; c++) {
        if (!ts_isa_use(ISAS[c / 2])) continue;
        ts_tape_reset(tape);
        ts_attention_spec spec = fast_spec((ts_score)(c % 2), 0.7, 0);
        spec.simplex.map = &ts_hardmax_map;
        ts_tensor *q = random_tensor(1, 50, 7, 3, "q"), *k = random_tensor(1, 200, 7, 3, "k");
        ts_tensor *v = random_tensor(1, 200, 1, 0, "v");
        memcpy(k->data + 700, k->data, 700 * sizeof(ts_real));
        const ts_tensor *y = ts_attention(tape, q, k, v, NULL, &spec);
        for (int64_t i = 0; i < 50; i++) {
            bool found = false;
            for (int64_t j = 0; j < 100; j++) found = found || y->data[i] == (v->data[j] + v->data[j + 100]) / 2;
            ck_assert_msg(found, "row %d", (int)i);
        }
    }
}
END_TEST

/* Scores so large that neighbouring numbers are more than 1 apart: the largest share the weight, which adds up to 1. */
START_TEST(sparsemax_of_large_scores) {
    static const double sizes[] = {1e7, 3e8, 1e20, 1e30};
    for (int c = 0; c < ISA_COUNT * 4; c++) {
        const ts_real x = (ts_real)(sizes[c % 4] * (sizeof(ts_real) == sizeof(double) ? 1e10 : 1)), one = 1;
        const ts_real up[] = {x, 0, x, -x}, down[] = {-x, -x, -x * 2, -x * 4};
        ts_tensor *in[3];
        if (!ts_isa_use(ISAS[c / 4])) continue;
        ts_tape_reset(tape);
        ck_assert(MAPS[1] == &ts_sparsemax_map);
        ck_assert(attend(1, 1, &one, 4, up, (ts_real[]){1, 9, 2, 9}, in)->data[0] == (ts_real)1.5);
        ck_assert(attend(1, 1, &one, 4, down, (ts_real[]){1, 2, 9, 9}, in)->data[0] == (ts_real)1.5);
    }
}
END_TEST

/* The gradient of sparsemax has no sum of weights in it, which is far from 1 where scores are large. */
START_TEST(sparsemax_gradient_of_large_scores) {
    const ts_real size = (ts_real)(sizeof(ts_real) == sizeof(double) ? 1e14 : 1e5), one = 1; /* t is between numbers */
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        ts_tensor *in[3];
        if (!ts_isa_use(ISAS[isa])) continue;
        ts_tape_reset(tape);
        const ts_real keys[] = {size, size + (ts_real)0.25, size + (ts_real)0.3125, size - 1};
        ts_tensor *y = attend(1, 1, &one, 4, keys, (ts_real[]){1, 2, 6, 50}, in);
        ck_assert_int_eq(ts_backward_from(tape, y, &one), TS_OK);
        const ts_real right[] = {-2, -1, 3, 0};
        ck_assert_mem_eq(in[1]->grad, right, sizeof right);
    }
}
END_TEST

/* A query that is a key is at distance 0 from it, not at a square below that. */
START_TEST(linear_weights_are_not_negative) {
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!ts_isa_use(ISAS[isa])) continue;
        ts_tape_reset(tape);
        ts_attention_spec spec = fast_spec(TS_SCORE_EUCLIDEAN, 1, 0);
        spec.simplex.map = &ts_linear_map;
        ts_tensor *x = random_tensor(1, 60, 7, 0, "q"), *v = ts_constant(tape, TS_SHAPE(1, 60, 60), NULL);
        for (int64_t i = 0; i < 60; i++) v->data[i * 61] = 1;
        const ts_tensor *weights = ts_attention(tape, x, x, v, NULL, &spec);
        for (int64_t i = 0; i < 60 * 60; i++) ck_assert(weights->data[i] >= 0);
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

/* The same on every instruction set, from weights: y of values 0 and 1 is 2^x / (1 + 2^x) of scores 0 and x. */
START_TEST(powers_of_two_in_weights) {
    enum { COUNT = 100000 };
    const bool is_double = sizeof(ts_real) == sizeof(double);
    const ts_attention_spec spec = fast_spec(TS_SCORE_DOT, log(2), 0); /* scores are in units of ln 2 */
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!ts_isa_use(ISAS[isa])) continue;
        ts_tape_reset(tape);
        ts_tensor *q = ts_constant(tape, TS_SHAPE(COUNT, 1, 1), NULL),
                  *k = ts_constant(tape, TS_SHAPE(COUNT, 2, 1), NULL);
        ts_tensor *v = ts_constant(tape, TS_SHAPE(COUNT, 2, 1), NULL);
        for (int64_t i = 0; i < COUNT; i++)
            q->data[i] = 1, v->data[2 * i + 1] = 1, k->data[2 * i + 1] = (ts_real)-130 * (ts_real)i / COUNT;
        const ts_tensor *y = ts_attention(tape, q, k, v, NULL, &spec);
        double worst = 0;
        for (int64_t i = 0; i < COUNT; i++) {
            const double right = exp2((double)k->data[2 * i + 1]) / (1 + exp2((double)k->data[2 * i + 1]));
            if (is_double || k->data[2 * i + 1] > -125) worst = fmax(worst, fabs((double)y->data[i] / right - 1));
            if (!is_double && k->data[2 * i + 1] < -126) ck_assert(y->data[i] == 0);
        }
        ck_assert_msg(worst <= (is_double ? 5e-16 : 1.5e-7) + 2 * EPS, "%s: %g", ISAS[isa], worst);
    }
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

START_TEST(other_maps_are_exact) {
    ts_attention_spec spec = fast_spec(TS_SCORE_EUCLIDEAN, 1, 0.1);
    spec.simplex.map = &ts_entmax15_map;
    check_exact(spec, true);
    spec.simplex.map = &ts_argmax_map;
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
    say_missing_instruction_sets();
}
END_TEST

int main(void) {
    ts_parallel_cutoff = 1000; /* small work meets threads */
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
    tcase_add_test(tests, maps_and_masks);
    tcase_add_test(tests, gammas_and_offsets_of_maps);
    tcase_add_test(tests, many_keys_of_maps);
    tcase_add_test(tests, memory_is_linear);
    tcase_add_test(tests, memory_of_maps_is_linear);
    tcase_add_test(tests, one_query_one_key);
#ifdef _OPENMP
    tcase_add_test(tests, the_same_bits_on_any_number_of_threads);
#else
    say_skipped("the_same_bits_on_any_number_of_threads", "no OpenMP");
#endif
    tcase_add_test(tests, not_a_number_is_not_lost);
    tcase_add_test(tests, excluded_exactly);
    tcase_add_test(tests, not_excluded_by_all);
    tcase_add_test(tests, padding_costs_no_precision);
    tcase_add_test(tests, scores_of_minus_infinity);
    tcase_add_test(tests, scores_of_plus_infinity);
    tcase_add_test(tests, ties_share);
    tcase_add_test(tests, sparsemax_of_large_scores);
    tcase_add_test(tests, sparsemax_gradient_of_large_scores);
    tcase_add_test(tests, linear_weights_are_not_negative);
    tcase_add_test(tests, powers_of_two);
    tcase_add_test(tests, powers_of_two_in_weights);
    tcase_add_test(tests, draws_have_their_rate);
    tcase_add_test(tests, draws_are_independent);
    tcase_add_test(tests, rows_are_independent_in_pairs);
    tcase_add_test(tests, other_maps_are_exact);
    tcase_add_test(tests, without_gradients);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
