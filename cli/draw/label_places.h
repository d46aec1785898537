/* label_places.h: where names stand beside the points that they name, so that none covers another. */
#ifndef CLI_LABEL_PLACES_H
#define CLI_LABEL_PLACES_H

#include <stdint.h>

/* A point, and its name: the middle of a text of this size. */
typedef struct cli_label_place {
    double point[2];
    double width, height;
    double middle[2]; /* the answer */
} cli_label_place;

/* Each name goes next to its point, or as far away as it must so that it covers no other name, and no point, inside
 * 0..width, 0..height; where there is no such place, where it covers the fewest. O(count^2). */
void cli_place_labels(int64_t count, cli_label_place *labels, double width, double height);

#endif
