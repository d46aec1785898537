/* tokens.c: constructions, places of groups of coordinates, and codes. */
#include "tokens.h"

#include <math.h>

const char *const ts_construction_names[] = {"onehot", "binary", "none", "dot", NULL};
const char *const ts_group_names[] = {"data", "code", "norm", "one", "memory", NULL};

int64_t ts_construction_code_width(ts_construction construction, int64_t k) {
    int64_t bits = 1;
    switch (construction) {
    case TS_CONSTRUCTION_ONEHOT:
    case TS_CONSTRUCTION_DOT: return k;
    case TS_CONSTRUCTION_BINARY:
        while (((int64_t)1 << bits) < k) bits++;
        return bits;
    case TS_CONSTRUCTION_NONE: break;
    }
    return 0;
}

int64_t ts_construction_width(ts_construction construction, int64_t k) {
    return ts_construction_code_width(construction, k) + (construction == TS_CONSTRUCTION_DOT ? 2 : 0);
}

void ts_construction_code_book(ts_construction construction, int64_t k, ts_real *book) {
    const int64_t width = ts_construction_code_width(construction, k);
    for (int64_t j = 0; j < k; j++)
        for (int64_t c = 0; c < width; c++)
            book[j * width + c] = construction == TS_CONSTRUCTION_BINARY ? (ts_real)(j >> c & 1) : j == c;
}

ts_layout ts_layout_of(const ts_token_spec *spec, int64_t d, int64_t k) {
    const int64_t s = ts_construction_width(spec->construction, k) + spec->memory;
    return (ts_layout){*spec, d, k, ts_construction_code_width(spec->construction, k), s, d + s};
}

ts_place ts_layout_place(const ts_layout *layout, const ts_range *range) {
    const int64_t one = layout->spec.construction == TS_CONSTRUCTION_DOT ? 1 : 0;
    const int64_t width[TS_GROUPS] = {layout->d, layout->c, one, one, layout->spec.memory};
    const int g = (int)range->group;
    int64_t first = range->first;
    if (g < 0 || g >= TS_GROUPS || first < 0 || range->count < 0 || first >= width[g]) return (ts_place){0, -1};
    const int64_t count = range->count == 0 ? width[g] - first : range->count;
    if (count > width[g] - first) return (ts_place){0, -1};
    for (int before = 0; before < g; before++) first += width[before];
    return (ts_place){first, count};
}

ts_place ts_range_place(const ts_range *range, ts_construction construction, int64_t d, int64_t k) {
    const ts_token_spec spec = {.construction = construction};
    const ts_layout layout = ts_layout_of(&spec, d, k);
    return ts_layout_place(&layout, range);
}

/* The bits are told apart one by one: the square of a coordinate's distance from 0 or from 1, added over the bits. */
static double binary_distance(const ts_real *code, int64_t width, int64_t j) {
    double distance = 0;
    for (int64_t l = 0; l < width; l++) {
        const double difference = (double)code[l] - (double)(j >> l & 1);
        distance += difference * difference;
    }
    return distance;
}

int64_t ts_layout_decode(const ts_layout *layout, const ts_real *token) {
    const ts_real *code = token + layout->d;
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t j = 0; j < layout->k; j++) {
        if (layout->spec.construction != TS_CONSTRUCTION_BINARY) { /* the nearest code is that of the largest share */
            if (code[j] > code[best]) best = j;
            continue;
        }
        const double distance = binary_distance(code, layout->c, j);
        if (distance < least) least = distance, best = j;
    }
    return best;
}
