#include "rows.h"

#include <string.h>

#include "parallel.h"

enum { CHUNK = 8192 };

static void move_rows(const ts_rectangle *r, bool add, const ts_real *src, ts_real *dst) {
    const int64_t chunks = (r->width + CHUNK - 1) / CHUNK, items = r->rows * chunks;
#pragma omp parallel for if (r->rows * r->width > TS_PARALLEL_CUTOFF)
    for (int64_t item = 0; item < items; item++) {
        const int64_t row = chunks == 1 ? item : item / chunks, column = (item - row * chunks) * CHUNK;
        const int64_t width = r->width - column < CHUNK ? r->width - column : CHUNK;
        const ts_real *from = src + row * r->src_step + column;
        ts_real *to = dst + row * r->dst_step + column;
        if (add)
            for (int64_t c = 0; c < width; c++) to[c] += from[c];
        else
            memcpy(to, from, (size_t)width * sizeof *to);
    }
}

void ts_copy_rows(const ts_rectangle *r, const ts_real *src, ts_real *dst) {
    move_rows(r, false, src, dst);
}

void ts_add_rows(const ts_rectangle *r, const ts_real *src, ts_real *dst) {
    move_rows(r, true, src, dst);
}
