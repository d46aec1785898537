#include "rescaling.h"

#include <math.h>
#include <stdlib.h>

/* A column farther from 0 than FAR times its range loses too many digits of ts_real to its offset. */
static const double FAR = 16;
/* Between these two, squares of differences neither overflow nor vanish in ts_real. */
static const double SMALLEST = 0x1p-30, LARGEST = 0x1p30;
static const double LIMIT = 1e100;

static void find_ranges(int64_t n, int64_t d, const double *table, double *low, double *high) {
    for (int64_t j = 0; j < d; j++) low[j] = high[j] = table[j];
    for (int64_t i = 1; i < n; i++)
        for (int64_t j = 0; j < d; j++) {
            low[j] = fmin(low[j], table[i * d + j]);
            high[j] = fmax(high[j], table[i * d + j]);
        }
}

static double farthest_from(double shift, double low, double high) {
    return fmax(fabs(low - shift), fabs(high - shift));
}

static void fit_none(const double *table, const double *low, const double *high, bool shifts, ts_rescaling *r) {
    double extent = 0;
    for (int64_t j = 0; j < r->d; j++) {
        const bool far = shifts && high[j] > low[j] && farthest_from(0, low[j], high[j]) > FAR * (high[j] - low[j]);
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
            /* in units of the range, so that no square vanishes or overflows */
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

bool ts_rescaling_keeps(const ts_rescaling *rescaling, int64_t column) {
    return !(fabs(rescaling->shift[column]) > 0) && !(fabs(rescaling->scale[column] - 1) > 0);
}

void ts_rescaling_apply(const ts_rescaling *rescaling, int64_t n, const double *table, ts_real *points) {
    const int64_t d = rescaling->d;
    const double *shift = rescaling->shift, *scale = rescaling->scale;
#pragma omp parallel for schedule(static) if (n * d > 16384)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) points[i * d + j] = (ts_real)((table[i * d + j] - shift[j]) / scale[j]);
}

void ts_rescaling_invert(const ts_rescaling *rescaling, int64_t n, const ts_real *points, double *table) {
    const int64_t d = rescaling->d;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            table[i * d + j] = rescaling->shift[j] + rescaling->scale[j] * (double)points[i * d + j];
}

static double squared_distance(int64_t d, const double *scale, const ts_real *x, const ts_real *c) {
    double sum = 0;
    for (int64_t j = 0; j < d; j++) {
        const double difference = scale[j] * ((double)x[j] - (double)c[j]);
        sum += difference * difference;
    }
    return sum;
}

/* 1 - cos(x, c); 1 where either is zero. */
static double cosine_distance(int64_t d, const ts_real *x, const ts_real *c) {
    double product = 0, xx = 0, cc = 0;
    for (int64_t j = 0; j < d; j++) {
        product += (double)x[j] * (double)c[j];
        xx += (double)x[j] * (double)x[j];
        cc += (double)c[j] * (double)c[j];
    }
    return xx > 0 && cc > 0 ? fmax(1 - product / sqrt(xx) / sqrt(cc), 0) : 1;
}

double ts_rescaling_objective(const ts_rescaling *rescaling, ts_cost cost, int64_t n, const ts_real *points,
                              const ts_real *centers, const int64_t *labels) {
    enum { BLOCKS = 256 }; /* of rows; their bounds and the order of their sums depend on n alone */
    const int64_t d = rescaling->d;
    double part[BLOCKS] = {0}, sum = 0;
#pragma omp parallel for schedule(static) if (n * d > 16384)
    for (int64_t b = 0; b < BLOCKS; b++)
        for (int64_t i = n * b / BLOCKS; i < n * (b + 1) / BLOCKS; i++) {
            if (labels[i] < 0) continue;
            const ts_real *x = points + i * d, *c = centers + labels[i] * d;
            if (cost == TS_COST_COSINE) {
                part[b] += cosine_distance(d, x, c);
                continue;
            }
            const double distance = squared_distance(d, rescaling->scale, x, c);
            part[b] += cost == TS_COST_DISTANCE ? sqrt(distance) : distance;
        }
    for (int64_t b = 0; b < BLOCKS; b++) sum += part[b];
    return sum;
}
