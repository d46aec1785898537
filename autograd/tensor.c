/* tensor.c: sizes and texts of shapes. */
#include "tensor.h"

#include <stdio.h>

int64_t ts_shape_size(const ts_shape *shape) {
    int64_t size = 1;
    for (int a = 0; a < shape->rank; a++) size *= shape->dim[a];
    return size;
}

bool ts_shape_equal(const ts_shape *a, const ts_shape *b) {
    if (a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i]) return false;
    return true;
}

int64_t ts_shape_cols(const ts_shape *shape) {
    return shape->rank == 0 ? 1 : shape->dim[shape->rank - 1];
}

int64_t ts_shape_rows(const ts_shape *shape) {
    int64_t rows = 1;
    for (int a = 0; a + 1 < shape->rank; a++) rows *= shape->dim[a];
    return rows;
}

const char *ts_shape_text(const ts_shape *shape, char text[TS_SHAPE_TEXT]) {
    size_t used = (size_t)snprintf(text, TS_SHAPE_TEXT, "[");
    for (int a = 0; a < shape->rank && a < TS_MAX_RANK; a++)
        used += (size_t)snprintf(text + used, TS_SHAPE_TEXT - used, a ? ",%lld" : "%lld", (long long)shape->dim[a]);
    snprintf(text + used, TS_SHAPE_TEXT - used, "]");
    return text;
}

bool ts_shape_is_valid(const ts_shape *shape) {
    if (shape->rank < 0 || shape->rank > TS_MAX_RANK) return false;
    int64_t size = 1;
    for (int a = 0; a < shape->rank; a++) {
        const int64_t n = shape->dim[a];
        if (n < 0 || (n > 0 && size > INT64_MAX / 16 / n)) return false; /* room for 16 bytes per element */
        size *= n;
    }
    return true;
}
