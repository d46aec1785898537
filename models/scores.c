#include "scores.h"

#include <math.h>
#include <stdlib.h>

#include "../autograd/kernels/parallel.h"
#include "nearest.h"

enum { BLOCK = 4096 };

double ts_objective(int64_t n, int64_t d, const ts_real *points, const ts_real *centers, const int64_t *labels) {
    double total = 0;
    /* Sums of blocks of rows are added in order, whoever computed them. */
#pragma omp parallel for ordered schedule(static, 1) if (n > BLOCK && ts_pays(n * d))
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

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double ts_trimmed_objective(int64_t n, int64_t d, int64_t k, const ts_real *points, const ts_real *centers,
                            double share) {
    double *nearest = malloc((size_t)(n + 1) * sizeof *nearest), total = 0;
    if (nearest == NULL) return NAN;
#pragma omp parallel for if (ts_pays(n * k * d))
    for (int64_t i = 0; i < n; i++) nearest[i] = ts_nearest(d, k, points + i * d, centers, NULL);
    qsort(nearest, (size_t)n, sizeof *nearest, compare_doubles);
    for (int64_t i = 0; i < n - (int64_t)floor(share * (double)n); i++) total += nearest[i];
    free(nearest);
    return total;
}

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

/* The number of pairs of items that agree in a, or in a and b, after sorting. */
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
