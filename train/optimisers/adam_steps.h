/* adam_steps.h: what Adam and AdamW, which is Adam with a decay, have in common. Formulas: optimiser.h. */
#ifndef TS_ADAM_STEPS_H
#define TS_ADAM_STEPS_H

#include "../optimiser.h"

bool ts_adam_fits(const ts_optimiser *optimiser, const ts_real *grads);
void ts_adam_step(const ts_optimiser *optimiser, double rate, ts_real *values, const ts_real *grads);

// clang-format off
#define TS_ADAM_FIELDS                                                                                                  \
    {"beta1", TS_FIELD_REAL, .initial = 0.9, .least = 0, .most = 1, .below = true, .help = "decay of the first moment"},   \
    {"beta2", TS_FIELD_REAL, .initial = 0.999, .least = 0, .most = 1, .below = true, .help = "of the second"},            \
    {"epsilon", TS_FIELD_REAL, .initial = 1e-8, .least = 0, .above = true, .most = INFINITY, .help = "beside the root"}
// clang-format on

#endif
