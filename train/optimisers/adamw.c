/* adamw.c: as adam, but x -= rate (mh / (sqrt(vh) + epsilon) + decay x): the decay does not enter the moments
 * [Loshchilov & Hutter 2019, algorithm 2]. */
#include <math.h>

#include "adam_steps.h"

static const ts_field fields[] = {
    TS_ADAM_FIELDS,
    {"decay", TS_FIELD_REAL, .initial = 0.01, .least = 0, .most = INFINITY, .help = "of the values"},
    {.name = NULL}};

const ts_optimiser_type ts_adamw_optimiser = {.name = "adamw",
                                              .summary = "Adam with decoupled decay",
                                              .fields = fields,
                                              .moments = 2,
                                              .fits = ts_adam_fits,
                                              .step = ts_adam_step};
