/* sparsemin.c: sum_i <sparsemax(-r_i / tau), r_i>. */
#include "../../autograd/ops.h"
#include "../loss.h"

static const ts_field no_fields[] = {{.name = NULL}};

static ts_tensor *of_distances(ts_tape *tape, ts_tensor *distances, const ts_loss_spec *spec) {
    return ts_soft_minimum(tape, distances, spec->tau, &(ts_simplex_spec){.map = &ts_sparsemax_map});
}

const ts_loss ts_sparsemin_loss = {.name = "sparsemin",
                                   .summary = "the same under a sparsemax",
                                   .has_tau = true,
                                   .fields = no_fields,
                                   .of_distances = of_distances};
