#include "extent.h"

#include <math.h>

#include "../autograd/kernels/parallel.h"

enum { COLUMNS = 64, BLOCK = 4096 };

/* The ranges of some columns, and sums of 0, or NaN where not all of a column's numbers are finite. */
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

/* The least, the greatest and a sum of zeros are the same in any order. */
static void join(const ranges *part, ranges *all) {
    for (int a = 0; a < COLUMNS; a++) {
        all->low[a] = part->low[a] < all->low[a] ? part->low[a] : all->low[a];
        all->high[a] = part->high[a] > all->high[a] ? part->high[a] : all->high[a];
        all->zero[a] += part->zero[a];
    }
}

static ranges ranges_of(int64_t n, int64_t columns, int64_t step, const ts_real *x) {
    ranges all = no_range();
#pragma omp parallel if (ts_pays(n * columns))
    {
        ranges mine = no_range();
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < n; i += BLOCK) widen(n - i < BLOCK ? n - i : BLOCK, columns, step, x + i * step, &mine);
#pragma omp critical(ts_extent)
        join(&mine, &all);
    }
    return all;
}

ts_extent ts_extent_of(int64_t n, int64_t d, int64_t step, const ts_real *x) {
    ts_extent extent = {0, 0};
    for (int64_t first = 0; first < d; first += COLUMNS) {
        const int64_t columns = d - first < COLUMNS ? d - first : COLUMNS;
        const ranges r = ranges_of(n, columns, step, x + first);
        for (int64_t a = 0; a < columns; a++) {
            const double low = (double)r.low[a], high = (double)r.high[a];
            extent.widest = fmax(extent.widest, high - low);
            extent.reach = isnan(r.zero[a]) ? NAN : extent.reach;
            if (!isnan(extent.reach)) extent.reach = fmax(extent.reach, fmax(fabs(low), fabs(high)));
        }
    }
    return extent;
}
