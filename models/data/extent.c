/* extent.c: ranges and magnitudes, with NaN and infinities noticed. */
#include "extent.h"

#include <math.h>

#include "../../autograd/parallel.h"

enum { COLUMNS = 64, BLOCK = 4096 };

/* The ranges of some columns; `zero` is 0, or NaN if a number of the column is not finite. */
typedef struct ranges {
    ts_real low[COLUMNS], high[COLUMNS], zero[COLUMNS];
} ranges;

TS_CLONES static void widen(int64_t rows, int64_t columns, int64_t step, const ts_real *x, ranges *r) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t a = 0; a < columns; a++) {
            const ts_real v = x[i * step + a];
            r->low[a] = v < r->low[a] ? v : r->low[a];
            r->high[a] = v > r->high[a] ? v : r->high[a];
            r->zero[a] += v * 0;
        }
}

static ranges no_range(void) {
    ranges r = {.zero = {0}};
    for (int a = 0; a < COLUMNS; a++) r.low[a] = INFINITY, r.high[a] = -INFINITY;
    return r;
}

/* Minima, maxima and sums of zeros are the same in any order. */
static void join(const ranges *part, ranges *all) {
    for (int a = 0; a < COLUMNS; a++) {
        all->low[a] = part->low[a] < all->low[a] ? part->low[a] : all->low[a];
        all->high[a] = part->high[a] > all->high[a] ? part->high[a] : all->high[a];
        all->zero[a] += part->zero[a];
    }
}

static ranges ranges_of(int64_t n, int64_t columns, int64_t step, const ts_real *x) {
    ranges all = no_range();
#pragma omp parallel if (ts_worth_parallel(n * columns))
    {
        ranges mine = no_range();
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < n; i += BLOCK) widen(n - i < BLOCK ? n - i : BLOCK, columns, step, x + i * step, &mine);
#pragma omp critical(ts_extent)
        join(&mine, &all);
    }
    return all;
}

static void take_column(double low, double high, double zero, ts_extent *extent) {
    extent->widest = fmax(extent->widest, high - low);
    extent->reach = isnan(zero) ? NAN : extent->reach;
    if (!isnan(extent->reach)) extent->reach = fmax(extent->reach, fmax(fabs(low), fabs(high)));
}

ts_extent ts_extent_of(int64_t n, int64_t d, int64_t step, const ts_real *x) {
    ts_extent extent = {0, 0};
    for (int64_t first = 0; first < d; first += COLUMNS) {
        const int64_t columns = d - first < COLUMNS ? d - first : COLUMNS;
        const ranges r = ranges_of(n, columns, step, x + first);
        for (int64_t a = 0; a < columns; a++)
            take_column((double)r.low[a], (double)r.high[a], (double)r.zero[a], &extent);
    }
    return extent;
}

static void widen_points(const ts_points *p, const double *factors, int64_t first, int64_t columns, double low[COLUMNS],
                         double high[COLUMNS], double zero[COLUMNS]) {
#pragma omp parallel for reduction(min : low[:COLUMNS]) reduction(max : high[:COLUMNS]) \
    reduction(+ : zero[:COLUMNS]) if (ts_worth_parallel(p->n * columns))
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t a = 0; a < columns; a++) {
            const double x = (factors != NULL ? factors[i] : 1) * ts_point_at(p, i, first + a);
            low[a] = x < low[a] ? x : low[a];
            high[a] = x > high[a] ? x : high[a];
            zero[a] += x * 0;
        }
}

ts_extent ts_extent_of_points(const ts_points *p, const double *factors) {
    ts_extent extent = {0, 0};
    if (p->exact == NULL && factors == NULL) return ts_extent_of(p->n, p->d, p->d, p->real);
    for (int64_t first = 0; first < p->d; first += COLUMNS) {
        const int64_t columns = p->d - first < COLUMNS ? p->d - first : COLUMNS;
        double low[COLUMNS], high[COLUMNS], zero[COLUMNS];
        for (int64_t a = 0; a < COLUMNS; a++) low[a] = INFINITY, high[a] = -INFINITY, zero[a] = 0;
        widen_points(p, factors, first, columns, low, high, zero);
        for (int64_t a = 0; a < columns; a++) take_column(low[a], high[a], zero[a], &extent);
    }
    return extent;
}
