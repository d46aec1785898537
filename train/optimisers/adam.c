/* adam.c: m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2, x -= rate mh / (sqrt(vh) + epsilon) with the
 * corrected moments mh, vh [Kingma & Ba 2015, algorithm 1: epsilon outside the root]. */
#include <math.h>

#include "adam_steps.h"

static const ts_field fields[] = {TS_ADAM_FIELDS, {.name = NULL}};

const ts_optimiser_type ts_adam_optimiser = {
    .name = "adam", .summary = "Adam", .fields = fields, .moments = 2, .fits = ts_adam_fits, .step = ts_adam_step};
