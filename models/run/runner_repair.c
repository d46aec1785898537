/* runner_repair.c: the part of a runner outside its layer: empty clusters, centres without direction, medoids. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../autograd/parallel.h"
#include "runner_parts.h"

/* Copies a token except its code. */
static void copy_place(const ts_runner *c, ts_real *to, const ts_real *from) {
    const int64_t d = c->model.d, code = c->model.c;
    memcpy(to, from, (size_t)d * sizeof *to);
    memcpy(to + d + code, from + d + code, (size_t)(c->model.s - code) * sizeof *to);
}

/* Moves the centre of cluster j back to its old place. */
static void keep_place(ts_runner *c, int64_t j, ts_real *centers) {
    const int64_t d = c->model.d, e = c->model.e;
    if (c->exact)
        memcpy(c->moved + j * d, c->places + j * d, (size_t)d * sizeof *c->moved);
    else
        copy_place(c, centers + j * e, c->tokens + j * e);
}

/* Coordinate a of point i, as the layer uses it. */
static double coordinate(const ts_runner *c, int64_t i, int64_t a) {
    if (!c->exact) return (double)c->data[i * c->data_step + a];
    const ts_points points = {c->problem.n, c->model.d, c->problem.points, c->problem.exact_points};
    return (c->factors != NULL ? c->factors[i] : 1) * ts_point_at(&points, i, a);
}

/* The squared distance of point i to the old place of centre j. */
static double squared_distance(const ts_runner *c, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t a = 0; a < c->model.d; a++) {
        const double place = c->exact ? c->places[j * c->model.d + a] : (double)c->tokens[j * c->model.e + a];
        const double difference = coordinate(c, i, a) - place;
        sum += difference * difference;
    }
    return sum;
}

/* Does point i, at this squared distance, lie on a centre, up to the rounding of a mean of n points and of unit
 * vectors? */
static bool lies_on_center(const ts_runner *c, int64_t i, double distance) {
    const double eps = sizeof(ts_real) == sizeof(float) && !c->exact ? FLT_EPSILON : DBL_EPSILON;
    const double rounding = (double)c->problem.n * DBL_EPSILON + (c->model.has_norm ? 4 * eps : 0);
    double sum = 0;
    for (int64_t a = 0; a < c->model.d; a++) sum += coordinate(c, i, a) * coordinate(c, i, a);
    return distance <= rounding * rounding * sum;
}

/* ---- empty clusters ---------------------------------------------------------------------------------------------- */

static void find_occupied(ts_runner *c) {
    const int64_t k = c->model.k, n = c->problem.n;
    if (c->streamed) return; /* the step found them */
    memset(c->occupied, 0, (size_t)k * sizeof *c->occupied);
    for (int64_t i = 0; i < n; i++) {
        c->occupied[c->state.labels[i]] = true;
        if (!c->counts_shares) continue;
        const ts_real *share = c->points + i * c->model.e + c->model.d;
        for (int64_t j = 0; j < k; j++)
            if (share[j] != 0) c->occupied[j] = true;
    }
}

/* The point for an empty cluster under TS_EMPTY_FARTHEST, or -1. members[j] is the number of points left in cluster j,
 * own[i] the squared distance of point i to its centre, below 0 once the point is taken. */
static int64_t farthest_point(const ts_runner *c, const int64_t *members, const double *own) {
    int64_t found = -1;
    double most = 0;
    for (int64_t i = 0; i < c->problem.n; i++)
        if (own[i] > most && members[c->state.labels[i]] > 1 && !lies_on_center(c, i, own[i])) most = own[i], found = i;
    return found;
}

static void move_to_point(ts_runner *c, int64_t cluster, int64_t point, ts_real *centers) {
    const ts_transformer *m = &c->model;
    if (c->exact)
        for (int64_t a = 0; a < m->d; a++) c->moved[cluster * m->d + a] = coordinate(c, point, a);
    else if (c->streamed) /* its tokens hold only data and code */
        memcpy(centers + cluster * m->e, c->data + point * c->data_step, (size_t)m->d * sizeof *centers);
    else
        copy_place(c, centers + cluster * m->e, c->points + point * m->e);
    c->state.empty_repairs++;
}

static ts_status fill_with_farthest(ts_runner *c, ts_real *centers, ts_error *error) {
    const int64_t n = c->problem.n, k = c->model.k;
    int64_t *members = calloc((size_t)k, sizeof *members);
    double *own = malloc((size_t)n * sizeof *own);
    const bool room = members != NULL && own != NULL;
    for (int64_t i = 0; room && i < n; i++) members[c->state.labels[i]]++;
#pragma omp parallel for if (ts_worth_parallel(n * c->model.d))
    for (int64_t i = 0; i < (room ? n : 0); i++) own[i] = squared_distance(c, i, c->state.labels[i]);
    for (int64_t j = 0; room && j < k; j++) {
        const int64_t point = c->occupied[j] ? -1 : farthest_point(c, members, own);
        if (point < 0) continue;
        own[point] = -1;
        members[c->state.labels[point]]--;
        move_to_point(c, j, point, centers);
    }
    free(members);
    free(own);
    return room ? TS_OK : ts_error_set(error, TS_ERROR_MEMORY, "out of memory for an empty cluster");
}

static void fill_at_random(ts_runner *c, int64_t cluster, ts_real *centers) {
    const ts_rng rng = {c->problem.seed, ts_rng_stream("empty cluster"), (uint32_t)c->state.steps};
    const int64_t point = ts_rng_below(rng, (uint64_t)cluster, c->problem.n);
    if (!lies_on_center(c, point, squared_distance(c, point, c->state.labels[point])))
        move_to_point(c, cluster, point, centers);
}

static ts_status treat_empty(ts_runner *c, ts_real *centers, ts_error *error) {
    int64_t empty = 0;
    find_occupied(c);
    for (int64_t j = 0; j < c->model.k; j++) {
        if (c->occupied[j]) continue;
        empty++;
        keep_place(c, j, centers);
        if (c->problem.empty == TS_EMPTY_ERROR)
            return ts_error_set(error, TS_ERROR_VALUE, "cluster %lld is empty at step %lld", (long long)j,
                                (long long)c->state.steps);
        if (c->problem.empty == TS_EMPTY_RANDOM) fill_at_random(c, j, centers);
    }
    return empty > 0 && c->problem.empty == TS_EMPTY_FARTHEST ? fill_with_farthest(c, centers, error) : TS_OK;
}

void ts_runner_find_lost(ts_runner *c, const ts_real *means) {
    const ts_norm_layer *norm = &c->model.norm;
    const double gain = (double)ts_params_value(c->model.params, norm->gain)[0], count = (double)norm->count;
    const double length = gain * gain * count; /* squared */
    for (int64_t j = 0; j < c->model.k; j++) {
        const ts_real *token = means + j * c->model.e + norm->first;
        double sum = 0;
        for (int64_t a = 0; a < norm->count; a++) sum += (double)token[a] * (double)token[a];
        c->lost[j] = sum < count * TS_LOST_DIRECTION / 3 * length;
    }
}

ts_status ts_runner_repair(ts_runner *c, ts_real *centers, ts_error *error) {
    for (int64_t j = 0; j < c->model.k; j++)
        if (c->lost[j]) keep_place(c, j, centers);
    return c->may_empty ? treat_empty(c, centers, error) : TS_OK;
}

/* ---- medoids ----------------------------------------------------------------------------------------------------- */

ts_status ts_runner_snap_medoids(ts_runner *c, ts_error *error) {
    bool *taken = calloc((size_t)c->problem.n, sizeof *taken);
    if (taken == NULL) return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for medoids");
    for (int64_t j = 0; j < c->model.k; j++) {
        int64_t row = -1;
        double least = INFINITY;
        for (int64_t i = 0; i < c->problem.n; i++) {
            const double distance = taken[i] ? INFINITY : squared_distance(c, i, j);
            if (distance < least || (row < 0 && !taken[i])) least = distance, row = i;
        }
        taken[row] = true;
        c->state.medoids[j] = c->best_medoids[j] = row;
        copy_place(c, c->tokens + j * c->model.e, c->points + row * c->model.e);
    }
    free(taken);
    return TS_OK;
}

void ts_runner_pin_medoids(ts_runner *c) {
    const int64_t width = c->model.c;
    for (int64_t j = 0; j < c->model.k; j++) {
        const int64_t row = c->state.medoids[j];
        c->state.labels[row] = j;
        memcpy(c->points + row * c->model.e + c->model.d, c->model.book + j * width, (size_t)width * sizeof *c->points);
    }
}

static bool same_place(const ts_runner *c, const ts_real *a, const ts_real *b) {
    for (int64_t l = 0; l < c->model.d; l++)
        if (a[l] != b[l]) return false;
    return true;
}

/* Finds the row that each centre equals, and copies it, so that they agree to the sign of a zero. */
void ts_runner_find_medoids(ts_runner *c) {
    for (int64_t i = c->problem.n - 1; i >= 0; i--) {
        const int64_t j = c->state.labels[i];
        ts_real *center = c->tokens + j * c->model.e;
        if (!same_place(c, c->points + i * c->model.e, center)) continue;
        c->state.medoids[j] = i;
        copy_place(c, center, c->points + i * c->model.e);
    }
}

void ts_runner_remember_medoids(ts_runner *c) {
    const size_t size = (size_t)c->model.k * sizeof *c->best_medoids;
    double cost = 0;
    for (int64_t i = 0; i < c->problem.n; i++) cost += sqrt(squared_distance(c, i, c->state.labels[i]));
    bool lower = false;
    for (int64_t j = 0; j < c->model.k; j++)
        if (c->state.medoids[j] != c->best_medoids[j]) {
            lower = c->state.medoids[j] < c->best_medoids[j];
            break;
        }
    if (cost > c->best_cost || (!(cost < c->best_cost) && !lower)) return;
    c->best_cost = cost;
    memcpy(c->best_medoids, c->state.medoids, size);
}

void ts_runner_restore_medoids(ts_runner *c) {
    for (int64_t j = 0; j < c->model.k; j++) {
        const int64_t row = c->state.medoids[j] = c->best_medoids[j];
        copy_place(c, c->tokens + j * c->model.e, c->points + row * c->model.e);
    }
}
