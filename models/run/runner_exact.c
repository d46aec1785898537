/* runner_exact.c: runners with a streamed layer whose points and centres are doubles. The centres are the rows of
 * c->places [k,d]; there are no tokens, because centres are only coordinates here. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "../../autograd/parallel.h"
#include "../data/extent.h"
#include "../data/row_distance.h"
#include "runner_parts.h"

/* Is there no norm, or one of all data coordinates to length 1, with dot products as scores? */
static bool norm_fits(const ts_definition *definition, int64_t d, int64_t k) {
    const ts_norm_definition *norm = &definition->norm;
    const ts_place place = ts_range_place(&norm->range, definition->construction, d, k);
    if (!norm->present) return true;
    return definition->cross_points.score == TS_SCORE_DOT && norm->range.group == TS_GROUP_DATA && place.first == 0 &&
           place.count == d && !(norm->eps > 0) && !(fabs(norm->length - 1) > 0);
}

bool ts_runner_fits_exactly(const ts_definition *definition, int64_t d, int64_t k) {
    return ts_streamed_layer_fits(definition, d, k) && norm_fits(definition, d, k);
}

/* ---- making one -------------------------------------------------------------------------------------------------- */

static ts_status out_of_memory(ts_error *error) {
    return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a runner");
}

static ts_status no_direction(const char *what, int64_t i, ts_error *error) {
    return ts_error_set(error, TS_ERROR_VALUE, "%s %lld is zero: it has no direction", what, (long long)i + 1);
}

/* Finds the factors that make the points unit vectors. Scores do not need them: the length of a point does not change
 * which dot product is the greatest. */
static ts_status find_factors(ts_runner *c, const ts_points *points, ts_error *error) {
    int64_t zero = points->n;
    c->factors = malloc((size_t)points->n * sizeof *c->factors);
    if (c->factors == NULL) return out_of_memory(error);
#pragma omp parallel for reduction(min : zero) if (ts_worth_parallel(points->n * points->d))
    for (int64_t i = 0; i < points->n; i++) {
        const double length = ts_point_length(points, i);
        c->factors[i] = 1 / length;
        zero = !(length > 0) && i < zero ? i : zero;
    }
    return zero < points->n ? no_direction("row", zero, error) : TS_OK;
}

/* Scales a centre to length 1. */
static void to_sphere(int64_t d, double *center) {
    const ts_points row = {.n = 1, .d = d, .exact = center};
    const double length = ts_point_length(&row, 0);
    for (int64_t a = 0; a < d; a++) center[a] /= length;
}

static ts_status place_centers(ts_runner *c, ts_error *error) {
    const int64_t d = c->model.d, k = c->model.k;
    const ts_points given = {.n = k, .d = d, .exact = c->problem.exact_centers};
    memcpy(c->places, c->problem.exact_centers, (size_t)(k * d) * sizeof *c->places);
    for (int64_t j = 0; c->model.has_norm && j < k; j++) {
        if (!(ts_point_length(&given, j) > 0)) return no_direction("initial centre", j, error);
        to_sphere(d, c->places + j * d);
    }
    return TS_OK;
}

ts_status ts_runner_begin_exactly(ts_runner *c, const ts_definition *definition, ts_error *error) {
    const ts_problem *p = &c->problem;
    const ts_points given = {.n = p->k, .d = p->d, .exact = p->exact_centers};
    ts_streamed_rows rows = {.points = ts_problem_points(p), .whole_shares = true};
    c->moved = malloc((size_t)(p->k * p->d) * sizeof *c->moved);
    if (c->moved == NULL) return out_of_memory(error);
    if (c->model.has_norm && find_factors(c, &rows.points, error) != TS_OK) return error->status;
    rows.weights = c->factors;
    const ts_extent extent = ts_extent_of_points(&rows.points, c->factors);
    if (!ts_streamed_layer_reaches(extent.reach) || !ts_streamed_layer_reaches(ts_extent_of_points(&given, NULL).reach))
        return ts_error_set(error, TS_ERROR_VALUE, "the numbers are not finite, or their squares overflow");
    c->widest = extent.widest;
    if (place_centers(c, error) != TS_OK) return error->status;
    c->streamed = ts_streamed_layer_create(definition, &rows, p->k, error);
    return c->streamed != NULL ? TS_OK : error->status;
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

/* Scales the means to length 1; a mean without direction keeps its old place. */
static void to_directions(ts_runner *c) {
    const int64_t d = c->model.d;
    for (int64_t j = 0; j < c->model.k; j++) {
        double *mean = c->moved + j * d, sum = 0;
        for (int64_t a = 0; a < d; a++) sum += mean[a] * mean[a];
        c->lost[j] = sum < (double)d * TS_LOST_EXACT / 3;
        if (!c->lost[j]) to_sphere(d, mean);
    }
}

static bool at_rest(const ts_runner *c) {
    bool rest = true;
    for (int64_t i = 0; i < c->model.k * c->model.d; i++)
        rest = rest && ts_runner_rests(c->moved[i], c->places[i], c->widest, DBL_EPSILON);
    return rest;
}

ts_status ts_runner_step_exactly(ts_runner *c, bool *same, bool *rest, ts_error *error) {
    ts_streamed_step step = {.means = c->moved, .occupied = c->occupied};
    if (ts_streamed_layer_step(c->streamed, c->places, c->state.labels, &step, error) != TS_OK) return error->status;
    c->assigned = true;
    *same = step.same;
    if (c->model.has_norm) to_directions(c);
    if (ts_runner_repair(c, NULL, error) != TS_OK) return error->status;
    *rest = at_rest(c);
    memcpy(c->places, c->moved, (size_t)(c->model.k * c->model.d) * sizeof *c->places);
    return TS_OK;
}
