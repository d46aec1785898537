#include "attention_runs.h"

#include <string.h>

#include "../autograd/gradcheck.h"
#include "../autograd/kernels/dropout_draws.h"
#include "../autograd/kernels/fast_attention.h"
#include "../autograd/parallel.h"

const ts_simplex *const MAPS[MAP_COUNT] = {&ts_softmax_map, &ts_sparsemax_map, &ts_hardmax_map, &ts_linear_map};

ts_attention_spec fast_spec(ts_score score, double gamma, double dropout) {
    return (ts_attention_spec){.score = score,
                               .simplex = {.map = &ts_softmax_map},
                               .gamma = gamma,
                               .dropout = dropout,
                               .dropout_rng = {5, 6, 7},
                               .fast = true};
}

ts_attention_spec map_spec(int map, int score, double gamma, double dropout) {
    ts_attention_spec spec = fast_spec((ts_score)score, gamma, dropout);
    spec.simplex.map = MAPS[map];
    return spec;
}

double offset_of(int map, int score) {
    return MAPS[map] == &ts_linear_map && score == TS_SCORE_DOT ? 1 : 0;
}

ts_tensor *random_tensor(int64_t b, int64_t n, int64_t d, double offset, const char *name) {
    ts_tensor *t = ts_variable(tape, TS_SHAPE(b, n, d), NULL);
    const ts_rng rng = {test_seed(), ts_rng_stream(name), 0};
    for (int64_t i = 0; i < b * n * d; i++)
        t->data[i] = (ts_real)(float)(offset + 2 * ts_rng_uniform(rng, (uint64_t)i) - 1);
    return t;
}

ts_tensor *random_mask(int64_t b, int64_t n, int64_t m, mask_kind kind) {
    ts_tensor *mask = ts_constant(tape, TS_SHAPE(b, n, m), NULL);
    const ts_rng rng = {test_seed(), ts_rng_stream("mask"), 0};
    for (int64_t i = 0; i < b * n * m; i++) {
        const bool seen = ts_rng_uniform(rng, (uint64_t)i) < 0.5 && i / m % 5 != 3;
        mask->data[i] = kind == ALL_SEEN || seen;
    }
    return mask;
}

bool all_zero(const ts_real *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (x[i] != 0) return false;
    return true;
}

bool all_nan(const ts_real *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (!isnan((double)x[i])) return false;
    return true;
}

/* ---- attention written out --------------------------------------------------------------------------------------- */

typedef struct inputs {
    ts_tensor *q, *k, *v, *mask, *dy;
} inputs;

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

void check_problem(const problem *p) {
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

/* ---- the case ---------------------------------------------------------------------------------------------------- */

static void observe(void) {
    ts_tape_observe(tape, ts_poison_fresh, NULL);
}

TCase *attention_case(void) {
    TCase *tests = isa_case();
    ts_parallel_cutoff = 1000;
    tcase_add_checked_fixture(tests, observe, NULL);
    return tests;
}
