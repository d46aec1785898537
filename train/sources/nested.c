/* nested.c: clusters of clusters. With g `groups`, of locations G ~ U(0,1)^d, cluster j of group j mod g and the row's
 * cluster drawn uniformly,
 *
 *     location of cluster j   G_(j mod g) + spread z,   z ~ N(0, 1) in each dimension
 *     row i                   location + scale z
 *
 * and every dimension scaled to run from 0 to 1. */
#include <math.h>
#include <stdlib.h>

#include "../source.h"

enum { GROUPS, SPREAD, SCALE };
static const ts_field fields[] = {
    [GROUPS] = {"groups", TS_FIELD_WHOLE, .initial = 3, .least = 1, .most = 1 << 20, .help = "groups of clusters"},
    [SPREAD] = {"spread", TS_FIELD_REAL, .initial = 0.15, .least = 0, .most = 1e6, .help = "of clusters in a group"},
    [SCALE] = {"scale", TS_FIELD_REAL, .initial = 0.05, .least = 0, .above = true, .most = 1e6, .help = "of a cluster"},
    {.name = NULL}};

typedef struct nested {
    ts_source source;
    double field[SCALE + 1];
} nested;

static ts_status draw(const ts_source *source, uint64_t seed, uint32_t step, uint64_t task, ts_task_buffer *buffer,
                      ts_task *out, ts_error *error) {
    const double *field = ((const nested *)(const void *)source)->field;
    const ts_rng sizes = {seed, ts_rng_stream("task sizes"), step};
    const uint64_t own = ts_rng_bits((ts_rng){seed, ts_rng_stream("nested tasks"), step}, task);
    const ts_rng groups = {own, ts_rng_stream("groups"), 0}, clusters = {own, ts_rng_stream("clusters"), 0},
                 rows = {own, ts_rng_stream("rows"), 0}, noise = {own, ts_rng_stream("noise"), 0};
    const int64_t n = ts_bounds_draw(source->n, ts_rng_uniform(sizes, 3 * task)),
                  d = ts_bounds_draw(source->d, ts_rng_uniform(sizes, 3 * task + 1)), g = (int64_t)field[GROUPS];
    int64_t k = ts_bounds_draw(source->k, ts_rng_uniform(sizes, 3 * task + 2));
    k = k < n ? k : n;
    if (!ts_task_buffer_fit(buffer, n, d, 0))
        return ts_error_set(error, TS_ERROR_MEMORY, "task: out of memory for n = %lld rows", (long long)n);
    for (int64_t i = 0; i < n; i++) {
        const int64_t j = ts_rng_below(rows, (uint64_t)i, k);
        for (int64_t a = 0; a < d; a++)
            buffer->points[i * d + a] = (ts_real)(ts_rng_uniform(groups, (uint64_t)(j % g * d + a)) +
                                                  field[SPREAD] * ts_rng_normal(clusters, (uint64_t)(j * d + a)) +
                                                  field[SCALE] * ts_rng_normal(noise, (uint64_t)(i * d + a)));
    }
    ts_scale_columns(n, d, buffer->points);
    *out = (ts_task){n, d, k, buffer->points};
    return TS_OK;
}

static void release(ts_source *source) {
    free(source);
}

static ts_source *create(ts_bounds n, ts_bounds d, ts_bounds k, const double *values, ts_error *error) {
    nested *s = ts_fields_check(fields, values, error) == TS_OK ? calloc(1, sizeof *s) : NULL;
    if (s == NULL) {
        ts_error_set(error, TS_ERROR_MEMORY, "out of memory for tasks");
        return NULL;
    }
    s->source = (ts_source){.name = "nested", .n = n, .d = d, .k = k, .draw = draw, .free = release};
    for (int i = 0; i <= SCALE; i++) s->field[i] = values[i];
    return &s->source;
}

const ts_source_type ts_nested_source = {
    .name = "nested", .summary = "clusters of clusters", .fields = fields, .create = create};
