/* fast_attention_keys.h: what is prepared from a batch's keys and values before rows meet them. */
#ifndef TS_FAST_ATTENTION_KEYS_H
#define TS_FAST_ATTENTION_KEYS_H

#include <math.h>

#include "../upstream.h"
#include "fast_attention_blocks.h"
#include "simd_nonzero.h"

/* ---- the point that distances are taken about -------------------------------------------------------------------- */

/* The point is the mean of at most this many keys. */
enum { SAMPLE = 64 };

/* common[j] = 1 for a finite key that is seen by every row that sees any key, else 0; returns the number of ones. */
static int64_t find_common(const ts_fast_attention *a, int64_t batch, ts_real *common) {
    const ts_real *k = a->k + batch * a->m * a->e, *mask = a->mask + batch * a->n * a->m;
    int64_t count = 0;
    for (int64_t j = 0; j < a->m; j++) common[j] = is_finite(k + j * a->e, a->e);
    for (int64_t i = 0; i < a->n; i++, mask += a->m) {
        if (!ts_any_nonzero(mask, a->m)) continue;
        for (int64_t j = 0; j < a->m; j++) common[j] = mask[j] != 0 ? common[j] : 0;
    }
    for (int64_t j = 0; j < a->m; j++) count += common[j] != 0;
    return count;
}

static bool is_seen(const ts_fast_attention *a, int64_t batch, int64_t j) {
    const ts_real *mask = a->mask + batch * a->n * a->m + j;
    int64_t i = 0;
    while (i < a->n && mask[i * a->m] == 0) i++;
    return i < a->n;
}

/* The finite key nearest the origin among those that some row sees; -1 if there is none. */
static int64_t shortest_seen(const ts_fast_attention *a, int64_t batch) {
    const ts_real *k = a->k + batch * a->m * a->e;
    double shortest = INFINITY;
    int64_t found = -1;
    for (int64_t j = 0; j < a->m; j++, k += a->e) {
        double square = 0;
        for (int64_t c = 0; c < a->e; c++) square += (double)k[c] * (double)k[c];
        if (!(square < shortest) || !is_seen(a, batch, j)) continue;
        shortest = square;
        found = j;
    }
    return found;
}

/* Finds the keys whose mean is the centre, spread evenly over all keys; returns their number. Excluded keys may lie
 * anywhere, so under a mask these are keys that all rows see, and a key that some row excludes has no influence. If
 * there are none, the shortest key that any row sees is taken alone: then no outlier of one row costs another row
 * digits. */
static int64_t sample_keys(const ts_fast_task *task, int64_t batch, int64_t keys[SAMPLE]) {
    const ts_fast_attention *a = task->a;
    ts_real *const common = task->bias; /* not computed yet, used as scratch */
    const int64_t all = a->mask == NULL ? a->m : find_common(a, batch, common), samples = least(all, SAMPLE);
    if (all == 0) {
        keys[0] = shortest_seen(a, batch);
        return keys[0] >= 0;
    }
    for (int64_t s = 0, j = -1, passed = 0; s < samples; s++) {
        const int64_t wanted = s * all / samples; /* index among the eligible keys */
        if (a->mask == NULL) j = passed = wanted;
        for (; passed <= wanted && a->mask != NULL; passed += common[j] != 0) j++;
        keys[s] = j;
    }
    return samples;
}

enum { COLUMNS = 8 };
typedef ts_real real_columns __attribute__((vector_size(COLUMNS * sizeof(ts_real))));
typedef double double_columns __attribute__((vector_size(COLUMNS * sizeof(double))));

/* The mean of at most SAMPLE keys; any point amid them would do. */
static void find_centre(const ts_fast_task *task, int64_t batch) {
    const ts_fast_attention *a = task->a;
    const ts_real *k = a->k + batch * a->m * a->e;
    int64_t keys[SAMPLE];
    const int64_t count = sample_keys(task, batch, keys);
    memset(task->centre, 0, (size_t)task->key_step * sizeof *task->centre);
    for (int64_t next = 0; next < a->e && count > 0; next += COLUMNS) {
        const int64_t columns = least(a->e, COLUMNS),
                      first = least(next, a->e - columns); /* the last group may overlap */
        double_columns sums = {0};
        for (int64_t s = 0; s < count; s++) {
            real_columns x = {0};
            if (columns == COLUMNS)
                memcpy(&x, k + keys[s] * a->e + first, sizeof x);
            else
                for (int64_t c = 0; c < columns; c++) x[c] = k[keys[s] * a->e + first + c];
            sums += __builtin_convertvector(x, double_columns);
        }
        for (int64_t c = 0; c < columns; c++) task->centre[first + c] = (ts_real)(sums[c] / (double)count);
    }
}

/* ---- preparation ------------------------------------------------------------------------------------------------- */

/* Keys minus the centre, and the bias from their norms. */
static void centre_keys(const ts_fast_task *task, int64_t batch) {
    const ts_fast_attention *a = task->a;
    const int64_t tail =
        a->e / LANES * LANES; /* the vector from there on extends into the next key, which `own` masks */
    vec_int own;
    for (int l = 0; l < LANES; l++) own[l] = tail + l < a->e ? -1 : 0;
    const ts_real *k = a->k + batch * a->m * a->e;
    ts_real *x = task->centred;
    for (int64_t j = 0; j < a->m; j++, k += a->e, x += task->key_step) {
        const ts_real *from = k;
        vec sums = {0};
        if ((a->m - j) * a->e < tail + LANES) { /* a whole vector would pass the end of k */
            memcpy(x, k, (size_t)a->e * sizeof *x);
            from = x;
        }
        for (int64_t c = 0; c < task->key_step; c += LANES) {
            vec d = {0};
            if (c < a->e) d = vec_load(from + c) - vec_load(task->centre + c);
            if (c == tail) d = vec_where(own, d);
            vec_store(x + c, d);
            sums += d * d;
        }
        task->bias[j] = -task->score_scale / 2 * vec_sum(sums);
    }
}

static void prepare(const ts_fast_task *task, int64_t batch) {
    const ts_fast_attention *a = task->a;
    if (a->euclidean) {
        find_centre(task, batch);
        centre_keys(task, batch);
    }
    if (task->nonfinite == NULL) return;
    task->nonfinite[batch] = !is_finite(task->keys, a->m * task->key_step) || !is_finite(task->values, a->m * a->f);
}

#endif
