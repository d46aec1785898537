/* rows.c: tasks of the caller's rows and columns. */
#include <math.h>
#include <stdlib.h>

#include "../source.h"

typedef struct rows {
    ts_source source;
    const ts_real *points;
    int64_t rows, columns;
} rows;

enum { POINTS, DIMENSIONS, CLUSTERS, DRAWS };

/* The first `count` of 0 .. total - 1 in random order: Fisher & Yates, stopped early. */
static void choose(int64_t total, int64_t count, ts_rng rng, int64_t *order) {
    for (int64_t i = 0; i < total; i++) order[i] = i;
    for (int64_t i = 0; i < count; i++) {
        const int64_t j = i + ts_rng_below(rng, (uint64_t)i, total - i), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

static ts_status draw(const ts_source *source, uint64_t seed, uint32_t step, uint64_t task, ts_task_buffer *buffer,
                      ts_task *out, ts_error *error) {
    const rows *r = (const rows *)(const void *)source;
    const ts_rng sizes = {seed, ts_rng_stream("task sizes"), step};
    const int64_t n = ts_bounds_draw(source->n, ts_rng_uniform(sizes, task * DRAWS + POINTS)),
                  d = ts_bounds_draw(source->d, ts_rng_uniform(sizes, task * DRAWS + DIMENSIONS));
    const int64_t k = ts_bounds_draw(source->k, ts_rng_uniform(sizes, task * DRAWS + CLUSTERS));
    if (!ts_task_buffer_fit(buffer, n, d, (size_t)(r->rows + r->columns) * sizeof(int64_t)))
        return ts_error_set(error, TS_ERROR_MEMORY, "task: out of memory for n = %lld rows", (long long)n);
    int64_t *row = buffer->room, *column = row + r->rows;
    const uint64_t own = ts_rng_bits((ts_rng){seed, ts_rng_stream("task rows"), step}, task);
    choose(r->rows, n, (ts_rng){own, ts_rng_stream("rows"), 0}, row);
    choose(r->columns, d, (ts_rng){own, ts_rng_stream("columns"), 0}, column);
    for (int64_t i = 0; i < n; i++)
        for (int64_t a = 0; a < d; a++) buffer->points[i * d + a] = r->points[row[i] * r->columns + column[a]];
    ts_scale_columns(n, d, buffer->points);
    *out = (ts_task){n, d, k < n ? k : n, buffer->points};
    return TS_OK;
}

static void release(ts_source *source) {
    free(source);
}

static ts_bounds cut(ts_bounds range, int64_t most) {
    if (range.most > most) range.most = most;
    if (range.least > range.most) range.least = range.most;
    return range;
}

ts_source *ts_source_of_rows(const ts_real *points, int64_t count, int64_t columns, ts_bounds n, ts_bounds d,
                             ts_bounds k, ts_error *error) {
    if (points == NULL || count < 1 || columns < 1 || n.least < 1 || d.least < 1 || k.least < 1) {
        ts_error_set(error, TS_ERROR_VALUE, "data: no rows, columns or clusters to draw from");
        return NULL;
    }
    for (int64_t i = 0; i < count * columns; i++)
        if (!isfinite(points[i])) {
            ts_error_set(error, TS_ERROR_VALUE, "data: row %lld holds what is no finite number",
                         (long long)(i / columns) + 1);
            return NULL;
        }
    rows *r = calloc(1, sizeof *r);
    if (r == NULL) {
        ts_error_set(error, TS_ERROR_MEMORY, "out of memory for tasks");
        return NULL;
    }
    n = cut(n, count);
    r->source =
        (ts_source){.name = "rows", .n = n, .d = cut(d, columns), .k = cut(k, n.most), .draw = draw, .free = release};
    r->points = points;
    r->rows = count;
    r->columns = columns;
    return &r->source;
}
