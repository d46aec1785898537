/* source.c: what sources have in common. */
#include "source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/sources_list.h" /* written by meson from its list */

#define DECLARE(name) extern const ts_source_type ts_##name##_source;
#define ENTRY(name) &ts_##name##_source,
TS_SOURCES_LIST(DECLARE)
const ts_source_type *const ts_source_types[] = {TS_SOURCES_LIST(ENTRY) NULL};

const ts_source_type *ts_source_type_by_name(const char *name) {
    for (int i = 0; ts_source_types[i] != NULL; i++)
        if (strcmp(ts_source_types[i]->name, name) == 0) return ts_source_types[i];
    return NULL;
}

void ts_scale_columns(int64_t n, int64_t d, ts_real *points) {
    for (int64_t a = 0; a < d; a++) {
        ts_real *column = points + a, low = column[0], high = column[0];
        for (int64_t i = 1; i < n; i++) {
            low = column[i * d] < low ? column[i * d] : low;
            high = column[i * d] > high ? column[i * d] : high;
        }
        const double range = (double)high - (double)low;
        for (int64_t i = 0; i < n; i++)
            column[i * d] = high > low ? (ts_real)(((double)column[i * d] - (double)low) / range) : 0;
    }
}

int64_t ts_bounds_draw(ts_bounds range, double u) {
    const int64_t value = range.least + (int64_t)floor(u * (double)(range.most - range.least + 1));
    return value > range.most ? range.most : value;
}

void ts_task_buffer_clear(ts_task_buffer *buffer) {
    free(buffer->points);
    free(buffer->room);
    *buffer = (ts_task_buffer){0};
}

static bool grow(void **memory, size_t *size, size_t needed) {
    if (needed <= *size) return true;
    free(*memory);
    *memory = malloc(needed);
    *size = *memory == NULL ? 0 : needed;
    return *memory != NULL;
}

bool ts_task_buffer_fit(ts_task_buffer *buffer, int64_t n, int64_t d, size_t room) {
    void *points = buffer->points;
    const bool fits = grow(&points, &buffer->points_size, (size_t)n * (size_t)d * sizeof(ts_real));
    buffer->points = points;
    return grow(&buffer->room, &buffer->room_size, room) && fits;
}

static bool within(int64_t value, ts_bounds bounds) {
    return value >= bounds.least && value <= bounds.most;
}

ts_status ts_source_draw(const ts_source *source, uint64_t seed, uint32_t step, uint64_t task, ts_task_buffer *buffer,
                         ts_task *out, ts_error *error) {
    if (source->draw(source, seed, step, task, buffer, out, error) != TS_OK) return error->status;
    if (out->points != NULL && within(out->n, source->n) && within(out->d, source->d) && within(out->k, source->k) &&
        out->k <= out->n)
        return TS_OK;
    return ts_error_set(error, TS_ERROR_VALUE, "task of %s: n = %lld, d = %lld, k = %lld are not what it says",
                        source->name, (long long)out->n, (long long)out->d, (long long)out->k);
}

void ts_source_free(ts_source *source) {
    if (source != NULL && source->free != NULL) source->free(source);
}
