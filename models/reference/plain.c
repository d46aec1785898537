/* plain.c: the steps that all plain algorithms share: assigning, moving centres, empty clusters. */
#include "plain.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../autograd/parallel.h"
#include "../../autograd/rng.h"
#include "plain_parts.h"

/* ---- making one -------------------------------------------------------------------------------------------------- */

/* A number, rounded to ts_real unless the problem is stated in double. */
static double kept(const ts_plain *p, double value) {
    return p->exact ? value : (double)(ts_real)value;
}

/* Scales a row of the points, or of the initial centres, to length 1. */
static bool to_unit_length(const ts_plain *p, const ts_points *rows, int64_t i, double *unit) {
    double greatest = 0, sum = 0;
    for (int64_t a = 0; a < rows->d; a++) greatest = fmax(greatest, fabs(ts_point_at(rows, i, a)));
    if (!(greatest > 0)) return false;
    for (int64_t a = 0; a < rows->d; a++) unit[a] = ts_point_at(rows, i, a) / greatest;
    for (int64_t a = 0; a < rows->d; a++) sum += unit[a] * unit[a];
    for (int64_t a = 0; a < rows->d; a++) unit[a] = kept(p, unit[a] / sqrt(sum));
    return true;
}

static ts_status to_sphere(const ts_plain *p, const ts_points *rows, double *to, const char *what, ts_error *error) {
    for (int64_t i = 0; i < rows->n; i++)
        if (!to_unit_length(p, rows, i, to + i * rows->d))
            return ts_error_set(error, TS_ERROR_VALUE, "%s %lld is zero: it has no direction", what, (long long)i + 1);
    return TS_OK;
}

static double widest_column(const ts_plain *p) {
    double widest = 0;
    for (int64_t a = 0; a < p->problem.d; a++) {
        double low = ts_point_at(&p->points, 0, a), high = low;
        for (int64_t i = 1; i < p->problem.n; i++) {
            low = fmin(low, ts_point_at(&p->points, i, a));
            high = fmax(high, ts_point_at(&p->points, i, a));
        }
        widest = fmax(widest, high - low);
    }
    return widest;
}

static double squared_distance(const ts_plain *p, int64_t i, int64_t j) {
    const int64_t d = p->problem.d;
    double sum = 0;
    for (int64_t a = 0; a < d; a++) {
        const double difference = ts_point_at(&p->points, i, a) - p->centers[j * d + a];
        sum += difference * difference;
    }
    return sum;
}

static void place_on_row(ts_plain *p, int64_t j, int64_t i) {
    for (int64_t a = 0; a < p->problem.d; a++) p->centers[j * p->problem.d + a] = ts_point_at(&p->points, i, a);
}

/* Copies the centres to the state, in ts_real. */
static void show_centers(ts_plain *p) {
    for (int64_t i = 0; i < p->problem.k * p->problem.d; i++) p->state.centers[i] = (ts_real)p->centers[i];
}

/* Moves each initial centre to the nearest row that no earlier centre has taken. */
static void choose_first_medoids(ts_plain *p) {
    for (int64_t j = 0; j < p->problem.k; j++) {
        int64_t row = -1;
        double least = 0;
        for (int64_t i = 0; i < p->problem.n; i++) {
            bool taken = false;
            for (int64_t l = 0; l < j; l++) taken = taken || p->state.medoids[l] == i;
            const double distance = taken ? 0 : squared_distance(p, i, j);
            if (!taken && (row < 0 || distance < least)) least = distance, row = i;
        }
        p->state.medoids[j] = p->best_medoids[j] = row;
    }
    for (int64_t j = 0; j < p->problem.k; j++) place_on_row(p, j, p->state.medoids[j]);
}

static bool is_soft(const ts_plain_algorithm *a, const ts_settings *s) {
    return a->respond != NULL && (a->responds_always || isfinite(s->gamma) || s->share_ties);
}

static bool take_memory(ts_plain *p) {
    const size_t n = (size_t)p->problem.n, k = (size_t)p->problem.k, d = (size_t)p->problem.d;
    const bool soft = is_soft(p->algorithm, &p->settings);
    if (p->algorithm->unit) p->unit = malloc(n * d * sizeof *p->unit);
    if (soft) {
        p->r = calloc(n * k, sizeof *p->r);
        p->previous = calloc(n * k, sizeof *p->previous);
        p->shares = malloc(n * k * sizeof *p->shares);
        if (!p->r || !p->previous || !p->shares) return false;
    }
    p->before = malloc(n * sizeof *p->before);
    p->members = malloc(n * sizeof *p->members);
    p->first = malloc((k + 1) * sizeof *p->first);
    p->left = malloc(k * sizeof *p->left);
    p->own = malloc(n * sizeof *p->own);
    p->scores = malloc(n * sizeof *p->scores);
    p->work = malloc(n * sizeof *p->work);
    p->weights = malloc(n * sizeof *p->weights);
    p->sum = malloc(d * sizeof *p->sum);
    p->carry = malloc(d * sizeof *p->carry);
    p->was = malloc(d * sizeof *p->was);
    p->best_medoids = malloc(k * sizeof *p->best_medoids);
    p->state.medoids = p->algorithm->medoids ? malloc(k * sizeof *p->state.medoids) : NULL;
    p->state.labels = calloc(n, sizeof *p->state.labels);
    p->state.centers = malloc(k * d * sizeof *p->state.centers);
    p->state.exact_centers = p->centers = malloc(k * d * sizeof *p->centers);
    return (p->unit || !p->algorithm->unit) && p->before && p->members && p->first && p->left && p->own && p->scores &&
           p->work && p->weights && p->sum && p->carry && p->was && p->best_medoids &&
           (p->state.medoids || !p->algorithm->medoids) && p->state.labels && p->state.centers && p->centers;
}

static ts_status prepare(ts_plain *p, ts_error *error) {
    const ts_problem *problem = &p->problem;
    if (!take_memory(p)) return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a plain algorithm");
    const ts_points given = {problem->k, problem->d, problem->centers, problem->exact_centers};
    p->points = ts_problem_points(problem);
    for (int64_t i = 0; i < problem->k * problem->d; i++) p->centers[i] = ts_point_at(&given, 0, i);
    if (p->algorithm->unit) {
        if (to_sphere(p, &p->points, p->unit, "row", error) != TS_OK) return error->status;
        if (to_sphere(p, &given, p->centers, "initial centre", error) != TS_OK) return error->status;
        p->points.exact = p->unit;
    }
    p->widest = widest_column(p);
    if (p->algorithm->medoids) choose_first_medoids(p);
    show_centers(p);
    return TS_OK;
}

ts_plain *ts_plain_create(const ts_plain_algorithm *algorithm, const ts_settings *settings, const ts_problem *problem,
                          ts_error *error) {
    if (problem->k < 1 || problem->d < 1 || problem->k > problem->n) {
        ts_error_set(error, TS_ERROR_VALUE, "n = %lld, d = %lld, k = %lld cannot be clustered", (long long)problem->n,
                     (long long)problem->d, (long long)problem->k);
        return NULL;
    }
    ts_plain *p = calloc(1, sizeof *p);
    if (p == NULL) {
        ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a plain algorithm");
        return NULL;
    }
    p->algorithm = algorithm;
    p->settings = *settings;
    if (!(p->settings.gamma > 0)) p->settings.gamma = 1; /* not used: only the order of distances matters */
    p->problem = *problem;
    p->exact = problem->exact_centers != NULL;
    p->best_cost = INFINITY;
    if (prepare(p, error) == TS_OK) return p;
    ts_plain_free(p);
    return NULL;
}

void ts_plain_free(ts_plain *p) {
    if (p == NULL) return;
    free(p->unit);
    free(p->r);
    free(p->previous);
    free(p->shares);
    free(p->before);
    free(p->members);
    free(p->first);
    free(p->left);
    free(p->own);
    free(p->scores);
    free(p->work);
    free(p->weights);
    free(p->sum);
    free(p->carry);
    free(p->was);
    free(p->best_medoids);
    free(p->state.medoids);
    free(p->state.labels);
    free(p->state.centers);
    free(p->centers);
    free(p);
}

const ts_clustering *ts_plain_state(const ts_plain *plain) {
    return &plain->state;
}

/* ---- assigning ------------------------------------------------------------------------------------------------ */

/* The squared distance; on the sphere minus the cosine, which gives the same order of centres. */
static double distance_to(const ts_plain *p, int64_t i, int64_t j) {
    const int64_t d = p->problem.d;
    if (!p->algorithm->unit) return squared_distance(p, i, j);
    double sum = 0;
    for (int64_t a = 0; a < d; a++) sum += ts_point_at(&p->points, i, a) * p->centers[j * d + a];
    return -sum;
}

/* The measure by which a shared point is labelled: its share, or minus the distance of its code to the cluster's. */
static double likeness(const ts_plain *p, int64_t i, int64_t j) {
    if (p->algorithm->by_code) return -ts_plain_code_distance(p, i, j);
    return p->r[i * p->problem.k + j];
}

static void assign_softly(ts_plain *p, int64_t i) {
    const int64_t k = p->problem.k;
    double *r = p->shares + i * k;
    for (int64_t j = 0; j < k; j++) r[j] = distance_to(p, i, j);
    p->algorithm->respond(&p->settings, k, r);
    for (int64_t j = 0; j < k; j++) p->r[i * k + j] = kept(p, r[j]);
    p->state.labels[i] = 0;
    for (int64_t j = 1; j < k; j++)
        if (likeness(p, i, j) > likeness(p, i, p->state.labels[i])) p->state.labels[i] = j;
}

static void assign_hard(ts_plain *p, int64_t i) {
    double least = distance_to(p, i, 0);
    p->state.labels[i] = 0;
    for (int64_t j = 1; j < p->problem.k; j++) {
        const double distance = distance_to(p, i, j);
        if (distance < least) least = distance, p->state.labels[i] = j;
    }
}

static double cost_of_medoids(const ts_plain *p) {
    double cost = 0;
    for (int64_t i = 0; i < p->problem.n; i++) cost += sqrt(squared_distance(p, i, p->state.labels[i]));
    return cost;
}

static int compare_medoids(const ts_plain *p) {
    for (int64_t j = 0; j < p->problem.k; j++)
        if (p->state.medoids[j] != p->best_medoids[j]) return p->state.medoids[j] < p->best_medoids[j] ? -1 : 1;
    return 0;
}

static void tend_medoids(ts_plain *p) {
    for (int64_t j = 0; j < p->problem.k; j++) p->state.labels[p->state.medoids[j]] = j;
    const double cost = cost_of_medoids(p);
    if (cost < p->best_cost || (cost <= p->best_cost && compare_medoids(p) < 0)) {
        p->best_cost = cost;
        memcpy(p->best_medoids, p->state.medoids, (size_t)p->problem.k * sizeof *p->best_medoids);
    }
}

void ts_plain_assign(ts_plain *p) {
    const int64_t n = p->problem.n, k = p->problem.k;
    if (p->r != NULL) {
        memcpy(p->previous, p->r, (size_t)(n * k) * sizeof *p->r);
#pragma omp parallel for if (ts_worth_parallel(n * k * p->problem.d))
        for (int64_t i = 0; i < n; i++) assign_softly(p, i);
        return;
    }
    memcpy(p->before, p->state.labels, (size_t)n * sizeof *p->before);
#pragma omp parallel for if (ts_worth_parallel(n * k * p->problem.d))
    for (int64_t i = 0; i < n; i++) assign_hard(p, i);
    if (p->algorithm->medoids) tend_medoids(p);
}

void ts_plain_adopt_labels(ts_plain *p, const int64_t *labels) {
    memcpy(p->state.labels, labels, (size_t)p->problem.n * sizeof *labels);
}

void ts_plain_adopt_centers(ts_plain *p, const double *centers) {
    memcpy(p->centers, centers, (size_t)(p->problem.k * p->problem.d) * sizeof *centers);
    show_centers(p);
}

double ts_plain_gap(const ts_plain *p, int64_t i, int64_t j) {
    double (*const measure)(const ts_plain *, int64_t, int64_t) =
        p->algorithm->by_code ? ts_plain_code_distance : distance_to;
    double least = INFINITY;
    for (int64_t l = 0; l < p->problem.k; l++) least = fmin(least, measure(p, i, l));
    return measure(p, i, j) - least;
}

const double *ts_plain_responsibilities(const ts_plain *p) {
    return p->r;
}

static bool same_assignment(const ts_plain *p) {
    const int64_t n = p->problem.n, k = p->problem.k;
    if (p->r == NULL)
        return p->state.steps > 1 && memcmp(p->before, p->state.labels, (size_t)n * sizeof *p->before) == 0;
    for (int64_t i = 0; i < n * k; i++)
        if (!(fabs(p->r[i] - p->previous[i]) <= 1e-6)) return false;
    return true;
}

/* ---- moving the centres ------------------------------------------------------------------------------------------ */

static void sort_members(ts_plain *p) {
    const int64_t n = p->problem.n, k = p->problem.k;
    memset(p->first, 0, (size_t)(k + 1) * sizeof *p->first);
    for (int64_t i = 0; i < n; i++) p->first[p->state.labels[i] + 1]++;
    for (int64_t j = 0; j < k; j++) p->first[j + 1] += p->first[j];
    memcpy(p->left, p->first, (size_t)k * sizeof *p->left); /* the place of the next member */
    for (int64_t i = 0; i < n; i++) p->members[p->left[p->state.labels[i]]++] = i;
    for (int64_t j = 0; j < k; j++) p->left[j] = p->first[j + 1] - p->first[j];
    for (int64_t i = 0; i < n; i++) p->own[i] = squared_distance(p, i, p->state.labels[i]);
}

/* Computes the weights of the members of a hard cluster. */
static void weigh_members(ts_plain *p, int64_t j) {
    const int64_t count = p->first[j + 1] - p->first[j], *member = p->members + p->first[j];
    for (int64_t m = 0; m < count; m++) {
        p->scores[m] = -p->settings.gamma * p->own[member[m]];
        p->weights[m] = 1;
    }
    if (p->algorithm->weigh != NULL) p->algorithm->weigh(p, j, count, p->scores, p->weights);
}

/* Adds to coordinate a of the sum. In a problem stated in double the rounding error is carried. */
static void add(ts_plain *p, int64_t a, double x) {
    const double before = p->sum[a];
    p->sum[a] += x;
    if (!p->exact) return;
    p->carry[a] += fabs(before) >= fabs(x) ? before - p->sum[a] + x : x - p->sum[a] + before;
}

/* Coordinate a of the sum, including the carry, divided by s. */
static double divided(const ts_plain *p, int64_t a, double s) {
    const double quotient = p->sum[a] / s;
    return p->exact ? quotient + (fma(-quotient, s, p->sum[a]) + p->carry[a]) / s : quotient;
}

/* Writes the mean to centre j; on the sphere its direction, if it has one. */
static void write_center(ts_plain *p, int64_t j, double mass) {
    const int64_t d = p->problem.d;
    double squares = 0, scale = mass;
    for (int64_t a = 0; a < d; a++) squares += divided(p, a, mass) * divided(p, a, mass);
    if (p->algorithm->unit && squares < (double)d * (p->exact ? TS_LOST_EXACT : TS_LOST_DIRECTION) / 3) return;
    if (p->algorithm->unit) scale = mass * sqrt(squares);
    for (int64_t a = 0; a < d; a++) p->centers[j * d + a] = kept(p, divided(p, a, scale));
}

static bool is_row(const ts_plain *p, int64_t i, const double *center) {
    for (int64_t a = 0; a < p->problem.d; a++)
        if (ts_point_at(&p->points, i, a) != center[a]) return false;
    return true;
}

/* Moves centre j to the weighted mean of `count` points, those in `rows`, or all if that is NULL. */
static void move_center(ts_plain *p, int64_t j, int64_t count, const int64_t *rows) {
    const int64_t d = p->problem.d;
    double mass = 0;
    memset(p->sum, 0, (size_t)d * sizeof *p->sum);
    memset(p->carry, 0, (size_t)d * sizeof *p->carry);
    for (int64_t m = 0; m < count; m++) {
        const int64_t i = rows != NULL ? rows[m] : m;
        mass += p->weights[m];
        for (int64_t a = 0; a < d; a++) add(p, a, p->weights[m] * ts_point_at(&p->points, i, a));
    }
    write_center(p, j, mass);
    for (int64_t m = count - 1; p->algorithm->medoids && m >= 0; m--)
        if (is_row(p, rows[m], p->centers + j * d)) p->state.medoids[j] = rows[m];
}

/* Does no point belong to cluster j? */
static bool is_empty(const ts_plain *p, int64_t j) {
    bool empty = p->first[j + 1] == p->first[j];
    for (int64_t i = 0; empty && p->r != NULL && i < p->problem.n; i++) empty = !(p->r[i * p->problem.k + j] > 0);
    return empty && !p->algorithm->by_code;
}

static void replace_center(ts_plain *p, int64_t j, int64_t i) {
    place_on_row(p, j, i);
    p->state.empty_repairs++;
}

static double rounding_of(const ts_plain *p) {
    return sizeof(ts_real) == sizeof(float) && !p->exact ? FLT_EPSILON : DBL_EPSILON;
}

/* Does the point lie on the centre it belonged to, up to the rounding of a mean of n numbers and, on the sphere, of
 * directions? */
static bool is_at_its_center(const ts_plain *p, int64_t i) {
    const double share = (double)p->problem.n * DBL_EPSILON + (p->algorithm->unit ? 4 * rounding_of(p) : 0);
    double square = 0;
    for (int64_t a = 0; a < p->problem.d; a++) square += pow(ts_point_at(&p->points, i, a), 2);
    return !(p->own[i] > share * share * square);
}

/* Gives empty cluster j the farthest point of a cluster with another one; own[i] = -1 marks the points given away. */
static void give_farthest(ts_plain *p, int64_t j) {
    int64_t best = -1;
    for (int64_t i = 0; i < p->problem.n; i++)
        if (p->left[p->state.labels[i]] > 1 && p->own[i] > 0 && !is_at_its_center(p, i) &&
            (best < 0 || p->own[i] > p->own[best]))
            best = i;
    if (best < 0) return;
    p->left[p->state.labels[best]]--;
    p->own[best] = -1;
    replace_center(p, j, best);
}

static void give_random(ts_plain *p, int64_t j) {
    const ts_rng rng = {p->problem.seed, ts_rng_stream("empty cluster"), (uint32_t)p->state.steps};
    const int64_t i = ts_rng_below(rng, (uint64_t)j, p->problem.n);
    if (!is_at_its_center(p, i)) replace_center(p, j, i);
}

static ts_status fill_empty(ts_plain *p, ts_error *error) {
    for (int64_t j = 0; j < p->problem.k; j++) {
        if (!is_empty(p, j)) continue;
        switch (p->problem.empty) {
        case TS_EMPTY_KEEP: break;
        case TS_EMPTY_RANDOM: give_random(p, j); break;
        case TS_EMPTY_FARTHEST: give_farthest(p, j); break;
        case TS_EMPTY_ERROR:
            return ts_error_set(error, TS_ERROR_VALUE, "cluster %lld is empty at step %lld", (long long)j,
                                (long long)p->state.steps);
        }
    }
    return TS_OK;
}

/* Moves centre j; returns whether it stayed in its place, up to rounding. */
static bool move(ts_plain *p, int64_t j) {
    const int64_t n = p->problem.n, k = p->problem.k, d = p->problem.d;
    const double eps = rounding_of(p);
    bool rest = true;
    if (is_empty(p, j)) return true;
    memcpy(p->was, p->centers + j * d, (size_t)d * sizeof *p->was);
    if (p->r == NULL) {
        weigh_members(p, j);
        move_center(p, j, p->first[j + 1] - p->first[j], p->members + p->first[j]);
    } else {
        for (int64_t i = 0; i < n; i++) p->weights[i] = p->r[i * k + j];
        if (p->algorithm->share != NULL) p->algorithm->share(p, j, p->weights);
        move_center(p, j, n, NULL);
    }
    for (int64_t a = 0; a < d; a++) {
        const double now = p->centers[j * d + a];
        rest = rest && fabs(now - p->was[a]) <= 1e-6 * p->widest + 4 * eps * fabs(now);
    }
    return rest;
}

ts_status ts_plain_update(ts_plain *p, ts_error *error) {
    const int64_t repairs = p->state.empty_repairs;
    bool at_rest = true;
    p->state.steps++;
    p->state.trimmed = 0;
    sort_members(p);
    for (int64_t j = 0; j < p->problem.k; j++) at_rest = move(p, j) && at_rest;
    if (fill_empty(p, error) != TS_OK) return error->status;
    show_centers(p);
    p->state.converged = same_assignment(p) && at_rest && !p->algorithm->medoids && p->state.empty_repairs == repairs;
    return TS_OK;
}

ts_status ts_plain_step(ts_plain *p, ts_error *error) {
    ts_plain_assign(p);
    return ts_plain_update(p, error);
}

static void trim(ts_plain *p) {
    sort_members(p);
    for (int64_t j = 0; j < p->problem.k; j++) {
        if (p->first[j + 1] == p->first[j]) continue;
        weigh_members(p, j);
        for (int64_t m = p->first[j]; m < p->first[j + 1]; m++)
            if (!(p->weights[m - p->first[j]] > 0)) {
                p->state.labels[p->members[m]] = -1;
                p->state.trimmed++;
            }
    }
}

ts_status ts_plain_finish(ts_plain *p, ts_error *error) {
    (void)error;
    ts_plain_assign(p);
    if (p->algorithm->medoids) {
        memcpy(p->state.medoids, p->best_medoids, (size_t)p->problem.k * sizeof *p->best_medoids);
        for (int64_t j = 0; j < p->problem.k; j++) place_on_row(p, j, p->state.medoids[j]);
        show_centers(p);
        ts_plain_assign(p);
    }
    if (p->algorithm->trims) trim(p);
    return TS_OK;
}
