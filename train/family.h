/* family.h: the shapes of components of synthetic tasks (tasks.h). A family is a descriptor in a file of families/. */
#ifndef TS_FAMILY_H
#define TS_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include "../autograd/double_names.h"

typedef struct ts_family_type {
    const char *name, *summary;
    /* Replaces 2 pairs uniforms by draws z with location 0 and scale 1, in place: from the uniforms u[i] = values[i]
     * and v[i] = values[pairs + i], or each by the quantile function. A uniform is the middle of one of the 2^52 cells
     * of (0,1), so no logarithm or tangent is taken of 0 or 1. Vectorised loops (series.h) give the same bits on every
     * processor. */
    void (*noise)(int64_t pairs, double *values);
    bool exponential; /* rows are the exponentials of l_c + s_c z */
    /* Where a row of component c is in dimension j before its noise, relative to the location, by one uniform u of the
     * row; NULL: at the location. */
    double (*shape)(int64_t c, int64_t j, double u);
    int64_t together; /* as many components in turn share a location; 0: each has its own */
} ts_family_type;

void ts_noise_normal(int64_t pairs, double *values); /* by Box-Muller: u[i] gives the radius, v[i] the angle */

#endif
