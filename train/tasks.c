/* tasks.c: draws synthetic clustering tasks. */
#include "tasks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../autograd/parallel.h"
#include "../autograd/series.h"
#include "family.h"
#include "train/families_list.h" /* written by meson from its list */

/* The element number of a random draw: the task in the upper bits, the place within the task in the lower 40. */
enum { PLACE_BITS = 40 };
static const int64_t LARGEST_SAMPLE = (int64_t)1 << PLACE_BITS;

/* Larger scales might give rows, or a range of a dimension, that are not finite. */
static const double LARGEST_SCALE = 1e100, LARGEST_LOG_SCALE = 64;

/* ---- families ---- */

/* Replaces each x by e^x, |x| <= 700. */
TS_CLONES static void exponential(int64_t n, double *values) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) values[i] = series_exp(values[i]);
}

#define DECLARE(name) extern const ts_family_type ts_##name##_family;
#define ENTRY(name) &ts_##name##_family,
TS_FAMILIES_LIST(DECLARE)
static const ts_family_type *const FAMILIES[] = {TS_FAMILIES_LIST(ENTRY)};
const int ts_families = sizeof FAMILIES / sizeof *FAMILIES;

bool ts_family_by_name(const char *name, ts_family *family) {
    for (int i = 0; i < ts_families; i++)
        if (strcmp(name, FAMILIES[i]->name) == 0) {
            *family = i;
            return true;
        }
    return false;
}

static bool is_family(ts_family family) {
    return family >= 0 && family < ts_families;
}

const char *ts_family_name(ts_family family) {
    return is_family(family) ? FAMILIES[family]->name : NULL;
}

void ts_family_noise(ts_family family, int64_t pairs, double *values) {
    FAMILIES[family]->noise(pairs, values);
}

double ts_family_draw(ts_family family, ts_rng rng, uint64_t element) {
    double pair[2];
    ts_rng_uniforms(rng, element / 2, 1, 1, pair, pair + 1);
    ts_family_noise(family, 1, pair);
    if (FAMILIES[family]->exponential) exponential(2, pair);
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
    const double largest = FAMILIES[spec->family]->exponential ? LARGEST_LOG_SCALE : LARGEST_SCALE;
    if (!(spec->scale > 0 && spec->scale <= largest))
        return ts_error_set(error, TS_ERROR_VALUE, "task: scale = %g of family %s: above 0 and at most %g is possible",
                            spec->scale, FAMILIES[spec->family]->name, largest);
    return TS_OK;
}

/* Dimensions that are drawn one by one and written together, because each pass over all rows touches all cache lines.
 */
enum { GROUP = 8 };

/* The workspace of one thread for drawing a task. Arrays over the rows are in halves: first rows 0, 2, 4, .., which get
 * the first number of each pair of noise, then rows 1, 3, 5, .. */
typedef struct sampler {
    const ts_task_spec *spec;
    ts_rng weights, components, locations, scales, noise;
    int64_t pairs;            /* pairs of rows; the last may be half used */
    double *column;           /* [2 * pairs] one dimension of the rows, in halves */
    double *weight;           /* [k] cumulative sums of the components' weights */
    double *location, *scale; /* [k,d] of the components; scales only if they differ */
    int64_t *component;       /* [n] the component of each row, in halves */
    ts_real *group;           /* [GROUP,n] scaled dimensions, in halves */
} sampler;

static int64_t pairs_of(const ts_task_spec *spec) {
    return spec->n / 2 + spec->n % 2;
}

size_t ts_task_room(const ts_task_spec *spec) {
    const size_t n = (size_t)spec->n, k = (size_t)spec->k, d = (size_t)spec->d;
    return (2 * (size_t)pairs_of(spec) + k + 2 * k * d) * sizeof(double) +
           n * (sizeof(int64_t) + GROUP * sizeof(ts_real));
}

static sampler sampler_in(void *room, const ts_task_spec *spec, uint64_t seed, uint32_t step) {
    sampler s = {.spec = spec, .pairs = pairs_of(spec), .column = room};
    ts_rng *const rngs[] = {&s.weights, &s.components, &s.locations, &s.scales, &s.noise};
    static const char *const names[] = {"task weights", "task components", "task locations", "task scales",
                                        "task noise"};
    for (int i = 0; i < 5; i++) *rngs[i] = (ts_rng){seed, ts_rng_stream(names[i]), step};
    s.weight = s.column + 2 * s.pairs;
    s.location = s.weight + spec->k;
    s.scale = s.location + spec->k * spec->d;
    s.component = (int64_t *)(void *)(s.scale + spec->k * spec->d);
    s.group = (ts_real *)(void *)(s.component + spec->n);
    return s;
}

/* A row's component is the first whose cumulative weight exceeds u times the total; u < 1 is in the column. */
TS_CLONES static void pick_components(const sampler *s) {
    const int64_t n = s->spec->n, last = s->spec->k - 1;
    const double *sum = s->weight, *u = s->column, total = sum[last];
    for (int64_t i = 0; i < n; i++) s->component[i] = 0;
    for (int64_t c = 0; c < last; c++)
        for (int64_t i = 0; i < n; i++) s->component[i] += sum[c] <= u[i] * total;
}

/* Each row draws its component independently, so the rows need not be permuted. */
static void draw_components(sampler *s, uint64_t base) {
    const ts_task_spec *spec = s->spec;
    const int64_t k = spec->k, numbers = k * spec->d;
    if (spec->unequal) ts_rng_uniforms(s->weights, base, 1, k, s->weight, NULL);
    for (int64_t c = 0; c < k; c++) s->weight[c] = (spec->unequal ? s->weight[c] : 1) + (c > 0 ? s->weight[c - 1] : 0);
    ts_rng_uniforms(s->components, base, 2, s->pairs, s->column, NULL);
    ts_rng_uniforms(s->components, base + 1, 2, spec->n / 2, s->column + s->pairs, NULL);
    pick_components(s);
    ts_rng_uniforms(s->locations, base, 1, numbers, s->location, NULL);
    if (spec->anisotropic) ts_rng_uniforms(s->scales, base, 1, numbers, s->scale, NULL);
    for (int64_t e = 0; e < numbers && spec->anisotropic; e++) s->scale[e] *= spec->scale;
}

/* The same of a family with a shape, row by row. */
static void draw_shaped(sampler *s, uint64_t base, int64_t j) {
    const ts_task_spec *spec = s->spec;
    const ts_family_type *family = FAMILIES[spec->family];
    const int64_t together = family->together > 0 ? family->together : 1;
    const ts_rng rng = {s->noise.seed, ts_rng_stream("task shapes"), s->noise.step};
    ts_rng_uniforms(s->noise, base + (uint64_t)j, (uint64_t)spec->d, s->pairs, s->column, s->column + s->pairs);
    family->noise(s->pairs, s->column);
    for (int64_t i = 0; i < spec->n; i++) {
        const int64_t c = s->component[i], first = c / together * together;
        const double scale = spec->anisotropic ? s->scale[c * spec->d + j] : spec->scale;
        s->column[i] = s->location[first * spec->d + j] + scale * s->column[i] +
                       family->shape(c, j, ts_rng_uniform(rng, base + (uint64_t)i));
    }
    if (family->exponential) exponential(spec->n, s->column);
}

/* Dimension j of every row, before scaling. */
TS_CLONES static void draw_column(sampler *s, uint64_t base, int64_t j) {
    const ts_task_spec *spec = s->spec;
    const double *location = s->location + j, *scale = s->scale + j;
    if (FAMILIES[spec->family]->shape != NULL) {
        draw_shaped(s, base, j);
        return;
    }
    ts_rng_uniforms(s->noise, base + (uint64_t)j, (uint64_t)spec->d, s->pairs, s->column, s->column + s->pairs);
    ts_family_noise(spec->family, s->pairs, s->column);
    if (spec->anisotropic)
        for (int64_t i = 0; i < spec->n; i++) {
            const int64_t of_component = s->component[i] * spec->d;
            s->column[i] = location[of_component] + scale[of_component] * s->column[i];
        }
    else
        for (int64_t i = 0; i < spec->n; i++)
            s->column[i] = location[s->component[i] * spec->d] + spec->scale * s->column[i];
    if (FAMILIES[spec->family]->exponential) exponential(spec->n, s->column);
}

/* Divides by the range instead of multiplying by its inverse, so that the largest value becomes exactly 1. */
TS_CLONES static void scale_column(int64_t n, const double *column, ts_real *scaled) {
    double low = column[0], high = column[0];
#pragma omp simd reduction(min : low) reduction(max : high)
    for (int64_t i = 1; i < n; i++) {
        low = column[i] < low ? column[i] : low;
        high = column[i] > high ? column[i] : high;
    }
    const double range = high > low ? high - low : 1;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) scaled[i] = (ts_real)((column[i] - low) / range);
}

/* Writes every second row from its half of a group. */
static void write_half(const sampler *s, int64_t count, int64_t rows, const ts_real *half, ts_real *points) {
    const int64_t n = s->spec->n, d = s->spec->d;
    for (int64_t i = 0; i < rows; i++)
        if (count == GROUP)
            for (int64_t g = 0; g < GROUP; g++) points[2 * i * d + g] = half[g * n + i];
        else
            for (int64_t g = 0; g < count; g++) points[2 * i * d + g] = half[g * n + i];
}

static void draw_task(sampler *s, uint64_t task, ts_real *points) {
    const uint64_t base = task << PLACE_BITS;
    const int64_t n = s->spec->n, d = s->spec->d;
    draw_components(s, base);
    for (int64_t first = 0; first < d; first += GROUP) {
        const int64_t count = d - first < GROUP ? d - first : GROUP;
        for (int64_t g = 0; g < count; g++) {
            draw_column(s, base, first + g);
            scale_column(n, s->column, s->group + g * n);
        }
        write_half(s, count, s->pairs, s->group, points + first);
        write_half(s, count, n / 2, s->group + s->pairs, points + d + first);
    }
}

static ts_status check_numbers(uint64_t first, int64_t tasks, ts_error *error) {
    if (tasks >= 0 && first <= TS_TASK_LIMIT && (uint64_t)tasks <= TS_TASK_LIMIT - first) return TS_OK;
    return ts_error_set(error, TS_ERROR_VALUE, "task: %lld tasks from number %llu: numbers 0 to %llu are possible",
                        (long long)tasks, (unsigned long long)first, (unsigned long long)TS_TASK_LIMIT - 1);
}

static ts_status short_of_memory(const ts_task_spec *spec, ts_error *error) {
    return ts_error_set(error, TS_ERROR_MEMORY, "task: out of memory for n = %lld rows", (long long)spec->n);
}

ts_status ts_task_draw_in(void *room, const ts_task_spec *spec, uint64_t seed, uint32_t step, uint64_t task,
                          ts_real *points, int64_t *component, ts_error *error) {
    ts_status status = ts_task_check(spec, error);
    if (status == TS_OK) status = check_numbers(task, 1, error);
    if (status != TS_OK) return status;
    sampler s = sampler_in(room, spec, seed, step);
    draw_task(&s, task, points);
    for (int64_t i = 0; component != NULL && i < spec->n; i++) component[i] = s.component[i % 2 * s.pairs + i / 2];
    return TS_OK;
}

ts_status ts_task_draw(const ts_task_spec *spec, uint64_t seed, uint32_t step, uint64_t task, ts_real *points,
                       int64_t *component, ts_error *error) {
    if (ts_task_check(spec, error) != TS_OK) return error->status;
    void *room = malloc(ts_task_room(spec));
    if (room == NULL) return short_of_memory(spec, error);
    const ts_status status = ts_task_draw_in(room, spec, seed, step, task, points, component, error);
    free(room);
    return status;
}

ts_status ts_task_batch(const ts_task_spec *spec, uint64_t seed, uint32_t step, uint64_t first, int64_t tasks,
                        ts_real *points, ts_real *centers, ts_error *error) {
    ts_status status = ts_task_check(spec, error);
    if (status == TS_OK) status = check_numbers(first, tasks, error);
    if (status != TS_OK) return status;
    const size_t row = (size_t)spec->d, n = (size_t)spec->n, k = (size_t)spec->k;
    bool none = false;
#pragma omp parallel reduction(|| : none) if (ts_can_share(tasks))
    {
        void *room = malloc(ts_task_room(spec));
        none = room == NULL;
#pragma omp for schedule(static)
        for (int64_t b = 0; b < tasks; b++) {
            if (none) continue;
            ts_real *const sample = points + (size_t)b * n * row;
            sampler s = sampler_in(room, spec, seed, step);
            draw_task(&s, first + (uint64_t)b, sample);
            if (centers != NULL) memcpy(centers + (size_t)b * k * row, sample, k * row * sizeof *centers);
        }
        free(room);
    }
    return none ? short_of_memory(spec, error) : TS_OK;
}
