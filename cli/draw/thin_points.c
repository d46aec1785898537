#include "thin_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A cell and a group, as an entry of a hash table; rows are counted from 1, 0 is an empty entry. */
typedef struct entry {
    int64_t row, x, y, group;
} entry;

typedef struct cells {
    entry *entries;
    uint64_t count; /* a power of two */
} cells;

/* Is the cell taken by a point of the group? If not, it is from now on. */
static bool take(cells *c, entry new) {
    uint64_t at = (uint64_t) new.x * 0x9E3779B97F4A7C15u + (uint64_t) new.y * 0xC2B2AE3D27D4EB4Fu +
                  (uint64_t) new.group * 0xFF51AFD7u;
    for (at ^= at >> 29;; at++) {
        entry *e = &c->entries[at & (c->count - 1)];
        if (e->row == 0) {
            *e = new;
            return false;
        }
        if (e->x == new.x && e->y == new.y && e->group == new.group) return true;
    }
}

/* Picks the first point of each group in each cell of this size; returns how many, -1 if more than `most`. */
static int64_t pick(int64_t n, const int64_t *group, cli_point_place place, const void *context, double size,
                    int64_t most, cells *c, int64_t *rows) {
    int64_t picked = 0;
    memset(c->entries, 0, c->count * sizeof *c->entries);
    for (int64_t i = 0; i < n; i++) {
        double xy[2];
        place(context, i, xy);
        const entry new = {i + 1, (int64_t)floor(xy[0] / size), (int64_t)floor(xy[1] / size), group[i]};
        if (take(c, new)) continue;
        if (picked == most) return -1;
        rows[picked++] = i;
    }
    return picked;
}

/* Points at equal distances in the file, where there are more groups than points to be drawn. */
static int64_t pick_evenly(int64_t n, int64_t most, int64_t *rows) {
    for (int64_t i = 0; i < most; i++) rows[i] = (int64_t)((double)i * ((double)n / (double)most));
    return most;
}

int64_t cli_thin_points(int64_t n, const int64_t *group, cli_point_place place, const void *context, int64_t most,
                        int64_t *rows) {
    enum { SIZES = 40 };
    cells c = {.count = 2};
    int64_t picked = -1;
    if (n <= most) {
        for (int64_t i = 0; i < n; i++) rows[i] = i;
        return n;
    }
    while (c.count < 2 * (uint64_t)most) c.count *= 2;
    c.entries = malloc(c.count * sizeof *c.entries);
    if (c.entries == NULL) return -1;
    double size = 0.5;
    for (int i = 0; i < SIZES && picked < 0; i++, size *= 1.25)
        picked = pick(n, group, place, context, size, most, &c, rows);
    free(c.entries);
    return picked >= 0 ? picked : pick_evenly(n, most, rows);
}
