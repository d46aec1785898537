/* nearest_key.c: the preparation of keys, and the decision where the filter leaves several (nearest_key.h). */
#include "nearest_key.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "isa.h"

#ifdef TS_DOUBLE
static const double EPS = DBL_EPSILON, SMALLEST = DBL_MIN, LARGEST = DBL_MAX;
#else
static const double EPS = FLT_EPSILON, SMALLEST = FLT_MIN, LARGEST = FLT_MAX;
#endif

static const ts_nearest_kernel *const kernels[TS_ISAS] = TS_ISA_TABLE(ts_nearest_kernels);

/* ---- keys -------------------------------------------------------------------------------------------------------- */

int64_t ts_nearest_keys_size(int64_t d, int64_t k) {
    return d + k * d + k;
}

/* The mean key, up to rounding; any point near it would do. */
static void find_middle(int64_t d, int64_t k, const double *keys, ts_real *middle) {
    for (int64_t c = 0; c < d; c++) {
        double sum = 0;
        for (int64_t j = 0; j < k; j++) sum += keys[j * d + c] / (double)k;
        middle[c] = (ts_real)sum;
    }
}

static double square_of(int64_t d, const ts_real *x) {
    double sum = 0;
    for (int64_t c = 0; c < d; c++) sum += (double)x[c] * (double)x[c];
    return sum;
}

static double square_of_key(int64_t d, const double *key) {
    double sum = 0;
    for (int64_t c = 0; c < d; c++) sum += key[c] * key[c];
    return sum;
}

/* The part of the limit above the least score that does not depend on ||a||; `largest` is the greatest ||b||^2,
 * `middle` is ||m||^2. */
static double constant_of(int64_t d, double share, double largest, bool rounded, double middle) {
    const double underflow = (double)(d + 4) * SMALLEST;
    if (!rounded) return share * largest + underflow;
    return share * largest + 2 * EPS * sqrt(largest * middle) + underflow * (1 + 4 * sqrt(largest));
}

ts_nearest_keys ts_nearest_keys_prepare(int64_t d, int64_t k, bool dot, double gamma, bool rounded, const double *keys,
                                        ts_real *memory) {
    ts_real *const middle = memory, *const factors = middle + d, *const offsets = factors + k * d;
    const double share = 6 * EPS * (double)(d + 4) + (rounded ? 2 * EPS : 0);
    double largest = 0;
    find_middle(d, k, keys, middle);
    for (int64_t j = 0; j < k; j++) {
        ts_real *b = factors + j * d;
        for (int64_t c = 0; c < d; c++) b[c] = (ts_real)(keys[j * d + c] - (double)middle[c]);
        const double square = square_of(d, b);
        largest = fmax(largest, dot ? fmax(square, square_of_key(d, keys + j * d)) : square);
        offsets[j] = dot ? 0 : (ts_real)square;
        for (int64_t c = 0; c < d; c++) b[c] *= dot ? -1 : -2;
    }
    if (dot) memset(middle, 0, (size_t)d * sizeof *middle);
    ts_nearest_keys s = {d, k, dot, gamma, keys, middle, factors, offsets, (ts_real)share, 0};
    s.constant = (ts_real)constant_of(d, share, largest, rounded, square_of(d, middle));
    /* With so many coordinates that errors multiply, or scores that may overflow, the filter passes every key. */
    if (share > 0.25 || !(largest < LARGEST / 16)) s.constant = INFINITY;
    return s;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

int64_t ts_nearest_keys_work(int64_t d, int64_t k) {
    return (2 * d + k + 1) * TS_NEAREST_ROWS;
}

static ts_nearest_work work_of(const ts_nearest_keys *s, ts_real *work) {
    ts_nearest_work w = {.lanes = work};
    w.scores = w.lanes + s->d * TS_NEAREST_ROWS;
    w.limits = w.scores + s->k * TS_NEAREST_ROWS;
    w.padded = w.limits + TS_NEAREST_ROWS;
    return w;
}

static inline double number_at(ts_key_rows x, int64_t c) {
    return x.exact != NULL ? x.exact[c] : (double)x.real[c];
}

/* gamma times the squared distance of row x from key j, or times their negative dot product; the least is nearest. */
static double distance(const ts_nearest_keys *s, ts_key_rows x, int64_t j) {
    const double *key = s->keys + j * s->d;
    double sum = 0;
    if (s->dot) {
        for (int64_t c = 0; c < s->d; c++) sum += number_at(x, c) * key[c];
        return -(s->gamma * sum);
    }
    for (int64_t c = 0; c < s->d; c++) {
        const double difference = number_at(x, c) - key[c];
        sum += difference * difference;
    }
    return s->gamma * sum;
}

/* The nearest of the keys that pass the filter in lane r, or -1 - key if several are equally near. */
static int32_t decide(const ts_nearest_keys *s, ts_key_rows x, const ts_nearest_work *w, int64_t r) {
    int64_t nearest = -1;
    double least = INFINITY;
    bool tie = false;
    for (int64_t j = 0; j < s->k; j++) {
        if (w->scores[j * TS_NEAREST_ROWS + r] > w->limits[r]) continue;
        const double now = distance(s, x, j);
        if (now < least || nearest < 0)
            least = now, nearest = j, tie = false;
        else if (now == least)
            tie = true;
    }
    return (int32_t)(tie ? -1 - nearest : nearest);
}

void ts_nearest_keys_find(const ts_nearest_keys *s, int64_t rows, ts_key_rows x, ts_real *work, int32_t *nearest) {
    const ts_nearest_kernel kernel = *kernels[ts_isa_in_use()];
    const ts_nearest_work w = work_of(s, work);
    for (int64_t first = 0; first < rows; first += TS_NEAREST_ROWS) {
        const int64_t left = rows - first, count = left < TS_NEAREST_ROWS ? left : TS_NEAREST_ROWS;
        kernel(s, count, left - count, x.real + first * s->d, &w, nearest + first);
        for (int64_t r = 0; r < count; r++)
            if (nearest[first + r] < 0) nearest[first + r] = decide(s, ts_key_row(x, first + r, s->d), &w, r);
    }
}

int64_t ts_nearest_keys_ties(const ts_nearest_keys *s, ts_key_rows x, int32_t *ties) {
    int64_t count = 0;
    double least = INFINITY;
    for (int64_t j = 0; j < s->k; j++) {
        const double now = distance(s, x, j);
        if (now > least) continue;
        if (now < least) count = 0;
        least = now;
        ties[count++] = (int32_t)j;
    }
    return count;
}
