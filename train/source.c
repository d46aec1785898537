/* source.c: what sources have in common. */
#include "source.h"

#include <stdlib.h>

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
