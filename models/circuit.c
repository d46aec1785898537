#include "circuit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "transformer.h"

/* Two assignments are the same when no weight has moved by more than this; exact codes are then equal. */
static const double SAME_WEIGHT = 1e-6;

struct ts_circuit {
    ts_transformer model;
    ts_problem problem;
    ts_tape *tape;
    ts_real *points; /* tokens [n,e] */
    ts_real *tokens; /* of the centres [k,e] */
    ts_real *book;   /* codes [k,s] */
    bool *occupied;  /* [k] does any point carry a share of the cluster? */
    ts_clustering state;
};

static ts_status check_problem(const ts_problem *p, ts_error *error) {
    if (p->k < 1) return ts_error_set(error, TS_ERROR_VALUE, "k = %lld: at least 1 is needed", (long long)p->k);
    if (p->d < 1) return ts_error_set(error, TS_ERROR_VALUE, "the points have no coordinates");
    if (p->k > p->n)
        return ts_error_set(error, TS_ERROR_VALUE, "k = %lld but only %lld rows", (long long)p->k, (long long)p->n);
    return TS_OK;
}

static bool take_memory(ts_circuit *c) {
    const size_t n = (size_t)c->problem.n, k = (size_t)c->problem.k, d = (size_t)c->problem.d, e = (size_t)c->model.e;
    c->tape = ts_tape_create(TS_INFER);
    c->points = malloc(n * e * sizeof *c->points);
    c->tokens = malloc(k * e * sizeof *c->tokens);
    c->book = malloc((k * (size_t)c->model.s + 1) * sizeof *c->book);
    c->occupied = malloc(k * sizeof *c->occupied);
    c->state.centers = malloc(k * d * sizeof *c->state.centers);
    c->state.labels = malloc(n * sizeof *c->state.labels);
    return c->tape && c->points && c->tokens && c->book && c->occupied && c->state.centers && c->state.labels;
}

ts_circuit *ts_circuit_create(const ts_definition *definition, const ts_problem *problem, ts_error *error) {
    if (check_problem(problem, error) != TS_OK) return NULL;
    if (definition->scheme == TS_SCHEME_NONE) {
        ts_error_set(error, TS_ERROR_VALUE, "%s: without scratch coordinates no assignment can be read",
                     definition->name);
        return NULL;
    }
    ts_circuit *c = calloc(1, sizeof *c);
    if (c == NULL) {
        ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a circuit");
        return NULL;
    }
    c->problem = *problem;
    ts_status status = ts_transformer_build(&c->model, definition, problem->d, problem->k, problem->seed, error);
    if (status == TS_OK && !take_memory(c))
        status = ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a circuit");
    if (status != TS_OK) {
        ts_circuit_free(c);
        return NULL;
    }
    c->problem.centers = NULL; /* copied, the caller's may go */
    ts_scheme_code_book(definition->scheme, problem->k, c->book);
    ts_transformer_embed(&c->model, problem->n, problem->points, NULL, c->points);
    ts_transformer_embed(&c->model, problem->k, problem->centers, c->book, c->tokens);
    memcpy(c->state.centers, problem->centers, (size_t)(problem->k * problem->d) * sizeof(ts_real));
    memset(c->state.labels, 0, (size_t)problem->n * sizeof *c->state.labels);
    return c;
}

void ts_circuit_free(ts_circuit *c) {
    if (c == NULL) return;
    ts_transformer_clear(&c->model);
    ts_tape_free(c->tape);
    free(c->points);
    free(c->tokens);
    free(c->book);
    free(c->occupied);
    free(c->state.centers);
    free(c->state.labels);
    free(c);
}

const ts_clustering *ts_circuit_state(const ts_circuit *circuit) {
    return &circuit->state;
}

size_t ts_circuit_bytes(const ts_circuit *circuit) {
    return ts_tape_bytes(circuit->tape);
}

/* ---- reading the points' scratch --------------------------------------------------------------------------------- */

/* The cluster whose code is nearest to the scratch; the lowest index among equals. */
static int64_t decode(const ts_circuit *c, const ts_real *scratch) {
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t j = 0; j < c->model.k; j++) {
        double distance = 0;
        for (int64_t l = 0; l < c->model.s; l++) {
            const double diff = (double)scratch[l] - (double)c->book[j * c->model.s + l];
            distance += diff * diff;
        }
        if (distance < least) least = distance, best = j;
    }
    return best;
}

/* For one-hot codes the nearest code is that of the largest share. */
static int64_t decode_onehot(const ts_circuit *c, const ts_real *scratch) {
    int64_t best = 0;
    for (int64_t j = 1; j < c->model.k; j++)
        if (scratch[j] > scratch[best]) best = j;
    return best;
}

/* Reads labels from the new tokens, keeps the new scratch, and says whether the assignments are those of before. */
static bool read_assignments(ts_circuit *c, const ts_real *tokens) {
    const int64_t d = c->model.d, s = c->model.s, e = c->model.e, n = c->problem.n;
    const bool onehot = s == c->model.k;
    bool same = true;
#pragma omp parallel for reduction(&& : same) if (n > 4096)
    for (int64_t i = 0; i < n; i++) {
        const ts_real *now = tokens + i * e + d;
        ts_real *before = c->points + i * e + d;
        for (int64_t l = 0; l < s; l++) same = same && fabs((double)now[l] - (double)before[l]) <= SAME_WEIGHT;
        memcpy(before, now, (size_t)s * sizeof *now);
        c->state.labels[i] = onehot ? decode_onehot(c, now) : decode(c, now);
    }
    return same;
}

static void find_occupied(ts_circuit *c) {
    const int64_t k = c->model.k, n = c->problem.n;
    memset(c->occupied, 0, (size_t)k * sizeof *c->occupied);
    for (int64_t i = 0; i < n; i++) {
        c->occupied[c->state.labels[i]] = true;
        if (c->model.s != k) continue;
        const ts_real *share = c->points + i * c->model.e + c->model.d;
        for (int64_t j = 0; j < k; j++)
            if (share[j] != 0) c->occupied[j] = true;
    }
}

/* ---- empty clusters ---------------------------------------------------------------------------------------------- */

/* Squared distance of point i to the centre it was assigned to, before that centre moved. */
static double assigned_distance(const ts_circuit *c, int64_t i) {
    const ts_real *x = c->problem.points + i * c->model.d, *center = c->tokens + c->state.labels[i] * c->model.e;
    double sum = 0;
    for (int64_t l = 0; l < c->model.d; l++)
        sum += ((double)x[l] - (double)center[l]) * ((double)x[l] - (double)center[l]);
    return sum;
}

/* The point for an empty cluster under the policy `farthest`, or -1. members[j] counts the points left in cluster j. */
static int64_t farthest_point(const ts_circuit *c, const int64_t *members, const bool *taken) {
    int64_t found = -1;
    double most = 0;
    for (int64_t i = 0; i < c->problem.n; i++) {
        if (taken[i] || members[c->state.labels[i]] < 2) continue;
        const double distance = assigned_distance(c, i);
        if (distance > most) most = distance, found = i;
    }
    return found;
}

static void move_to_point(ts_circuit *c, int64_t cluster, int64_t point, ts_real *centers) {
    memcpy(centers + cluster * c->model.e, c->problem.points + point * c->model.d,
           (size_t)c->model.d * sizeof *centers);
    c->state.empty_repairs++;
}

static ts_status fill_with_farthest(ts_circuit *c, ts_real *centers, ts_error *error) {
    int64_t *members = calloc((size_t)c->model.k, sizeof *members);
    bool *taken = calloc((size_t)c->problem.n, sizeof *taken);
    if (members == NULL || taken == NULL) {
        free(members);
        free(taken);
        return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for an empty cluster");
    }
    for (int64_t i = 0; i < c->problem.n; i++) members[c->state.labels[i]]++;
    for (int64_t j = 0; j < c->model.k; j++) {
        const int64_t point = c->occupied[j] ? -1 : farthest_point(c, members, taken);
        if (point < 0) continue;
        taken[point] = true;
        members[c->state.labels[point]]--;
        move_to_point(c, j, point, centers);
    }
    free(members);
    free(taken);
    return TS_OK;
}

/* `centers` are the new tokens, whose row of an empty cluster means nothing; c->tokens are still the old ones. */
static ts_status treat_empty(ts_circuit *c, ts_real *centers, ts_error *error) {
    const ts_rng rng = {c->problem.seed, ts_rng_stream("empty cluster"), (uint32_t)c->state.steps};
    int64_t empty = 0;
    for (int64_t j = 0; j < c->model.k; j++) {
        if (c->occupied[j]) continue;
        empty++;
        memcpy(centers + j * c->model.e, c->tokens + j * c->model.e, (size_t)c->model.d * sizeof *centers);
        if (c->problem.empty == TS_EMPTY_ERROR)
            return ts_error_set(error, TS_ERROR_VALUE, "cluster %lld is empty at step %lld", (long long)j,
                                (long long)c->state.steps);
        if (c->problem.empty == TS_EMPTY_RANDOM)
            move_to_point(c, j, ts_rng_below(rng, (uint64_t)j, c->problem.n), centers);
    }
    return empty > 0 && c->problem.empty == TS_EMPTY_FARTHEST ? fill_with_farthest(c, centers, error) : TS_OK;
}

/* ---- steps --------------------------------------------------------------------------------------------------- */

static ts_status tape_failure(const ts_circuit *c, ts_error *error) {
    return ts_error_set(error, ts_tape_status(c->tape), "%s", ts_tape_error(c->tape));
}

/* Runs the assigning half. The new tokens of the points differ from the old ones in their scratch only, which is copied
 * into c->points. Returns the centres' tensor for the second half, NULL after a failure. */
static ts_tensor *assign(ts_circuit *c, ts_tensor **points, bool *same) {
    ts_tape_reset(c->tape);
    ts_tensor *centers = ts_borrow(c->tape, TS_SHAPE(c->model.k, c->model.e), c->tokens);
    const ts_arena_mark scope = ts_scope_begin(c->tape);
    *points = ts_borrow(c->tape, TS_SHAPE(c->problem.n, c->model.e), c->points);
    const ts_tensor *assigned = ts_transformer_assign(&c->model, c->tape, *points, centers, (uint32_t)c->state.steps);
    if (ts_tape_status(c->tape) != TS_OK) return NULL;
    *same = read_assignments(c, assigned->data);
    *points = ts_scope_end(c->tape, scope, *points); /* c->points now hold what the layer wrote */
    return centers;
}

ts_status ts_circuit_step(ts_circuit *c, ts_error *error) {
    const int64_t repairs = c->state.empty_repairs;
    ts_tensor *points = NULL;
    bool same = false;
    c->state.steps++;
    ts_tensor *centers = assign(c, &points, &same);
    if (centers == NULL) return tape_failure(c, error);
    const ts_tensor *moved = ts_transformer_update(&c->model, c->tape, points, centers, (uint32_t)c->state.steps);
    if (ts_tape_status(c->tape) != TS_OK) return tape_failure(c, error);
    find_occupied(c);
    if (treat_empty(c, moved->data, error) != TS_OK) return error->status;
    for (int64_t j = 0; j < c->model.k; j++) {
        memcpy(c->tokens + j * c->model.e, moved->data + j * c->model.e, (size_t)c->model.e * sizeof(ts_real));
        memcpy(c->state.centers + j * c->model.d, c->tokens + j * c->model.e, (size_t)c->model.d * sizeof(ts_real));
    }
    c->state.converged = same && c->state.empty_repairs == repairs;
    return TS_OK;
}

ts_status ts_circuit_finish(ts_circuit *c, ts_error *error) {
    ts_tensor *points = NULL;
    bool same = false;
    return assign(c, &points, &same) == NULL ? tape_failure(c, error) : TS_OK;
}
