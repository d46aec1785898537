/* norm_fields.h: what rms_norm and layer_norm have in common: the coordinates that they normalise. */
#ifndef TS_NORM_FIELDS_H
#define TS_NORM_FIELDS_H

#include "../layer.h"

enum { TS_NORM_ALL = TS_GROUPS, TS_NORM_REST };
static const char *const ts_norm_ranges[] = {"data", "code", "norm", "one", "memory", "all", "rest", NULL};
/* The first three fields of both. */
enum { TS_NORM_RANGE, TS_NORM_FIRST, TS_NORM_COUNT, TS_NORM_FIELDS };
// clang-format off
#define TS_NORM_RANGE_FIELDS                                                                                       \
    [TS_NORM_RANGE] = {"range", TS_FIELD_CHOICE, .initial = TS_NORM_ALL, .choices = ts_norm_ranges,                 \
                       .help = "a group of coordinates, all, or the rest: all but data"},                          \
    [TS_NORM_FIRST] = {"first", TS_FIELD_WHOLE, .least = 0, .most = 1 << 30, .help = "the first of them"},          \
    [TS_NORM_COUNT] = {"count", TS_FIELD_WHOLE, .least = 0, .most = 1 << 30, .help = "how many; 0: to the last"}
// clang-format on

/* count is below 1 where tokens do not have these. */
static inline ts_place ts_norm_place(const ts_layout *layout, const ts_layer *layer) {
    const int range = (int)ts_layer_value(layer, TS_NORM_RANGE);
    const int64_t first = (int64_t)ts_layer_value(layer, TS_NORM_FIRST),
                  count = (int64_t)ts_layer_value(layer, TS_NORM_COUNT);
    if (range < TS_GROUPS) return ts_layout_place(layout, &(ts_range){(ts_group)range, first, count});
    const int64_t begin = range == TS_NORM_ALL ? 0 : layout->d, width = layout->e - begin;
    if (first >= width || count > width - first) return (ts_place){0, -1};
    return (ts_place){begin + first, count > 0 ? count : width - first};
}

#endif
