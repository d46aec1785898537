/* rows.c: copies and sums of rectangles, in chunks that threads share (rows.h). */
#include "rows.h"

#include <string.h>

#include "../parallel.h"

enum { CHUNK = 8192 };

typedef struct call {
    const ts_rectangle *r;
    int64_t chunks;
    bool add;
    const ts_real *src;
    ts_real *dst;
} call;

static void move_chunk(const void *context, int64_t item) {
    const call *k = context;
    const ts_rectangle *r = k->r;
    const int64_t row = k->chunks == 1 ? item : item / k->chunks, column = (item - row * k->chunks) * CHUNK;
    const int64_t width = r->width - column < CHUNK ? r->width - column : CHUNK;
    const ts_real *from = k->src + row * r->src_step + column;
    ts_real *to = k->dst + row * r->dst_step + column;
    if (k->add)
        for (int64_t c = 0; c < width; c++) to[c] += from[c];
    else
        memcpy(to, from, (size_t)width * sizeof *to);
}

static void move_rows(const ts_rectangle *r, bool add, const ts_real *src, ts_real *dst) {
    const call k = {.r = r, .chunks = (r->width + CHUNK - 1) / CHUNK, .add = add, .src = src, .dst = dst};
    ts_for_each(r->rows * k.chunks, r->rows * r->width, move_chunk, &k);
}

void ts_copy_rows(const ts_rectangle *r, const ts_real *src, ts_real *dst) {
    move_rows(r, false, src, dst);
}

void ts_add_rows(const ts_rectangle *r, const ts_real *src, ts_real *dst) {
    move_rows(r, true, src, dst);
}
