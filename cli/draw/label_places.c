#include "label_places.h"

#include <math.h>

enum { DIRECTIONS = 16, RINGS = 8, POINT_RADIUS = 6, RING_WIDTH = 11 };

/* Do texts of these sizes and middles overlap? */
static int overlap(const cli_label_place *a, const double *at, const cli_label_place *b) {
    return fabs(at[0] - b->middle[0]) < (a->width + b->width) / 2 &&
           fabs(at[1] - b->middle[1]) < (a->height + b->height) / 2;
}

static int covers_point(const cli_label_place *a, const double *at, const double *point) {
    return fabs(at[0] - point[0]) < a->width / 2 + POINT_RADIUS &&
           fabs(at[1] - point[1]) < a->height / 2 + POINT_RADIUS;
}

/* How much label `own` would cover if its middle were there; the labels before it are placed. */
static int64_t covered(int64_t count, const cli_label_place *labels, int64_t own, const double *at, double width,
                       double height) {
    const cli_label_place *a = &labels[own];
    int64_t sum = 0;
    if (at[0] < a->width / 2 || at[0] > width - a->width / 2) sum += count;
    if (at[1] < a->height / 2 || at[1] > height - a->height / 2) sum += count;
    for (int64_t i = 0; i < count; i++) {
        sum += i < own ? 2 * overlap(a, at, &labels[i]) : 0;
        sum += i != own && covers_point(a, at, labels[i].point);
    }
    return sum;
}

static void place(int64_t count, cli_label_place *labels, int64_t own, double width, double height) {
    cli_label_place *a = &labels[own];
    const double quarter = acos(0) / 4;
    int64_t fewest = INT64_MAX;
    for (int i = 0; i < DIRECTIONS * RINGS && fewest > 0; i++) {
        /* first right above, then around */
        const double angle = quarter * (2 + (i % 2 == 0 ? 1 : -1) * ((i % DIRECTIONS + 1) / 2));
        const double reach = POINT_RADIUS + 2 + RING_WIDTH * (i / DIRECTIONS);
        const double at[2] = {a->point[0] + cos(angle) * (reach + a->width / 2),
                              a->point[1] - sin(angle) * (reach + a->height / 2)};
        const int64_t sum = covered(count, labels, own, at, width, height);
        if (sum >= fewest) continue;
        fewest = sum;
        a->middle[0] = at[0];
        a->middle[1] = at[1];
    }
}

void cli_place_labels(int64_t count, cli_label_place *labels, double width, double height) {
    for (int64_t i = 0; i < count; i++) place(count, labels, i, width, height);
}
