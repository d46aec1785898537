/* rows.h: copies or adds a rectangle of numbers: dst[r * dst_step + c] = or += src[r * src_step + c]. */
#ifndef TS_ROWS_H
#define TS_ROWS_H

#include "../tensor.h"

typedef struct ts_rectangle {
    int64_t rows, width, src_step, dst_step;
} ts_rectangle;

void ts_copy_rows(const ts_rectangle *r, const ts_real *src, ts_real *dst);
void ts_add_rows(const ts_rectangle *r, const ts_real *src, ts_real *dst);

#endif
