/* softmin.c: sum_i <softmax(-r_i / tau), r_i>. */
#include "../../autograd/ops.h"
#include "../loss.h"

static const ts_field no_fields[] = {{.name = NULL}};

static ts_tensor *of_distances(ts_tape *tape, ts_tensor *distances, const ts_loss_spec *spec) {
    return ts_soft_minimum(tape, distances, spec->tau, &(ts_simplex_spec){.map = &ts_softmax_map});
}

const ts_loss ts_softmin_loss = {.name = "softmin",
                                 .summary = "the mean distance under a softmax",
                                 .has_tau = true,
                                 .fields = no_fields,
                                 .of_distances = of_distances};
