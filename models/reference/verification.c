/* verification.c: the lines, the grid of problems, the bounds and the comparison. */
#include "verification.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../autograd/rng.h"
#include "../data/rescaling.h"
#include "../data/seeding.h"
#include "../run/runner.h"
#include "../run/streamed_layer.h"

static const double EPS = sizeof(ts_real) == sizeof(float) ? FLT_EPSILON : DBL_EPSILON;

/* ---- the lines of the table -------------------------------------------------------------------------------------- */

/* One line of the table: a variant with its settings. */
typedef struct verify_case {
    const ts_variant *variant;
    ts_settings settings;
    double gamma_factor; /* gamma is this multiple of the one that suits the data (soft assignments); 0: that of the
                            settings */
    bool can_stream, op_by_op; /* the layer can be streamed; it is run op by op */
    bool exact;                /* streamed in double, on problems stated in double */
} verify_case;

/* The unit roundoff of the numbers that a case computes with. */
static double eps_of(const verify_case *c) {
    return c->exact ? DBL_EPSILON : EPS;
}

enum { MOST_CASES = 256 };
typedef struct case_list {
    int count;
    verify_case entry[MOST_CASES];
} case_list;

static void add_case(case_list *list, const ts_variant *v, ts_settings settings, double factor) {
    ts_definition definition;
    ts_error error = {.status = TS_OK};
    verify_case c = {.variant = v, .settings = settings, .gamma_factor = factor, .op_by_op = true};
    c.can_stream = !(factor > 0) && ts_variant_define(v, &settings, &definition, &error) == TS_OK &&
                   ts_streamed_layer_fits(&definition, 2, 3);
    for (int i = 0; i < (c.can_stream ? 3 : 1) && list->count < MOST_CASES; i++) {
        list->entry[list->count++] = c;
        c.exact = !c.op_by_op;
        c.op_by_op = false;
    }
}

/* Adds a variant in one construction, with its default settings and with others. */
static void add_settings(case_list *list, const ts_variant *v, ts_settings s) {
    add_case(list, v, s, v->gamma == TS_GAMMA_SOFT ? 1 : 0);
    if (v->gamma == TS_GAMMA_ASSIGN) {
        add_case(list, v, s, 1);
        add_case(list, v, s, 1000);
    }
    for (int i = 0; v->trims && i < 2; i++) {
        s.trim = (double[]){0.1, 0.29}[i];
        add_case(list, v, s, 0);
    }
    for (int i = 0; ts_variant_has(v, "alpha") && i < 2; i++) {
        s.alpha = (double[]){1.25, 8}[i];
        add_case(list, v, s, 0);
    }
    if (ts_variant_has(v, "m")) {
        s.fuzziness = 1.25;
        add_case(list, v, s, 0);
    }
}

static case_list all_cases(void) {
    case_list list = {0};
    for (const ts_variant *v = ts_variants; v->name != NULL; v++)
        for (int i = 0; ts_construction_names[i] != NULL; i++) {
            ts_settings s = ts_variant_settings(v);
            if (strstr(v->constructions, ts_construction_names[i]) == NULL) continue;
            s.construction = ts_construction_names[i];
            add_settings(&list, v, s);
        }
    return list;
}

int ts_verify_count(void) {
    return all_cases().count;
}

static void write_name(const verify_case *c, char name[TS_VERIFY_TEXT]) {
    int used = snprintf(name, TS_VERIFY_TEXT, "%s, %s", c->variant->name, c->settings.construction);
    char *end = name + used;
    const size_t room = TS_VERIFY_TEXT - (size_t)used;
    if (c->gamma_factor > 0) snprintf(end, room, ", softmax, gamma x%g", c->gamma_factor);
    if (c->settings.trim >= 0) snprintf(end, room, ", trim %g", c->settings.trim);
    if (ts_variant_has(c->variant, "alpha")) snprintf(end, room, ", alpha %g", c->settings.alpha);
    if (ts_variant_has(c->variant, "m")) snprintf(end, room, ", m %g", c->settings.fuzziness);
    if (c->can_stream) snprintf(end, room, c->op_by_op ? ", op by op" : c->exact ? ", in double" : ", streamed");
}

static bool is_hard(const verify_case *c) {
    return c->variant->gamma == TS_GAMMA_ASSIGN && c->gamma_factor <= 0;
}

static bool uses_norms(const verify_case *c) {
    return strcmp(c->settings.construction, "dot") == 0;
}

static bool uses_soft_codes(const verify_case *c) {
    return strcmp(c->settings.construction, "binary") == 0 && c->gamma_factor > 0;
}

/* ---- the grid ---------------------------------------------------------------------------------------------------- */

typedef enum data_kind {
    DATA_CLUSTERS,   /* Gaussian clusters */
    DATA_UNIFORM,    /* no structure */
    DATA_GRID,       /* small integers: duplicates and exact ties */
    DATA_FAR,        /* 10^5 away from the origin */
    DATA_DUPLICATES, /* two values a coordinate */
    DATA_NEAR_TIES   /* on the bisectors of the initial centres, and a few roundings off */
} data_kind;

typedef struct grid_cell {
    int64_t n, d, k;
    data_kind kind;
    bool quick;
} grid_cell;

static const grid_cell cells[] = {
    {60, 1, 3, DATA_CLUSTERS, true},      {200, 2, 5, DATA_CLUSTERS, true},   {300, 3, 1, DATA_CLUSTERS, true},
    {300, 2, 6, DATA_GRID, true},         {60, 2, 20, DATA_DUPLICATES, true}, {200, 2, 4, DATA_NEAR_TIES, true},
    {400, 2, 5, DATA_FAR, true},          {24, 3, 24, DATA_UNIFORM, true},    {333, 3, 7, DATA_UNIFORM, false},
    {1000, 10, 16, DATA_UNIFORM, false},  {300, 1, 4, DATA_GRID, false},      {500, 3, 10, DATA_GRID, false},
    {400, 8, 12, DATA_FAR, false},        {200, 1, 50, DATA_GRID, false},     {129, 5, 17, DATA_GRID, false},
    {2000, 32, 10, DATA_CLUSTERS, false}, {500, 4, 9, DATA_NEAR_TIES, false}, {600, 1, 2, DATA_NEAR_TIES, false},
    {50, 1, 50, DATA_UNIFORM, false},     {700, 64, 3, DATA_CLUSTERS, false}, {1, 1, 1, DATA_UNIFORM, true},
};
enum { CELLS = sizeof cells / sizeof *cells, FULL_SEEDS = 6, STEPS = 12 };

/* A coordinate, from a uniform number u, a normal number z, and that of its cluster, `center`. */
static double coordinate(data_kind kind, double u, double z, double center) {
    switch (kind) {
    case DATA_CLUSTERS: return center + 0.1 * z;
    case DATA_GRID: return 1 + floor(6 * u); /* not 0: a row of zeros has no direction */
    case DATA_FAR: return 1e5 + u;
    case DATA_DUPLICATES: return 1 + floor(2 * u);
    default: return u + 0.01;
    }
}

static void fill_table(const grid_cell *cell, uint64_t seed, double *table) {
    const ts_rng uniform = {seed, ts_rng_stream("verify uniform"), 0},
                 normal = {seed, ts_rng_stream("verify normal"), 0}, place = {seed, ts_rng_stream("verify place"), 0};
    for (int64_t i = 0; i < cell->n; i++) {
        const int64_t cluster = ts_rng_below(place, (uint64_t)i, cell->k);
        for (int64_t a = 0; a < cell->d; a++) {
            const uint64_t at = (uint64_t)(i * cell->d + a);
            const double center = ts_rng_uniform(place, ((uint64_t)1 << 32) + (uint64_t)(cluster * cell->d + a));
            table[at] = coordinate(cell->kind, ts_rng_uniform(uniform, at), ts_rng_normal(normal, at), center);
        }
    }
}

/* Moves all points except the first k to the middle between two of those, and up to three roundings away from it. */
static void make_near_ties(const grid_cell *cell, uint64_t seed, double eps, double *x) {
    const ts_rng rng = {seed, ts_rng_stream("verify ties"), 0};
    for (int64_t i = cell->k; i < cell->n && cell->k > 1; i++) {
        const int64_t a = ts_rng_below(rng, (uint64_t)(2 * i), cell->k), b = (a + 1) % cell->k;
        for (int64_t l = 0; l < cell->d; l++) {
            const double off = (double)ts_rng_below(rng, ((uint64_t)1 << 32) + (uint64_t)(i * cell->d + l), 7) - 3;
            const double middle = (x[a * cell->d + l] + x[b * cell->d + l]) / 2;
            x[i * cell->d + l] = middle * (1 + off * eps);
        }
    }
}

typedef struct verify_problem {
    ts_problem problem;
    ts_real *points, *centers;
    double *exact, *exact_centers; /* the same in double; equal unless the case is exact */
    double largest;                /* the largest magnitude of a coordinate */
    double farthest;               /* a bound of squared distances: d times the squared range of the widest column */
} verify_problem;

static void free_problem(verify_problem *p) {
    free(p->points);
    free(p->centers);
    free(p->exact);
    free(p->exact_centers);
}

/* Far from the origin squared norms lose all digits: the dot construction needs data near it, as `tessera cluster`
 * provides. */
static bool move_near_origin(const grid_cell *cell, double *table) {
    ts_rescaling rescaling;
    ts_error error = {.status = TS_OK};
    if (ts_rescaling_fit(TS_SCALING_NONE, cell->n, cell->d, table, &rescaling, &error) != TS_OK) return false;
    ts_rescaling_apply_exactly(&rescaling, cell->n, table, table);
    ts_rescaling_free(&rescaling);
    return true;
}

static void round_all(int64_t count, bool exact, double *x, ts_real *rounded) {
    for (int64_t i = 0; i < count; i++) {
        rounded[i] = (ts_real)x[i];
        if (!exact) x[i] = (double)rounded[i];
    }
}

static void measure(verify_problem *p, int64_t n, int64_t d) {
    double widest = 0;
    for (int64_t a = 0; a < d; a++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            const double x = p->exact[i * d + a];
            low = fmin(low, x);
            high = fmax(high, x);
            p->largest = fmax(p->largest, fabs(x));
        }
        widest = fmax(widest, high - low);
    }
    p->farthest = (double)d * widest * widest;
}

static void choose_places(const verify_case *c, const grid_cell *cell, uint64_t seed, verify_problem *p) {
    const int64_t size = cell->n * cell->d;
    fill_table(cell, seed, p->exact);
    if (uses_norms(c)) p->largest = move_near_origin(cell, p->exact) ? 0 : NAN;
    round_all(size, c->exact, p->exact, p->points);
    if (cell->kind != DATA_NEAR_TIES) return;
    make_near_ties(cell, seed, eps_of(c), p->exact);
    round_all(size, c->exact, p->exact, p->points);
}

static bool choose_centers(const grid_cell *cell, uint64_t seed, verify_problem *p) {
    static const ts_seeding seedings[] = {TS_SEED_FIRST, TS_SEED_KMEANS_PP, TS_SEED_RANDOM, TS_SEED_GONZALEZ};
    const ts_seeding seeding = cell->kind == DATA_NEAR_TIES ? TS_SEED_FIRST : seedings[seed % 4];
    const ts_points points = {cell->n, cell->d, p->points, p->exact};
    ts_error error = {.status = TS_OK};
    int64_t *rows = malloc((size_t)cell->k * sizeof *rows);
    const bool done = rows != NULL && ts_seed_rows(seeding, &points, cell->k, -1, seed, rows, &error) == TS_OK;
    for (int64_t i = 0; done && i < cell->k * cell->d; i++) {
        p->exact_centers[i] = ts_point_at(&points, rows[i / cell->d], i % cell->d);
        p->centers[i] = (ts_real)p->exact_centers[i];
    }
    free(rows);
    return done;
}

static bool make_problem(const verify_case *c, const grid_cell *cell, uint64_t seed, verify_problem *p) {
    const int64_t n = cell->n, d = cell->d, k = cell->k;
    static const ts_empty_policy policies[] = {TS_EMPTY_KEEP, TS_EMPTY_FARTHEST, TS_EMPTY_RANDOM};
    *p = (verify_problem){.points = malloc((size_t)(n * d) * sizeof *p->points),
                          .centers = malloc((size_t)(k * d) * sizeof *p->centers),
                          .exact = malloc((size_t)(n * d) * sizeof *p->exact),
                          .exact_centers = malloc((size_t)(k * d) * sizeof *p->exact_centers)};
    bool done = p->points != NULL && p->centers != NULL && p->exact != NULL && p->exact_centers != NULL;
    if (done) choose_places(c, cell, seed, p);
    done = done && !isnan(p->largest) && choose_centers(cell, seed, p);
    if (done) measure(p, n, d);
    p->problem = (ts_problem){
        .n = n, .d = d, .k = k, .points = p->points, .centers = p->centers, .empty = policies[seed % 3], .seed = seed};
    if (c->exact) p->problem.exact_points = p->exact, p->problem.exact_centers = p->exact_centers;
    if (!done) free_problem(p);
    return done;
}

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

/* Lloyd's algorithm by squared differences: both sides compare equal numbers, so no difference is excused, and they run
 * independently. In all other cases both start every step from the same centres: single steps are compared, not how an
 * algorithm's own instability amplifies a last bit over twelve steps. */
static bool runs_free(const verify_case *c) {
    return is_hard(c) && !uses_norms(c) && !c->variant->unit_length;
}

/* The rounding error of a score computed from squared norms: (2 d + 8) roundings of the largest norm. */
static double norm_error(const verify_problem *p) {
    const double d = (double)p->problem.d;
    return (2 * d + 8) * EPS * d * p->largest * p->largest;
}

/* The bound of the difference of centres after a step, in units of the largest coordinate: the rounding of a mean, and
 * that of soft weights, in which gamma amplifies the rounding of the scores. */
static double center_bound(const verify_case *c, const verify_problem *p) {
    const double gamma = isfinite(c->settings.gamma) ? c->settings.gamma : 0;
    const double sums = (double)p->problem.n * DBL_EPSILON; /* of sums of n numbers in double */
    if (is_hard(c)) return (uses_norms(c) ? 8 : 4) * eps_of(c) + sums;
    if (uses_soft_codes(c)) return EPS * (64 + 64 * gamma) + sums;
    if (uses_norms(c)) return 64 * EPS + 2 * gamma * norm_error(p) + sums;
    if (c->variant->unit_length) return eps_of(c) * (64 + 8 * gamma) + sums;
    return 64 * EPS + sums + 16 * DBL_EPSILON * gamma * p->farthest;
}

/* By how much a chosen centre may be worse for a point than the best one. 0 if both sides compute the scores from equal
 * numbers in double; squared norms, unit vectors and the soft shares, whose greatest is the label, are rounded to
 * ts_real.
 */
static double tie_bound(const verify_case *c, const verify_problem *p) {
    const double gamma = isfinite(c->settings.gamma) ? c->settings.gamma : 0;
    const double farthest = c->variant->unit_length ? 1 : p->farthest;
    double bound = 0;
    const double score_eps = c->variant->unit_length ? eps_of(c) : DBL_EPSILON;
    if (uses_soft_codes(c)) return 64 * (double)p->problem.k * (EPS + score_eps * gamma * farthest);
    if (uses_norms(c)) bound += norm_error(p);
    if (c->variant->unit_length) bound += 16 * eps_of(c);
    if (!is_hard(c) && c->variant->update == NULL)
        bound += 64 * (gamma > 0 ? EPS / gamma + DBL_EPSILON * farthest : EPS * farthest);
    return bound;
}

/* ---- what must not rise ------------------------------------------------------------------------------------------ */

static bool promises_descent(const verify_case *c, const ts_problem *p) {
    return c->variant->update == NULL && !uses_soft_codes(c) && p->empty == TS_EMPTY_KEEP &&
           !(c->variant->unit_length && c->gamma_factor > 0);
}

/* The contribution of a point to the objective, from its k distances: the smallest distance; for soft k-means
 * -log sum exp(-gamma d)/gamma; for fuzzy c-means sum_j u_j^m d_j at the best u, (sum_j d_j^(-1/(m-1)))^-(m-1). */
static double point_cost(const verify_case *c, int64_t k, const double *distance) {
    const double gamma = c->settings.gamma, m = c->settings.fuzziness;
    double least = distance[0], sum = 0;
    for (int64_t j = 1; j < k; j++) least = fmin(least, distance[j]);
    if (ts_variant_has(c->variant, "m")) {
        for (int64_t j = 0; j < k; j++) sum += least > 0 ? pow(least / distance[j], 1 / (m - 1)) : 1;
        return least > 0 ? least * pow(sum, 1 - m) : 0;
    }
    if (isinf(gamma)) return least;
    for (int64_t j = 0; j < k; j++) sum += exp(-gamma * (distance[j] - least));
    return least - log(sum) / gamma;
}

static double distance_between(const verify_case *c, int64_t d, const double *x, const double *center) {
    double sum = 0, length = 0;
    for (int64_t a = 0; a < d; a++) {
        const double difference = x[a] - center[a];
        sum += c->variant->unit_length ? x[a] * center[a] : difference * difference;
        length += x[a] * x[a];
    }
    return c->variant->unit_length ? 1 - sum / sqrt(length) : sum;
}

/* NAN when out of memory. */
static double objective(const verify_case *c, const verify_problem *p, const double *centers) {
    const int64_t n = p->problem.n, d = p->problem.d, k = p->problem.k;
    double *distance = malloc((size_t)k * sizeof *distance), sum = 0;
    if (distance == NULL) return NAN;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < k; j++) distance[j] = distance_between(c, d, p->exact + i * d, centers + j * d);
        sum += point_cost(c, k, distance);
    }
    free(distance);
    return sum;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

typedef struct comparison {
    const verify_case *setup; /* with the gamma of the problem */
    const verify_problem *p;
    ts_runner *runner;
    ts_plain *plain;
    ts_verify_result *result;
    double last; /* the last objective */
} comparison;

/* By how much rounding the centres to ts_real may raise the objective. */
static double rise_bound(const comparison *c) {
    const double eps = eps_of(c->setup), moved = c->p->largest * eps, n = (double)c->p->problem.n,
                 gamma = c->setup->settings.gamma;
    const double logarithms = isfinite(gamma) && gamma > 0 ? 4 * n * DBL_EPSILON / gamma : 0;
    const double unit = c->setup->variant->unit_length ? 8 * n * eps : 0;
    const double norms = (uses_norms(c->setup) ? n * norm_error(c->p) : 0) + unit;
    return norms + n * (double)c->p->problem.d * moved * moved + (8 * eps + 1e-12) * fabs(c->last) + logarithms;
}

static void note_failure(const comparison *c, const char *format, ...) TS_PRINTF(2, 3);

static void note_failure(const comparison *c, const char *format, ...) {
    char what[80];
    va_list values;
    if (c->result->failure[0] != '\0') return;
    va_start(values, format);
    vsnprintf(what, sizeof what, format, values);
    va_end(values);
    snprintf(c->result->failure, sizeof c->result->failure, "n %lld d %lld k %lld seed %llu: %s",
             (long long)c->p->problem.n, (long long)c->p->problem.d, (long long)c->p->problem.k,
             (unsigned long long)c->p->problem.seed, what);
}

/* Compares the labels of both assignments; the plain algorithm adopts those that differ within rounding. */
static void compare_labels(comparison *c, const int64_t *labels) {
    const ts_clustering *plain = ts_plain_state(c->plain);
    const double bound = tie_bound(c->setup, c->p);
    int64_t ties = 0;
    for (int64_t i = 0; i < c->p->problem.n; i++) {
        if (labels[i] == plain->labels[i]) continue;
        if (labels[i] >= 0 && plain->labels[i] >= 0 && bound > 0 && ts_plain_gap(c->plain, i, labels[i]) <= bound) {
            ties++;
            continue;
        }
        c->result->mismatches++;
        note_failure(c, "step %lld, row %lld: label %lld, plain %lld", (long long)plain->steps + 1, (long long)i,
                     (long long)labels[i], (long long)plain->labels[i]);
    }
    c->result->ties += ties;
    if (ties > 0 && ts_plain_responsibilities(c->plain) == NULL) ts_plain_adopt_labels(c->plain, labels);
}

static void compare_centers(comparison *c) {
    const ts_clustering *a = ts_runner_state(c->runner), *b = ts_plain_state(c->plain);
    const double unit = c->setup->variant->unit_length ? 1 : fmax(c->p->largest, 1e-300);
    const double bound = center_bound(c->setup, c->p);
    for (int64_t i = 0; i < c->p->problem.k * c->p->problem.d; i++) {
        const double difference = fabs(a->exact_centers[i] - b->exact_centers[i]) / unit;
        if (!(difference * c->result->center_bound <= c->result->center_difference * bound)) {
            c->result->center_difference = difference;
            c->result->center_bound = bound;
        }
        if (!(difference <= bound))
            note_failure(c, "step %lld: centre entry %lld: %.9g, plain %.9g", (long long)a->steps, (long long)i,
                         a->exact_centers[i], b->exact_centers[i]);
    }
    if (a->empty_repairs != b->empty_repairs)
        note_failure(c, "step %lld: %lld repairs, plain %lld", (long long)a->steps, (long long)a->empty_repairs,
                     (long long)b->empty_repairs);
}

static void watch_objective(comparison *c) {
    const ts_clustering *state = ts_runner_state(c->runner);
    if (!promises_descent(c->setup, &c->p->problem)) return;
    const double now = objective(c->setup, c->p, state->exact_centers);
    if (c->result->rises < 0) c->result->rises = 0;
    if (!(now <= c->last + rise_bound(c))) {
        c->result->rises++;
        note_failure(c, "step %lld: the objective rose from %.12g to %.12g", (long long)state->steps, c->last, now);
    }
    c->last = now;
}

static void compare_step(comparison *c, ts_error *error) {
    ts_plain_assign(c->plain);
    if (ts_runner_step(c->runner, error) != TS_OK) return;
    compare_labels(c, ts_runner_state(c->runner)->labels);
    if (ts_plain_update(c->plain, error) != TS_OK) return;
    compare_centers(c);
    watch_objective(c);
    if (!runs_free(c->setup)) ts_plain_adopt_centers(c->plain, ts_runner_state(c->runner)->exact_centers);
    c->result->steps++;
}

/* Compares the final labels, which match the centres, and the trimmed points. */
static void compare_end(comparison *c, ts_error *error) {
    if (ts_runner_finish(c->runner, error) != TS_OK || ts_plain_finish(c->plain, error) != TS_OK) return;
    compare_labels(c, ts_runner_state(c->runner)->labels);
    compare_centers(c);
    for (int64_t j = 0; c->setup->variant->medoids && j < c->p->problem.k; j++)
        if (ts_runner_state(c->runner)->medoids[j] != ts_plain_state(c->plain)->medoids[j])
            note_failure(c, "medoid %lld is row %lld, plain %lld", (long long)j,
                         (long long)ts_runner_state(c->runner)->medoids[j],
                         (long long)ts_plain_state(c->plain)->medoids[j]);
}

static void compare(const verify_case *setup, const verify_problem *p, ts_verify_result *result) {
    ts_error error = {.status = TS_OK};
    ts_definition definition;
    comparison c = {.setup = setup, .p = p, .result = result, .last = INFINITY};
    if (ts_variant_define(setup->variant, &setup->settings, &definition, &error) == TS_OK) {
        c.runner = ts_runner_create(&definition, &p->problem, &error);
        c.plain =
            ts_plain_create(ts_variant_plain(setup->variant, &setup->settings), &setup->settings, &p->problem, &error);
    }
    result->problems++;
    for (int t = 0; error.status == TS_OK && t < STEPS; t++) compare_step(&c, &error);
    if (error.status == TS_OK) compare_end(&c, &error);
    if (error.status != TS_OK) note_failure(&c, "%.60s", error.text);
    ts_runner_free(c.runner);
    ts_plain_free(c.plain);
}

/* Sets a gamma that suits the scale of the data. */
static void set_gamma(verify_case *c, const ts_problem *problem) {
    const ts_variant *soft = ts_variant_by_name("soft");
    if (c->gamma_factor > 0)
        c->settings.gamma = c->gamma_factor * ts_variant_gamma(soft, problem);
    else if (ts_variant_chooses_gamma(c->variant, &c->settings))
        c->settings.gamma = ts_variant_gamma(c->variant, problem);
}

bool ts_verify_run(int i, bool quick, uint64_t seed, ts_verify_result *result) {
    const case_list list = all_cases();
    *result = (ts_verify_result){.rises = -1};
    write_name(&list.entry[i], result->name);
    for (int cell = 0; cell < CELLS; cell++) {
        const int seeds = quick ? cells[cell].quick : FULL_SEEDS;
        for (int s = 0; s < seeds; s++) {
            verify_case setup = list.entry[i];
            verify_problem p;
            if (!make_problem(&setup, &cells[cell], seed + (uint64_t)(12 * cell + s), &p)) return false;
            set_gamma(&setup, &p.problem);
            p.problem.op_by_op = setup.op_by_op;
            /* on the unit sphere rounding decides which of equally far points is the farthest */
            if (setup.variant->unit_length && p.problem.empty == TS_EMPTY_FARTHEST) p.problem.empty = TS_EMPTY_KEEP;
            if (result->center_bound <= 0) result->center_bound = center_bound(&setup, &p);
            compare(&setup, &p, result);
            free_problem(&p);
        }
    }
    return true;
}
