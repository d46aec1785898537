/* families.c: tasks of the families, of sizes that are drawn. */
#include <math.h>
#include <stdlib.h>

#include "../source.h"

typedef struct families {
    ts_source source;
    ts_families_spec spec;
} families;

/* What is drawn of a task, by number. */
enum { POINTS, DIMENSIONS, CLUSTERS, COMPONENTS, SCALE, DRAWS };

static double uniform(uint64_t seed, uint32_t step, uint64_t task, int what) {
    return ts_rng_uniform((ts_rng){seed, ts_rng_stream("task sizes"), step}, task * DRAWS + (uint64_t)what);
}

/* A whole number of the range, by a uniform u in (0,1); in the logarithm if `scaled`. */
static int64_t between(ts_bounds range, double u, bool scaled) {
    if (range.least == range.most) return range.least;
    const double low = (double)range.least, high = (double)range.most + 1;
    const double value = scaled ? low * pow(high / low, u) : low + (high - low) * u;
    const int64_t whole = (int64_t)floor(value);
    return whole > range.most ? range.most : whole < range.least ? range.least : whole;
}

static ts_status draw(const ts_source *source, uint64_t seed, uint32_t step, uint64_t task, ts_task_buffer *buffer,
                      ts_task *out, ts_error *error) {
    const ts_families_spec *s = &((const families *)(const void *)source)->spec;
    double u[DRAWS];
    for (int i = 0; i < DRAWS; i++) u[i] = uniform(seed, step, task, i);
    const int64_t n = between(s->n, u[POINTS], true), d = between(s->d, u[DIMENSIONS], false);
    int64_t k = between(s->k, u[CLUSTERS], false);
    k = k < n ? k : n;
    int64_t components = s->components.most > 0 ? between(s->components, u[COMPONENTS], false) : k;
    components = components < n ? components : n;
    const bool spreads = s->scale_most > 0 && s->scale_most != s->scale;
    const ts_task_spec spec = {.n = n,
                               .d = d,
                               .k = components,
                               .family = s->family[task % (uint64_t)s->families],
                               .scale = spreads ? s->scale * pow(s->scale_most / s->scale, u[SCALE]) : s->scale,
                               .anisotropic = s->anisotropic,
                               .unequal = s->unequal};
    if (ts_task_check(&spec, error) != TS_OK) return error->status;
    if (!ts_task_buffer_fit(buffer, n, d, ts_task_room(&spec)))
        return ts_error_set(error, TS_ERROR_MEMORY, "task: out of memory for n = %lld rows", (long long)n);
    *out = (ts_task){n, d, k, buffer->points};
    return ts_task_draw_in(buffer->room, &spec, seed, step, task, buffer->points, NULL, error);
}

static void release(ts_source *source) {
    free(source);
}

/* Every corner of the ranges must be a task. */
static ts_status check(const ts_families_spec *s, ts_error *error) {
    const struct {
        const char *name;
        ts_bounds range;
        int64_t least;
    } ranges[] = {{"n", s->n, 1}, {"d", s->d, 1}, {"k", s->k, 1}, {"components", s->components, 0}};
    for (int i = 0; i < 4; i++)
        if (ranges[i].range.least < ranges[i].least || ranges[i].range.most < ranges[i].range.least)
            return ts_error_set(error, TS_ERROR_VALUE, "%s: %lld to %lld is no range from %lld on", ranges[i].name,
                                (long long)ranges[i].range.least, (long long)ranges[i].range.most,
                                (long long)ranges[i].least);
    if (s->families < 1 || s->families > TS_MOST_FAMILIES)
        return ts_error_set(error, TS_ERROR_VALUE, "families: 1 to %d are possible", TS_MOST_FAMILIES);
    if (s->k.least > s->n.least)
        return ts_error_set(error, TS_ERROR_VALUE, "k = %lld clusters of n = %lld rows: at most as many are possible",
                            (long long)s->k.least, (long long)s->n.least);
    const double scales[] = {s->scale, s->scale_most > 0 ? s->scale_most : s->scale};
    for (int f = 0; f < s->families; f++)
        for (int i = 0; i < 2; i++) {
            const ts_task_spec spec = {
                .n = s->n.most, .d = s->d.most, .k = 1, .family = s->family[f], .scale = scales[i]};
            if (ts_task_check(&spec, error) != TS_OK) return error->status;
        }
    return TS_OK;
}

ts_source *ts_source_of_families(const ts_families_spec *spec, ts_error *error) {
    if (check(spec, error) != TS_OK) return NULL;
    families *f = calloc(1, sizeof *f);
    if (f == NULL) {
        ts_error_set(error, TS_ERROR_MEMORY, "out of memory for tasks");
        return NULL;
    }
    f->source =
        (ts_source){.name = "families", .n = spec->n, .d = spec->d, .k = spec->k, .draw = draw, .free = release};
    f->spec = *spec;
    return &f->source;
}
