/* hardmin.c: sum_i min_j r_ij, the k-means objective itself; its gradient is that of the nearest centres. */
#include "../../autograd/ops.h"
#include "../loss.h"

static const ts_field no_fields[] = {{.name = NULL}};

static ts_tensor *of_distances(ts_tape *tape, ts_tensor *distances, const ts_loss_spec *spec) {
    (void)spec;
    return ts_sum_of_tasks(tape, ts_min(tape, distances, -1, true));
}

const ts_loss ts_hardmin_loss = {.name = "hardmin",
                                 .summary = "the k-means objective",
                                 .has_tau = false,
                                 .fields = no_fields,
                                 .of_distances = of_distances};
