/* scores.c: objectives and the adjusted Rand index. */
#include "scores.h"

#include <math.h>
#include <stdlib.h>

#include "../../autograd/parallel.h"
#include "compare_doubles.h"
#include "nearest.h"
#include "row_distance.h"

enum { BLOCK = 4096 };

double ts_objective(int64_t n, int64_t d, const ts_real *points, const ts_real *centers, const int64_t *labels) {
    double total = 0;
    /* The sums of blocks of rows are added in order, whichever threads computed them. */
#pragma omp parallel for ordered schedule(static, 1) if (n > BLOCK && ts_worth_parallel(n * d))
    for (int64_t block = 0; block < (n + BLOCK - 1) / BLOCK; block++) {
        double sum = 0;
        for (int64_t i = block * BLOCK; i < n && i < (block + 1) * BLOCK; i++) {
            if (labels[i] < 0) continue;
            for (int64_t a = 0; a < d; a++) {
                const double difference = (double)points[i * d + a] - (double)centers[labels[i] * d + a];
                sum += difference * difference;
            }
        }
#pragma omp ordered
        total += sum;
    }
    return total;
}

double ts_trimmed_objective(const ts_points *points, int64_t k, const double *centers, double share) {
    const int64_t n = points->n;
    double *nearest = malloc((size_t)(n + 1) * sizeof *nearest), total = 0;
    if (nearest == NULL) return NAN;
#pragma omp parallel for if (ts_worth_parallel(n * k * points->d))
    for (int64_t i = 0; i < n; i++) nearest[i] = ts_point_nearest(points, i, k, centers, NULL);
    qsort(nearest, (size_t)n, sizeof *nearest, ts_compare_doubles);
    for (int64_t i = 0; i < n - (int64_t)floor(share * (double)n); i++) total += nearest[i];
    free(nearest);
    return total;
}

/* ---- sums over points -------------------------------------------------------------------------------------------- */

enum { PARTS = 256 }; /* parts of the points; their bounds and the order of their sums depend on n alone */

/* 1 - cos(x, c), computed as half the squared distance of the unit vectors, which keeps the digits of small angles; 1
 * if either vector is zero. */
static double cosine_distance(const ts_points *p, int64_t i, const double *c) {
    const ts_points center = {.n = 1, .d = p->d, .exact = c};
    const double of_point = ts_point_length(p, i), of_center = ts_point_length(&center, 0);
    double sum = 0;
    if (!(of_point > 0 && of_center > 0)) return 1;
    for (int64_t a = 0; a < p->d; a++) {
        const double difference = ts_point_at(p, i, a) / of_point - c[a] / of_center;
        sum += difference * difference;
    }
    return sum / 2;
}

/* The contribution of points first .. end-1. */
TS_CLONES static double cost_of_part(ts_cost cost, int64_t first, int64_t end, const ts_points *points,
                                     const double *scale, const double *centers, const int64_t *labels) {
    double sum = 0;
    for (int64_t i = first; i < end; i++) {
        if (labels[i] < 0) continue;
        const double *c = centers + labels[i] * points->d;
        if (cost == TS_COST_COSINE) {
            sum += cosine_distance(points, i, c);
            continue;
        }
        const double distance = ts_squared_distance(points, i, scale, c);
        sum += cost == TS_COST_DISTANCE ? sqrt(distance) : distance;
    }
    return sum;
}

double ts_cost_of(ts_cost cost, const ts_points *points, const double *scale, const double *centers,
                  const int64_t *labels) {
    const int64_t n = points->n;
    double part[PARTS], sum = 0;
#pragma omp parallel for schedule(static) if (ts_worth_parallel(n * points->d))
    for (int64_t b = 0; b < PARTS; b++)
        part[b] = cost_of_part(cost, n * b / PARTS, n * (b + 1) / PARTS, points, scale, centers, labels);
    for (int64_t b = 0; b < PARTS; b++) sum += part[b];
    return sum;
}

/* The contribution of one point with distances D [k]. */
static double energy_of(int64_t k, const double *distance, double gamma) {
    double least = distance[0], sum = 0;
    for (int64_t j = 1; j < k; j++) least = fmin(least, distance[j]);
    for (int64_t j = 0; j < k; j++) sum += exp(-gamma * (distance[j] - least));
    return least - log(sum) / gamma;
}

static double shared_by_power(int64_t k, const double *distance, double m) {
    double least = distance[0], sum = 0;
    for (int64_t j = 1; j < k; j++) least = fmin(least, distance[j]);
    for (int64_t j = 0; j < k && least > 0; j++) sum += pow(least / distance[j], 1 / (m - 1));
    return least > 0 ? least * pow(sum, 1 - m) : 0;
}

/* The sum over all points of `each`, a function of their distances to all centres. */
static double sum_shared(ts_cost cost, const ts_points *points, int64_t k, const double *centers,
                         double (*each)(int64_t k, const double *distance, double parameter), double parameter) {
    const int64_t n = points->n, d = points->d;
    double *distances = malloc((size_t)(PARTS * k) * sizeof *distances), part[PARTS], sum = 0;
    if (distances == NULL) return NAN;
#pragma omp parallel for schedule(static) if (ts_worth_parallel(n * k * d))
    for (int64_t b = 0; b < PARTS; b++) {
        double *distance = distances + b * k;
        part[b] = 0;
        for (int64_t i = n * b / PARTS; i < n * (b + 1) / PARTS; i++) {
            for (int64_t j = 0; j < k; j++)
                distance[j] = cost == TS_COST_COSINE ? cosine_distance(points, i, centers + j * d)
                                                     : ts_squared_distance(points, i, NULL, centers + j * d);
            part[b] += each(k, distance, parameter);
        }
    }
    for (int64_t b = 0; b < PARTS; b++) sum += part[b];
    free(distances);
    return sum;
}

double ts_free_energy(ts_cost cost, const ts_points *points, int64_t k, const double *centers, double gamma) {
    return sum_shared(cost, points, k, centers, energy_of, gamma);
}

double ts_fuzzy_objective(const ts_points *points, int64_t k, const double *centers, double fuzziness) {
    return sum_shared(TS_COST_SQUARED, points, k, centers, shared_by_power, fuzziness);
}

/* ---- labellings -------------------------------------------------------------------------------------------------- */

typedef struct pair {
    int64_t a, b;
} pair;

static int compare_pairs(const void *x, const void *y) {
    const pair *p = x, *q = y;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

static double pairs_within(int64_t count) {
    return (double)count * (double)(count - 1) / 2;
}

/* The number of pairs of items with equal a, or with equal a and b, in a sorted list. */
static double agreeing(int64_t n, const pair *sorted, bool both) {
    double sum = 0;
    for (int64_t i = 0, run = 0; i < n; i++) {
        const bool last = i + 1 == n || sorted[i + 1].a != sorted[i].a || (both && sorted[i + 1].b != sorted[i].b);
        run++;
        if (!last) continue;
        sum += pairs_within(run);
        run = 0;
    }
    return sum;
}

double ts_adjusted_rand_index(int64_t n, const int64_t *a, const int64_t *b) {
    pair *pairs = malloc((size_t)(n + 1) * sizeof *pairs);
    if (pairs == NULL) return NAN;
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (a[i] >= 0) pairs[kept++] = (pair){b[i], a[i]};
    n = kept;
    qsort(pairs, (size_t)n, sizeof *pairs, compare_pairs);
    const double in_b = agreeing(n, pairs, false), in_both = agreeing(n, pairs, true);
    for (int64_t i = 0; i < n; i++) pairs[i] = (pair){pairs[i].b, pairs[i].a};
    qsort(pairs, (size_t)n, sizeof *pairs, compare_pairs);
    const double in_a = agreeing(n, pairs, false);
    free(pairs);
    const double all = pairs_within(n), expected = all > 0 ? in_a * in_b / all : 0, most = (in_a + in_b) / 2;
    return most == expected ? 1 : (in_both - expected) / (most - expected);
}
