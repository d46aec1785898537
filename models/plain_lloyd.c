#include "plain_lloyd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../autograd/rng.h"

struct ts_plain_lloyd {
    ts_problem problem;
    double *sums;      /* [k,d] */
    int64_t *counts;   /* [k] */
    int64_t *previous; /* [n] the labels of the step before */
    double *nearest;   /* [n] squared distance to the nearest centre */
    ts_clustering state;
};

ts_plain_lloyd *ts_plain_lloyd_create(const ts_problem *problem, ts_error *error) {
    if (problem->k < 1 || problem->d < 1 || problem->k > problem->n) {
        ts_error_set(error, TS_ERROR_VALUE, "Lloyd: n = %lld, d = %lld, k = %lld cannot be clustered",
                     (long long)problem->n, (long long)problem->d, (long long)problem->k);
        return NULL;
    }
    const size_t n = (size_t)problem->n, kd = (size_t)(problem->k * problem->d);
    ts_plain_lloyd *l = calloc(1, sizeof *l);
    if (l != NULL) {
        l->problem = *problem;
        l->sums = malloc(kd * sizeof *l->sums);
        l->counts = malloc((size_t)problem->k * sizeof *l->counts);
        l->previous = malloc(n * sizeof *l->previous);
        l->nearest = malloc(n * sizeof *l->nearest);
        l->state.labels = calloc(n, sizeof *l->state.labels);
        l->state.centers = malloc(kd * sizeof *l->state.centers);
    }
    if (l == NULL || !l->sums || !l->counts || !l->previous || !l->nearest || !l->state.labels || !l->state.centers) {
        ts_plain_lloyd_free(l);
        ts_error_set(error, TS_ERROR_MEMORY, "out of memory for Lloyd's algorithm");
        return NULL;
    }
    memcpy(l->state.centers, problem->centers, kd * sizeof *l->state.centers);
    return l;
}

void ts_plain_lloyd_free(ts_plain_lloyd *l) {
    if (l == NULL) return;
    free(l->sums);
    free(l->counts);
    free(l->previous);
    free(l->nearest);
    free(l->state.labels);
    free(l->state.centers);
    free(l);
}

const ts_clustering *ts_plain_lloyd_state(const ts_plain_lloyd *lloyd) {
    return &lloyd->state;
}

static void assign_points(ts_plain_lloyd *l) {
    const int64_t n = l->problem.n, d = l->problem.d, k = l->problem.k;
#pragma omp parallel for if (n * k * d > 16384)
    for (int64_t i = 0; i < n; i++) {
        const ts_real *x = l->problem.points + i * d;
        l->nearest[i] = INFINITY;
        for (int64_t j = 0; j < k; j++) {
            double distance = 0;
            for (int64_t a = 0; a < d; a++) {
                const double difference = (double)x[a] - (double)l->state.centers[j * d + a];
                distance += difference * difference;
            }
            if (distance < l->nearest[i]) {
                l->nearest[i] = distance;
                l->state.labels[i] = j;
            }
        }
    }
}

static void sum_clusters(ts_plain_lloyd *l) {
    const int64_t d = l->problem.d;
    memset(l->sums, 0, (size_t)(l->problem.k * d) * sizeof *l->sums);
    memset(l->counts, 0, (size_t)l->problem.k * sizeof *l->counts);
    for (int64_t i = 0; i < l->problem.n; i++) {
        const int64_t j = l->state.labels[i];
        l->counts[j]++;
        for (int64_t a = 0; a < d; a++) l->sums[j * d + a] += (double)l->problem.points[i * d + a];
    }
}

static void replace_center(ts_plain_lloyd *l, int64_t j, int64_t i) {
    const int64_t d = l->problem.d;
    for (int64_t a = 0; a < d; a++) l->state.centers[j * d + a] = l->problem.points[i * d + a];
    l->state.empty_repairs++;
}

/* Gives empty cluster j the farthest point of a cluster that keeps another; -1 in nearest[] marks the points given
 * away. A cluster never falls to zero members, so counts[] still tells which are empty. */
static void give_farthest(ts_plain_lloyd *l, int64_t j) {
    int64_t *left = l->counts;
    int64_t best = -1;
    for (int64_t i = 0; i < l->problem.n; i++)
        if (left[l->state.labels[i]] > 1 && l->nearest[i] > 0 && (best < 0 || l->nearest[i] > l->nearest[best]))
            best = i;
    if (best < 0) return;
    left[l->state.labels[best]]--;
    l->nearest[best] = -1;
    replace_center(l, j, best);
}

static ts_status move_centers(ts_plain_lloyd *l, ts_error *error) {
    const int64_t d = l->problem.d;
    const ts_rng rng = {l->problem.seed, ts_rng_stream("empty cluster"), (uint32_t)l->state.steps};
    for (int64_t j = 0; j < l->problem.k; j++) {
        const int64_t count = l->counts[j];
        for (int64_t a = 0; a < d && count > 0; a++)
            l->state.centers[j * d + a] = (ts_real)(l->sums[j * d + a] / (double)count);
    }
    for (int64_t j = 0; j < l->problem.k; j++) {
        if (l->counts[j] > 0) continue;
        switch (l->problem.empty) {
        case TS_EMPTY_KEEP: break;
        case TS_EMPTY_RANDOM: replace_center(l, j, ts_rng_below(rng, (uint64_t)j, l->problem.n)); break;
        case TS_EMPTY_FARTHEST: give_farthest(l, j); break;
        case TS_EMPTY_ERROR:
            return ts_error_set(error, TS_ERROR_VALUE, "cluster %lld is empty at step %lld", (long long)j,
                                (long long)l->state.steps);
        }
    }
    return TS_OK;
}

ts_status ts_plain_lloyd_step(ts_plain_lloyd *l, ts_error *error) {
    const int64_t repairs = l->state.empty_repairs;
    const size_t bytes = (size_t)l->problem.n * sizeof *l->previous;
    memcpy(l->previous, l->state.labels, bytes);
    assign_points(l);
    l->state.steps++;
    sum_clusters(l);
    if (move_centers(l, error) != TS_OK) return error->status;
    const bool same = l->state.steps > 1 && memcmp(l->previous, l->state.labels, bytes) == 0;
    l->state.converged = same && l->state.empty_repairs == repairs;
    return TS_OK;
}

ts_status ts_plain_lloyd_finish(ts_plain_lloyd *l, ts_error *error) {
    (void)error;
    assign_points(l);
    return TS_OK;
}
