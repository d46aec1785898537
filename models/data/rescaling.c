/* rescaling.c: fits, applies and inverts shifts and scales. */
#include "rescaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../autograd/parallel.h"
#include "compare_doubles.h"

/* A column farther from 0 than FAR times its range would lose too many digits of ts_real to its offset. */
static const double FAR = 16;
/* Between these two, squares of differences neither overflow nor underflow in ts_real. */
static const double SMALLEST = 0x1p-30, LARGEST = 0x1p30;
static const double LIMIT = 1e100;

enum { COLUMNS = 64 }; /* columns treated at a time */

/* Widens the ranges of `columns` columns. */
static void widen(int64_t n, int64_t d, int64_t columns, const double *table, double low[COLUMNS],
                  double high[COLUMNS]) {
#pragma omp parallel for reduction(min                            \
                                   : low[:COLUMNS]) reduction(max \
                                                              : high[:COLUMNS]) if (ts_worth_parallel(n * columns))
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < columns; j++) {
            const double x = table[i * d + j];
            low[j] = x < low[j] ? x : low[j];
            high[j] = x > high[j] ? x : high[j];
        }
}

static void find_ranges(int64_t n, int64_t d, const double *table, double *low, double *high) {
    for (int64_t first = 0; first < d; first += COLUMNS) {
        const int64_t columns = d - first < COLUMNS ? d - first : COLUMNS;
        double least[COLUMNS], most[COLUMNS];
        for (int64_t j = 0; j < COLUMNS; j++) least[j] = INFINITY, most[j] = -INFINITY;
        widen(n, d, columns, table + first, least, most);
        memcpy(low + first, least, (size_t)columns * sizeof *low);
        memcpy(high + first, most, (size_t)columns * sizeof *high);
    }
}

static double farthest_from(double shift, double low, double high) {
    return fmax(fabs(low - shift), fabs(high - shift));
}

static void fit_none(const double *table, const double *low, const double *high, bool shifts, ts_rescaling *r) {
    double extent = 0;
    for (int64_t j = 0; j < r->d; j++) {
        const bool far = shifts && farthest_from(0, low[j], high[j]) > FAR * (high[j] - low[j]);
        r->shift[j] = far ? table[j] : 0;
        extent = fmax(extent, farthest_from(r->shift[j], low[j], high[j]));
    }
    int exponent = 0;
    if (extent > 0 && (extent < SMALLEST || extent > LARGEST)) frexp(extent, &exponent);
    for (int64_t j = 0; j < r->d; j++) r->scale[j] = ldexp(1, exponent);
}

static void fit_minmax(const double *low, const double *high, ts_rescaling *r) {
    for (int64_t j = 0; j < r->d; j++) {
        r->shift[j] = low[j];
        r->scale[j] = high[j] > low[j] ? high[j] - low[j] : 1;
    }
}

static void fit_common(const double *low, const double *high, ts_rescaling *r) {
    double range = 0;
    for (int64_t j = 0; j < r->d; j++) range = fmax(range, high[j] - low[j]);
    for (int64_t j = 0; j < r->d; j++) {
        r->shift[j] = low[j];
        r->scale[j] = range > 0 ? range : 1;
    }
}

static void fit_standard(int64_t n, const double *table, const double *low, const double *high, ts_rescaling *r) {
    const int64_t d = r->d;
    for (int64_t j = 0; j < d; j++) r->shift[j] = r->scale[j] = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) r->shift[j] += table[i * d + j] - low[j];
    for (int64_t j = 0; j < d; j++) r->shift[j] = fmin(low[j] + r->shift[j] / (double)n, high[j]);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) {
            /* in units of the range, so that no square underflows or overflows */
            const double range = high[j] > low[j] ? high[j] - low[j] : 1;
            const double from_mean = (table[i * d + j] - r->shift[j]) / range;
            r->scale[j] += from_mean * from_mean;
        }
    for (int64_t j = 0; j < d; j++) {
        r->scale[j] = (high[j] - low[j]) * sqrt(r->scale[j] / (double)n);
        if (!(high[j] > low[j] && r->scale[j] > 0)) r->scale[j] = 1;
    }
}

static ts_status check_limit(int64_t d, const double *low, const double *high, ts_error *error) {
    for (int64_t j = 0; j < d; j++) {
        const double reach = farthest_from(0, low[j], high[j]);
        if (!(reach <= LIMIT))
            return ts_error_set(error, TS_ERROR_VALUE, "feature %lld: %g is beyond %g", (long long)j + 1, reach, LIMIT);
    }
    return TS_OK;
}

ts_status ts_rescaling_fit(ts_scaling scaling, int64_t n, int64_t d, const double *table, ts_rescaling *rescaling,
                           ts_error *error) {
    double *low = calloc((size_t)d, sizeof *low), *high = calloc((size_t)d, sizeof *high);
    ts_rescaling r = {d, calloc((size_t)d, sizeof(double)), calloc((size_t)d, sizeof(double))};
    ts_status status = TS_OK;
    *rescaling = (ts_rescaling){0};
    if (low == NULL || high == NULL || r.shift == NULL || r.scale == NULL) {
        status = ts_error_set(error, TS_ERROR_MEMORY, "out of memory");
    } else {
        find_ranges(n, d, table, low, high);
        status = check_limit(d, low, high, error);
    }
    if (status == TS_OK) {
        if (scaling == TS_SCALING_NONE || scaling == TS_SCALING_UNSHIFTED)
            fit_none(table, low, high, scaling == TS_SCALING_NONE, &r);
        if (scaling == TS_SCALING_MINMAX) fit_minmax(low, high, &r);
        if (scaling == TS_SCALING_COMMON) fit_common(low, high, &r);
        if (scaling == TS_SCALING_STANDARD) fit_standard(n, table, low, high, &r);
        *rescaling = r;
    } else {
        ts_rescaling_free(&r);
    }
    free(low);
    free(high);
    return status;
}

void ts_rescaling_free(ts_rescaling *rescaling) {
    free(rescaling->shift);
    free(rescaling->scale);
    *rescaling = (ts_rescaling){0};
}

/* A number of column j after rescaling. */
static inline double scaled(const ts_rescaling *r, int64_t j, double x) {
    return (x - r->shift[j]) / r->scale[j];
}

void ts_rescaling_apply(const ts_rescaling *r, int64_t n, const double *table, ts_real *points) {
    const int64_t d = r->d;
#pragma omp parallel for schedule(static) if (ts_worth_parallel(n * d))
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) points[i * d + j] = (ts_real)scaled(r, j, table[i * d + j]);
}

void ts_rescaling_apply_exactly(const ts_rescaling *r, int64_t n, const double *table, double *points) {
    const int64_t d = r->d;
#pragma omp parallel for schedule(static) if (ts_worth_parallel(n * d))
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) points[i * d + j] = scaled(r, j, table[i * d + j]);
}

/* Can ts_real represent all points exactly? */
static bool is_exact(const ts_rescaling *r, int64_t n, const double *table) {
    const int64_t d = r->d;
    bool exact = true;
#pragma omp parallel for schedule(static) reduction(&& : exact) if (ts_worth_parallel(n * d))
    for (int64_t i = 0; i < n; i++) {
        bool row = exact;
        for (int64_t j = 0; j < d && exact; j++) {
            const double x = scaled(r, j, table[i * d + j]);
            row = row & !(fabs((double)(ts_real)x - x) > 0);
        }
        exact = row;
    }
    return exact;
}

/* Converts in the table's memory, which shrinks. */
static ts_real *convert_in_place(const ts_rescaling *r, int64_t n, double *table) {
    const int64_t d = r->d;
    ts_real *points = (ts_real *)(void *)table;
    for (int64_t j = 0; j < d; j++) { /* a number overwrites itself or earlier ones */
        ts_real x = (ts_real)scaled(r, j, table[j]);
        memcpy((char *)table + (size_t)j * sizeof x, &x, sizeof x);
    }
    /* rows first .. end-1 overwrite rows up to first, which are converted already */
    for (int64_t first = 1, end = 2; first < n; first = end, end *= 2)
        ts_rescaling_apply(r, (end < n ? end : n) - first, table + first * d, points + first * d);
    ts_real *smaller = realloc(points, (size_t)(n * d) * sizeof *points);
    return smaller == NULL ? points : smaller;
}

bool ts_rescaling_convert(const ts_rescaling *r, int64_t n, double *table, ts_real **points, double **exact) {
    *exact = NULL;
    if (is_exact(r, n, table)) {
        *points = convert_in_place(r, n, table);
        return true;
    }
    *points = malloc((size_t)(n * r->d) * sizeof **points);
    if (*points == NULL) {
        free(table);
        return false;
    }
    ts_rescaling_apply(r, n, table, *points);
    ts_rescaling_apply_exactly(r, n, table, table);
    *exact = table;
    return true;
}

static ts_column_loss loss_of(int64_t n, double *column) {
    ts_column_loss loss = {1, 0};
    qsort(column, (size_t)n, sizeof *column, ts_compare_doubles);
    for (int64_t i = 1; i < n; i++) {
        if (!(column[i] > column[i - 1])) continue;
        loss.distinct++;
        loss.lost += !((ts_real)column[i] > (ts_real)column[i - 1]);
    }
    return loss;
}

bool ts_rescaling_losses(const ts_points *p, ts_column_loss *losses) {
    bool room = true;
#pragma omp parallel for schedule(dynamic) reduction(&& : room) if (ts_worth_parallel(p->n * p->d))
    for (int64_t a = 0; a < p->d; a++) {
        double *column = malloc((size_t)p->n * sizeof *column);
        losses[a] = (ts_column_loss){0, 0};
        room = room && column != NULL;
        for (int64_t i = 0; column != NULL && i < p->n; i++) column[i] = ts_point_at(p, i, a);
        if (column != NULL) losses[a] = loss_of(p->n, column);
        free(column);
    }
    return room;
}

void ts_rescaling_invert(const ts_rescaling *r, int64_t n, const double *points, double *table) {
    const int64_t d = r->d;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) table[i * d + j] = r->shift[j] + r->scale[j] * points[i * d + j];
}
