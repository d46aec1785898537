#include "tasks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../autograd/kernels/parallel.h"
#include "../models/seeding.h"
#include "noise.h"

/* The element of a random number is the task above, its place within the task in the 40 bits below. */
enum { PLACE_BITS = 40 };
static const int64_t LARGEST_SAMPLE = (int64_t)1 << PLACE_BITS;

/* Beyond them the rows, or the range of a dimension, might not be finite. */
static const double LARGEST_SCALE = 1e100, LARGEST_LOG_SCALE = 64;

/* ---- families ---- */

static const struct {
    const char *name;
    void (*noise)(int64_t pairs, double *values);
    bool exponential;
} FAMILIES[TS_FAMILIES] = {
    [TS_FAMILY_NORMAL] = {"normal", ts_noise_normal, false},
    [TS_FAMILY_CAUCHY] = {"cauchy", ts_noise_cauchy, false},
    [TS_FAMILY_GUMBEL] = {"gumbel", ts_noise_gumbel, false},
    [TS_FAMILY_LAPLACE] = {"laplace", ts_noise_laplace, false},
    [TS_FAMILY_LOGNORMAL] = {"lognormal", ts_noise_normal, true},
};

bool ts_family_by_name(const char *name, ts_family *family) {
    for (int i = 0; i < TS_FAMILIES; i++)
        if (strcmp(name, FAMILIES[i].name) == 0) {
            *family = (ts_family)i;
            return true;
        }
    return false;
}

static bool is_family(ts_family family) {
    return (unsigned)family < TS_FAMILIES;
}

const char *ts_family_name(ts_family family) {
    return is_family(family) ? FAMILIES[family].name : NULL;
}

void ts_family_noise(ts_family family, int64_t pairs, double *values) {
    FAMILIES[family].noise(pairs, values);
}

double ts_family_draw(ts_family family, ts_rng rng, uint64_t element) {
    double pair[2];
    ts_noise_uniforms(rng, element / 2, 1, 1, pair);
    ts_family_noise(family, 1, pair);
    if (FAMILIES[family].exponential) ts_noise_exponential(2, pair);
    return pair[element % 2];
}

/* ---- tasks ---- */

ts_status ts_task_check(const ts_task_spec *spec, ts_error *error) {
    const long long n = spec->n, d = spec->d, k = spec->k;
    if (n < 1) return ts_error_set(error, TS_ERROR_VALUE, "task: n = %lld rows: at least 1 is needed", n);
    if (d < 1) return ts_error_set(error, TS_ERROR_VALUE, "task: d = %lld dimensions: at least 1 is needed", d);
    if (k < 1 || k > n)
        return ts_error_set(error, TS_ERROR_VALUE, "task: k = %lld components of n = %lld rows: 1 to n are possible", k,
                            n);
    if (n > LARGEST_SAMPLE / d)
        return ts_error_set(error, TS_ERROR_VALUE, "task: n = %lld times d = %lld is above 2^%d", n, d, PLACE_BITS);
    if (!is_family(spec->family))
        return ts_error_set(error, TS_ERROR_VALUE, "task: family %d is none", (int)spec->family);
    const double largest = FAMILIES[spec->family].exponential ? LARGEST_LOG_SCALE : LARGEST_SCALE;
    if (!(spec->scale > 0 && spec->scale <= largest))
        return ts_error_set(error, TS_ERROR_VALUE, "task: scale = %g of family %s: above 0 and at most %g is possible",
                            spec->scale, FAMILIES[spec->family].name, largest);
    return TS_OK;
}

/* What drawing a task needs; one for each thread. */
typedef struct sampler {
    const ts_task_spec *spec;
    ts_rng weights, components, locations, scales, noise;
    int64_t pairs;                     /* of rows, the last one perhaps half used */
    int64_t *component;                /* [n] */
    double *column;                    /* [2 * pairs] one dimension of the rows */
    double *weight, *location, *scale; /* [k] of each component, in that dimension */
} sampler;

static bool sampler_create(sampler *s, const ts_task_spec *spec, uint64_t seed, uint32_t step) {
    *s = (sampler){.spec = spec, .pairs = spec->n / 2 + spec->n % 2};
    ts_rng *const rngs[] = {&s->weights, &s->components, &s->locations, &s->scales, &s->noise};
    static const char *const names[] = {"task weights", "task components", "task locations", "task scales",
                                        "task noise"};
    for (int i = 0; i < 5; i++) *rngs[i] = (ts_rng){seed, ts_rng_stream(names[i]), step};
    s->component = malloc((size_t)spec->n * sizeof *s->component);
    s->column = malloc((size_t)(2 * s->pairs + 3 * spec->k) * sizeof *s->column);
    if (s->component == NULL || s->column == NULL) return false;
    s->weight = s->column + 2 * s->pairs;
    s->location = s->weight + spec->k;
    s->scale = s->location + spec->k;
    return true;
}

static void sampler_free(sampler *s) {
    free(s->component);
    free(s->column);
}

/* Each row draws its component by itself, so the order of rows says nothing and no permutation is needed. */
static void draw_components(sampler *s, uint64_t base) {
    const ts_task_spec *spec = s->spec;
    for (int64_t c = 0; c < spec->k; c++)
        s->weight[c] = spec->unequal ? ts_rng_uniform(s->weights, base + (uint64_t)c) : 1;
    for (int64_t i = 0; i < spec->n; i++)
        s->component[i] = ts_pick_weighted(spec->k, s->weight, ts_rng_uniform(s->components, base + (uint64_t)i));
}

/* Dimension j of every row, before scaling. */
TS_CLONES static void draw_column(sampler *s, uint64_t base, int64_t j) {
    const ts_task_spec *spec = s->spec;
    for (int64_t c = 0; c < spec->k; c++) {
        const uint64_t element = base + (uint64_t)(c * spec->d + j);
        s->location[c] = ts_rng_uniform(s->locations, element);
        s->scale[c] = spec->scale * (spec->anisotropic ? ts_rng_uniform(s->scales, element) : 1);
    }
    ts_noise_uniforms(s->noise, base + (uint64_t)j, (uint64_t)spec->d, s->pairs, s->column);
    ts_family_noise(spec->family, s->pairs, s->column);
    for (int64_t i = 0; i < spec->n; i++)
        s->column[i] = s->location[s->component[i]] + s->scale[s->component[i]] * s->column[i];
    if (FAMILIES[spec->family].exponential) ts_noise_exponential(spec->n, s->column);
}

/* Divides by the range rather than multiply by its inverse: the largest value becomes exactly 1. */
TS_CLONES static void write_scaled(int64_t n, const double *column, int64_t d, ts_real *points) {
    double low = column[0], high = column[0];
#pragma omp simd reduction(min : low) reduction(max : high)
    for (int64_t i = 1; i < n; i++) {
        low = column[i] < low ? column[i] : low;
        high = column[i] > high ? column[i] : high;
    }
    const double range = high > low ? high - low : 1;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) points[i * d] = (ts_real)((column[i] - low) / range);
}

static void draw_task(sampler *s, uint64_t task, ts_real *points) {
    const uint64_t base = task << PLACE_BITS;
    draw_components(s, base);
    for (int64_t j = 0; j < s->spec->d; j++) {
        draw_column(s, base, j);
        write_scaled(s->spec->n, s->column, s->spec->d, points + j);
    }
}

static ts_status check_numbers(uint64_t first, int64_t tasks, ts_error *error) {
    if (tasks >= 0 && first <= TS_TASK_LIMIT && (uint64_t)tasks <= TS_TASK_LIMIT - first) return TS_OK;
    return ts_error_set(error, TS_ERROR_VALUE, "task: %lld tasks from number %llu: numbers 0 to %llu are possible",
                        (long long)tasks, (unsigned long long)first, (unsigned long long)TS_TASK_LIMIT - 1);
}

ts_status ts_task_draw(const ts_task_spec *spec, uint64_t seed, uint32_t step, uint64_t task, ts_real *points,
                       int64_t *component, ts_error *error) {
    ts_status status = ts_task_check(spec, error);
    if (status == TS_OK) status = check_numbers(task, 1, error);
    if (status != TS_OK) return status;
    sampler s;
    if (sampler_create(&s, spec, seed, step)) {
        draw_task(&s, task, points);
        if (component != NULL) memcpy(component, s.component, (size_t)spec->n * sizeof *component);
    } else
        status = ts_error_set(error, TS_ERROR_MEMORY, "task: out of memory for n = %lld rows", (long long)spec->n);
    sampler_free(&s);
    return status;
}

ts_status ts_task_batch(const ts_task_spec *spec, uint64_t seed, uint32_t step, uint64_t first, int64_t tasks,
                        ts_real *points, ts_real *centers, ts_error *error) {
    ts_status status = ts_task_check(spec, error);
    if (status == TS_OK) status = check_numbers(first, tasks, error);
    if (status != TS_OK) return status;
    const size_t row = (size_t)spec->d, n = (size_t)spec->n, k = (size_t)spec->k;
    bool short_of_memory = false;
#pragma omp parallel reduction(|| : short_of_memory) if (tasks > 1)
    {
        sampler s;
        short_of_memory = !sampler_create(&s, spec, seed, step);
#pragma omp for schedule(static)
        for (int64_t b = 0; b < tasks; b++) {
            if (short_of_memory) continue;
            ts_real *const sample = points + (size_t)b * n * row;
            draw_task(&s, first + (uint64_t)b, sample);
            if (centers != NULL) memcpy(centers + (size_t)b * k * row, sample, k * row * sizeof *centers);
        }
        sampler_free(&s);
    }
    if (short_of_memory)
        return ts_error_set(error, TS_ERROR_MEMORY, "task: out of memory for n = %lld rows", (long long)spec->n);
    return TS_OK;
}
