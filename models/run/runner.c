/* runner.c: creates runners, runs their steps, and reads labels and weights. */
#include "runner.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../autograd/parallel.h"
#include "../data/extent.h"
#include "runner_parts.h"

/* Two assignments are the same if no weight differs by more than this; hard codes are then equal. Scores computed from
 * squared norms (construction dot) contain their rounding, which keeps changing soft weights: the bound is then larger.
 */
static const double SAME_WEIGHT = 1e-6, MOST_SAME_WEIGHT = 1e-2;
static const double EPS = sizeof(ts_real) == sizeof(float) ? FLT_EPSILON : DBL_EPSILON;
/* Centres are at rest if none has moved by more than this fraction of the range of the widest column. */
static const double SAME_PLACE = 1e-6;

static ts_status check_problem(const ts_problem *p, ts_error *error) {
    if (p->k < 1) return ts_error_set(error, TS_ERROR_VALUE, "k = %lld: at least 1 is needed", (long long)p->k);
    if (p->d < 1) return ts_error_set(error, TS_ERROR_VALUE, "the points have no coordinates");
    if (p->k > p->n)
        return ts_error_set(error, TS_ERROR_VALUE, "k = %lld but only %lld rows", (long long)p->k, (long long)p->n);
    return TS_OK;
}

static bool take_memory(ts_runner *c) {
    const size_t n = (size_t)c->problem.n, k = (size_t)c->problem.k, d = (size_t)c->problem.d, e = (size_t)c->model.e;
    c->tape = ts_tape_create(TS_INFER);
    c->tokens = malloc(k * e * sizeof *c->tokens);
    c->occupied = malloc(k * sizeof *c->occupied);
    c->lost = calloc(k, sizeof *c->lost);
    c->best_medoids = malloc(k * sizeof *c->best_medoids);
    c->state.medoids = c->medoids ? malloc(k * sizeof *c->state.medoids) : NULL;
    c->state.centers = malloc(k * d * sizeof *c->state.centers);
    c->state.exact_centers = c->places = malloc(k * d * sizeof *c->places);
    c->state.labels = calloc(n, sizeof *c->state.labels);
    return c->tape && c->tokens && c->occupied && c->lost && c->best_medoids && c->state.centers && c->places &&
           c->state.labels && (!c->medoids || c->state.medoids);
}

static ts_status tape_failure(const ts_runner *c, ts_error *error) {
    return ts_error_set(error, ts_tape_status(c->tape), "%s", ts_tape_error(c->tape));
}

/* The length of the coordinates that the norm normalises. */
static double norm_length(const ts_transformer *model, const ts_real *token) {
    double sum = 0;
    for (int64_t a = model->norm.first; a < model->norm.first + model->norm.count; a++)
        sum += (double)token[a] * (double)token[a];
    return sqrt(sum);
}

/* Embeds rows and applies the norm, in blocks. Writes the first `width` numbers of each token to `out`. */
static ts_status enter(ts_runner *c, int64_t rows, const ts_real *data, const ts_real *codes, int64_t width,
                       ts_real *out, const char *what, ts_error *error) {
    enum { BLOCK = 16384 };
    const ts_transformer *m = &c->model;
    for (int64_t first = 0; first < rows; first += BLOCK) {
        const int64_t count = rows - first < BLOCK ? rows - first : BLOCK;
        ts_tape_reset(c->tape);
        ts_tensor *tokens = ts_constant(c->tape, TS_SHAPE(count, m->e), NULL);
        if (ts_tape_status(c->tape) != TS_OK) return tape_failure(c, error);
        ts_transformer_embed(m, count, data + first * m->d, codes == NULL ? NULL : codes + first * m->c, tokens->data);
        tokens = ts_transformer_norm_input(m, c->tape, tokens);
        if (ts_tape_status(c->tape) != TS_OK) return tape_failure(c, error);
        for (int64_t i = 0; i < count; i++) {
            const ts_real *token = tokens->data + i * m->e;
            if (m->has_norm && !(norm_length(m, token) > 0))
                return ts_error_set(error, TS_ERROR_VALUE, "%s %lld is zero: it has no direction", what,
                                    (long long)(first + i) + 1);
            memcpy(out + (first + i) * width, token, (size_t)width * sizeof *out);
        }
    }
    return TS_OK;
}

static void read_centers(ts_runner *c) {
    const int64_t d = c->model.d, e = c->model.e;
    for (int64_t j = 0; j < c->model.k; j++)
        for (int64_t a = 0; a < d; a++) {
            if (!c->exact) c->places[j * d + a] = (double)c->tokens[j * e + a];
            c->state.centers[j * d + a] = (ts_real)c->places[j * d + a];
        }
}

static double same_weight(const ts_runner *c) {
    double norm = 0;
    if (c->model.construction != TS_CONSTRUCTION_DOT) return SAME_WEIGHT;
    for (int64_t i = 0; i < c->problem.n; i++)
        norm = fmax(norm, (double)c->points[i * c->model.e + c->model.d + c->model.c]);
    return fmin(SAME_WEIGHT + 8 * EPS * c->model.cross_points.spec.gamma * norm, MOST_SAME_WEIGHT);
}

static ts_status out_of_memory(const ts_runner *c, ts_error *error) {
    const bool long_codes = c != NULL && c->model.construction == TS_CONSTRUCTION_ONEHOT && c->model.k > c->model.d;
    return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a runner%s",
                        long_codes ? ": its tokens have one-hot codes, binary ones are shorter" : "");
}

/* Finds the rows that a streamed layer would read: the caller's, or normalised ones. */
static ts_status find_rows(ts_runner *c, ts_error *error) {
    const ts_problem *p = &c->problem;
    c->data = p->points;
    c->data_step = p->d;
    if (!c->model.has_norm) return TS_OK;
    c->points = malloc((size_t)(p->n * p->d) * sizeof *c->points);
    c->data = c->points;
    if (c->points == NULL) return out_of_memory(c, error);
    return enter(c, p->n, p->points, NULL, p->d, c->points, "row", error);
}

/* Creates a streamed layer if it computes the same as the ops. */
static ts_status choose_layer(ts_runner *c, const ts_definition *definition, ts_error *error) {
    const ts_problem *p = &c->problem;
    if (p->op_by_op || !ts_streamed_layer_fits(definition, p->d, p->k)) return TS_OK;
    c->exact = p->exact_centers != NULL && ts_runner_fits_exactly(definition, p->d, p->k);
    if (c->exact) return ts_runner_begin_exactly(c, definition, error);
    if (find_rows(c, error) != TS_OK) return error->status;
    const ts_extent points = ts_extent_of(p->n, p->d, p->d, c->data),
                    centers = ts_extent_of(p->k, p->d, p->d, p->centers);
    c->widest = points.widest;
    if (ts_streamed_layer_reaches(points.reach) && ts_streamed_layer_reaches(centers.reach)) {
        const ts_streamed_rows rows = {.points = {.n = p->n, .d = p->d, .real = c->data}};
        c->streamed = ts_streamed_layer_create(definition, &rows, p->k, error);
        return c->streamed != NULL ? TS_OK : error->status;
    }
    free(c->points);
    c->points = NULL;
    return TS_OK;
}

/* Computes the tokens of the points. */
static ts_status embed_points(ts_runner *c, ts_error *error) {
    const ts_problem *p = &c->problem;
    const int64_t e = c->model.e;
    c->points = malloc((size_t)(p->n * e) * sizeof *c->points);
    c->data = c->points;
    c->data_step = e;
    if (c->points == NULL) return out_of_memory(c, error);
    if (!c->model.has_norm)
        ts_transformer_embed(&c->model, p->n, p->points, NULL, c->points);
    else if (enter(c, p->n, p->points, NULL, e, c->points, "row", error) != TS_OK)
        return error->status;
    c->same_weight = same_weight(c);
    c->widest = ts_extent_of(p->n, p->d, e, c->points).widest;
    return TS_OK;
}

static ts_status fill(ts_runner *c, const ts_definition *definition, ts_error *error) {
    const ts_problem *p = &c->problem;
    if (choose_layer(c, definition, error) != TS_OK) return error->status;
    if (c->streamed == NULL && embed_points(c, error) != TS_OK) return error->status;
    if (!c->exact && enter(c, p->k, p->centers, c->model.book, c->model.e, c->tokens, "initial centre", error) != TS_OK)
        return error->status;
    c->problem.centers = NULL; /* copied: the caller's need not outlive this call */
    c->problem.exact_centers = NULL;
    if (c->medoids && ts_runner_snap_medoids(c, error) != TS_OK) return error->status;
    read_centers(c);
    return TS_OK;
}

/* Can a centre end without points, and is that seen in the shares of its code? */
static void note_emptiness(ts_runner *c, const ts_definition *definition) {
    const ts_simplex *map = definition->cross_centers.simplex.map;
    const bool shares = map->domain == TS_SCORES_NONNEGATIVE, matches = map->argmax != TS_NO_ARGMAX;
    c->may_empty = c->model.own_code || shares || matches;
    c->counts_shares = shares && !c->model.own_code && definition->construction != TS_CONSTRUCTION_BINARY;
}

ts_runner *ts_runner_create(const ts_definition *definition, const ts_problem *problem, ts_error *error) {
    if (check_problem(problem, error) != TS_OK) return NULL;
    if (definition->construction == TS_CONSTRUCTION_NONE) {
        ts_error_set(error, TS_ERROR_VALUE, "%s: without a code in its tokens no assignment can be read",
                     definition->name);
        return NULL;
    }
    ts_runner *c = calloc(1, sizeof *c);
    if (c == NULL) {
        out_of_memory(c, error);
        return NULL;
    }
    c->problem = *problem;
    c->medoids = definition->medoids;
    c->trims = definition->trims;
    c->best_cost = INFINITY;
    ts_status status = ts_transformer_build(&c->model, definition, problem->d, problem->k, problem->seed, error);
    if (status == TS_OK) note_emptiness(c, definition);
    if (status == TS_OK && !take_memory(c)) status = out_of_memory(c, error);
    if (status == TS_OK) status = fill(c, definition, error);
    if (status == TS_OK) return c;
    ts_runner_free(c);
    return NULL;
}

void ts_runner_free(ts_runner *c) {
    if (c == NULL) return;
    ts_model_run_free(c->run);
    ts_transformer_clear(&c->model);
    ts_tape_free(c->tape);
    ts_streamed_layer_free(c->streamed);
    free(c->points);
    free(c->tokens);
    free(c->occupied);
    free(c->lost);
    free(c->best_medoids);
    free(c->places);
    free(c->moved);
    free(c->factors);
    free(c->state.medoids);
    free(c->state.centers);
    free(c->state.labels);
    free(c);
}

const ts_clustering *ts_runner_state(const ts_runner *runner) {
    return &runner->state;
}

size_t ts_runner_bytes(const ts_runner *runner) {
    if (runner->run != NULL) return ts_model_run_bytes(runner->run);
    const size_t streamed = runner->streamed ? ts_streamed_layer_bytes(runner->streamed) : 0;
    return ts_tape_bytes(runner->tape) + streamed;
}

bool ts_runner_is_exact(const ts_runner *c) {
    return c->exact;
}

int64_t ts_runner_onehot_rows(const ts_runner *c) {
    int64_t rows = 0;
    if (c->run != NULL) return -1;
    if (c->model.construction == TS_CONSTRUCTION_BINARY) return -1;
    if (c->streamed) return c->assigned ? c->problem.n - ts_streamed_layer_shared(c->streamed) : 0;
    for (int64_t i = 0; i < c->problem.n; i++) {
        const ts_real *share = c->points + i * c->model.e + c->model.d;
        int64_t ones = 0, zeros = 0;
        for (int64_t j = 0; j < c->model.k; j++) {
            ones += share[j] == 1;
            zeros += share[j] == 0;
        }
        rows += ones == 1 && zeros == c->model.k - 1;
    }
    return rows;
}

/* ---- steps --------------------------------------------------------------------------------------------------- */

/* Reads labels from the new tokens, stores the new codes, and returns whether the assignments are unchanged. */
static bool read_assignments(ts_runner *c, const ts_real *tokens, bool *finite) {
    const int64_t d = c->model.d, width = c->model.c, e = c->model.e, n = c->problem.n;
    bool same = true, numbers = true;
#pragma omp parallel for reduction(&& : same, numbers) if (ts_worth_parallel(n * width))
    for (int64_t i = 0; i < n; i++) {
        const ts_real *now = tokens + i * e + d;
        ts_real *before = c->points + i * e + d;
        for (int64_t l = 0; l < width; l++) numbers = numbers && isfinite(now[l]);
        for (int64_t l = 0; l < width; l++) same = same && fabs((double)now[l] - (double)before[l]) <= c->same_weight;
        memcpy(before, now, (size_t)width * sizeof *now);
        c->state.labels[i] = ts_transformer_decode(&c->model, tokens + i * e);
    }
    *finite = numbers;
    return same;
}

/* Runs the assigning half of the layer. The new tokens of the points differ from the old ones only in their codes,
 * which are copied into c->points. Returns the centres' tensor for the second half; NULL after a failure. */
static ts_tensor *assign(ts_runner *c, ts_tensor **points, bool *same) {
    ts_tape_reset(c->tape);
    ts_tensor *centers = ts_borrow(c->tape, TS_SHAPE(c->model.k, c->model.e), c->tokens);
    const ts_scope scope = ts_scope_begin(c->tape);
    *points = ts_borrow(c->tape, TS_SHAPE(c->problem.n, c->model.e), c->points);
    const ts_tensor *assigned = ts_transformer_assign(&c->model, c->tape, *points, centers, (uint32_t)c->state.steps);
    if (ts_tape_status(c->tape) != TS_OK) return NULL;
    bool finite = true;
    *same = read_assignments(c, assigned->data, &finite);
    if (!finite) {
        ts_fail(c->tape, TS_ERROR_VALUE, "the points' weights are not finite: their scores overflow");
        return NULL;
    }
    if (c->medoids) {
        ts_runner_pin_medoids(c);
        ts_runner_remember_medoids(c);
    }
    *points = ts_scope_end(c->tape, scope, *points); /* c->points now hold its output */
    return centers;
}

bool ts_runner_rests(double now, double before, double widest, double eps) {
    return fabs(now - before) <= SAME_PLACE * widest + 4 * eps * fabs(now);
}

/* Have the centres not moved, up to rounding? */
static bool at_rest(const ts_runner *c, const ts_real *centers) {
    bool rest = true;
    for (int64_t j = 0; j < c->model.k; j++)
        for (int64_t a = 0; a < c->model.d; a++) {
            const int64_t at = j * c->model.e + a;
            rest = rest && ts_runner_rests((double)centers[at], (double)c->tokens[at], c->widest, EPS);
        }
    return rest;
}

/* Both halves of the layer up to the norm and the feed-forward block, by the ops of the tape. Returns the new tokens of
 * the centres; NULL after a failure. */
static ts_tensor *move(ts_runner *c, bool *same, ts_error *error) {
    ts_tensor *points = NULL, *centers = assign(c, &points, same);
    if (centers != NULL) {
        ts_tensor *moved = ts_transformer_attend_centers(&c->model, c->tape, points, centers, (uint32_t)c->state.steps);
        if (ts_tape_status(c->tape) == TS_OK) return moved;
    }
    tape_failure(c, error);
    return NULL;
}

/* The same, streamed. */
static ts_tensor *move_streamed(ts_runner *c, bool *same, ts_error *error) {
    const int64_t k = c->model.k, d = c->model.d, e = c->model.e;
    ts_tape_reset(c->tape);
    ts_tensor *moved = ts_constant(c->tape, TS_SHAPE(k, e), c->tokens);
    double *means = ts_tape_take(c->tape, (size_t)(k * d) * sizeof *means);
    if (ts_tape_status(c->tape) != TS_OK) {
        tape_failure(c, error);
        return NULL;
    }
    ts_streamed_step step = {.means = means, .occupied = c->occupied};
    if (ts_streamed_layer_step(c->streamed, c->places, c->state.labels, &step, error) != TS_OK) return NULL;
    for (int64_t j = 0; j < k; j++) /* + 0: -0 becomes 0 */
        for (int64_t a = 0; a < d; a++) moved->data[j * e + a] = (ts_real)means[j * d + a] + 0;
    c->assigned = true;
    *same = step.same;
    return moved;
}

/* A step of a runner with tokens. */
static ts_status step_tokens(ts_runner *c, bool *same, bool *rest, ts_error *error) {
    ts_tensor *moved = (c->streamed ? move_streamed : move)(c, same, error);
    if (moved == NULL) return error->status;
    if (c->model.has_norm) ts_runner_find_lost(c, moved->data);
    moved = ts_transformer_norm_and_feed_forward(&c->model, c->tape, moved);
    if (ts_tape_status(c->tape) != TS_OK) return tape_failure(c, error);
    if (ts_runner_repair(c, moved->data, error) != TS_OK) return error->status;
    *rest = at_rest(c, moved->data);
    memcpy(c->tokens, moved->data, (size_t)(c->model.k * c->model.e) * sizeof *c->tokens);
    if (c->medoids) ts_runner_find_medoids(c);
    return TS_OK;
}

ts_status ts_runner_step(ts_runner *c, ts_error *error) {
    const int64_t repairs = c->state.empty_repairs;
    bool same = false, rest = false;
    if (c->run != NULL) return ts_runner_step_model(c, error);
    c->state.steps++;
    c->state.trimmed = 0;
    if ((c->exact ? ts_runner_step_exactly : step_tokens)(c, &same, &rest, error) != TS_OK) return error->status;
    read_centers(c);
    /* in the first step codes may equal the initial ones (binary code 0), which are not an assignment */
    c->state.converged = same && c->state.steps > 1 && rest && !c->medoids && c->state.empty_repairs == repairs;
    return TS_OK;
}

/* Trims the points to which their own centre gives no weight. */
static ts_status trim(ts_runner *c, ts_tensor *points, ts_tensor *centers, ts_error *error) {
    const int64_t n = c->problem.n;
    const ts_tensor *weights =
        ts_transformer_update_weights(&c->model, c->tape, points, centers, (uint32_t)c->state.steps);
    if (ts_tape_status(c->tape) != TS_OK) return tape_failure(c, error);
    c->state.trimmed = 0;
    for (int64_t i = 0; i < n; i++)
        if (weights->data[c->state.labels[i] * n + i] == 0) {
            c->state.labels[i] = -1;
            c->state.trimmed++;
        }
    return TS_OK;
}

static ts_status finish_streamed(ts_runner *c, ts_error *error) {
    ts_streamed_step step = {.means = NULL};
    c->assigned = true;
    return ts_streamed_layer_step(c->streamed, c->places, c->state.labels, &step, error);
}

ts_status ts_runner_finish(ts_runner *c, ts_error *error) {
    ts_tensor *points = NULL;
    bool same = false;
    if (c->run != NULL) return TS_OK; /* labels are those of its centres already */
    if (c->streamed) return finish_streamed(c, error);
    ts_tensor *centers = assign(c, &points, &same);
    if (centers == NULL) return tape_failure(c, error);
    if (c->medoids) {
        ts_runner_restore_medoids(c);
        read_centers(c);
        centers = assign(c, &points, &same);
        if (centers == NULL) return tape_failure(c, error);
    }
    return c->trims ? trim(c, points, centers, error) : TS_OK;
}

ts_status ts_runner_weights(ts_runner *c, ts_real *weights, ts_error *error) {
    const int64_t n = c->problem.n, k = c->model.k;
    if (c->run != NULL)
        return ts_error_set(error, TS_ERROR_USAGE, "a model of layers says which centre is nearest, and no weights");
    if (c->streamed) {
        ts_streamed_layer_weights(c->streamed, c->state.labels, weights);
        return TS_OK;
    }
    ts_tape_reset(c->tape);
    ts_tensor *centers = ts_borrow(c->tape, TS_SHAPE(k, c->model.e), c->tokens);
    ts_tensor *points = ts_borrow(c->tape, TS_SHAPE(n, c->model.e), c->points);
    const ts_tensor *p = ts_transformer_assign_weights(&c->model, c->tape, points, centers, (uint32_t)c->state.steps);
    if (ts_tape_status(c->tape) != TS_OK) return tape_failure(c, error);
    memcpy(weights, p->data, (size_t)(n * k) * sizeof *weights);
    for (int64_t i = 0; i < n; i++)
        if (c->state.labels[i] < 0) memset(weights + i * k, 0, (size_t)k * sizeof *weights);
    for (int64_t j = 0; c->medoids && j < k; j++)
        for (int64_t l = 0; l < k; l++) weights[c->state.medoids[j] * k + l] = l == j;
    return TS_OK;
}
