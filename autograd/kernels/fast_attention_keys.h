/* fast_attention_keys.h: what is made of a batch's keys and values before rows meet them. */
#ifndef TS_FAST_ATTENTION_KEYS_H
#define TS_FAST_ATTENTION_KEYS_H

#include <math.h>

#include "fast_attention_blocks.h"

static bool is_finite(const ts_real *x, int64_t n) {
    int spoilt = 0;
    for (int64_t c = 0; c < n; c++) spoilt |= !(x[c] - x[c] == 0);
    return !spoilt;
}

enum { SAMPLE = 64 };

/* The key to take into the mean as number s of `samples`, SAMPLE or all keys: they are spread evenly. Under a mask one
 * that some row sees, for what is excluded may lie anywhere, and a finite one; -1 if there is none. */
static int64_t sampled_key(const ts_fast_attention *a, int64_t batch, int64_t s, int64_t samples) {
    const int64_t start = samples == SAMPLE ? s * a->m / SAMPLE : s;
    if (a->mask == NULL) return start;
    const ts_real *mask = a->mask + (batch * a->n + s * a->n / samples) * a->m, *k = a->k + batch * a->m * a->e;
    for (int64_t t = 0; t < a->m; t++) {
        const int64_t j = (start + t) % a->m;
        if (mask[j] != 0 && is_finite(k + j * a->e, a->e)) return j;
    }
    return -1;
}

enum { COLUMNS = 8 };
typedef ts_real real_columns __attribute__((vector_size(COLUMNS * sizeof(ts_real))));
typedef double double_columns __attribute__((vector_size(COLUMNS * sizeof(double))));

/* The mean of at most SAMPLE keys: any point in their midst would do. */
static void find_centre(const ts_fast_task *task, int64_t batch) {
    const ts_fast_attention *a = task->a;
    const ts_real *k = a->k + batch * a->m * a->e;
    int64_t keys[SAMPLE], count = 0;
    const int64_t samples = a->mask != NULL || a->m > SAMPLE ? SAMPLE : a->m;
    for (int64_t s = 0; s < samples; s++) {
        keys[count] = sampled_key(a, batch, s, samples);
        if (keys[count] >= 0) count++;
    }
    memset(task->centre, 0, (size_t)task->key_step * sizeof *task->centre);
    for (int64_t next = 0; next < a->e && count > 0; next += COLUMNS) {
        const int64_t columns = least(a->e, COLUMNS), first = least(next, a->e - columns); /* the last may overlap */
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

/* Keys less the centre, and their norms. */
static void centre_keys(const ts_fast_task *task, int64_t batch) {
    const ts_fast_attention *a = task->a;
    const int64_t tail = a->e / LANES * LANES; /* the vector from there on ends in the next keys: `own` cuts it off */
    vec_int own;
    for (int l = 0; l < LANES; l++) own[l] = tail + l < a->e ? -1 : 0;
    const ts_real *k = a->k + batch * a->m * a->e;
    ts_real *x = task->centred;
    for (int64_t j = 0; j < a->m; j++, k += a->e, x += task->key_step) {
        const ts_real *from = k;
        vec sums = {0};
        if ((a->m - j) * a->e < tail + LANES) { /* no key may follow */
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
        task->bias[j] = a->euclidean ? -task->score_scale / 2 * vec_sum(sums) : 0;
    }
}

/* Under a mask a key whose coordinates or values are not finite becomes zeros with a score of NaN: rows that exclude
 * it never multiply by what stood there, the others are spoilt. */
static void set_aside(const ts_fast_task *task, int64_t batch) {
    const ts_fast_attention *a = task->a;
    memcpy(task->own_values, a->v + batch * a->m * a->f, (size_t)(a->m * a->f) * sizeof(ts_real));
    for (int64_t j = 0; j < a->m; j++) {
        ts_real *k = task->centred + j * task->key_step, *v = task->own_values + j * a->f;
        if (is_finite(k, a->e) && is_finite(v, a->f)) continue;
        memset(k, 0, (size_t)a->e * sizeof *k);
        memset(v, 0, (size_t)a->f * sizeof *v);
        task->bias[j] = (ts_real)NAN;
    }
}

static void prepare(const ts_fast_task *task, int64_t batch) {
    if (task->a->euclidean)
        find_centre(task, batch);
    else
        memset(task->centre, 0, (size_t)task->key_step * sizeof *task->centre);
    centre_keys(task, batch);
    if (task->a->mask != NULL) set_aside(task, batch);
}

#endif
