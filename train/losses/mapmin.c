/* mapmin.c: sum_i <P(-r_i / tau), r_i> with any simplex map P of scores of any sign. */
#include "../../autograd/ops.h"
#include "../loss.h"

enum { MAP, PARAMETER };
static const ts_field fields[] = {
    [MAP] = {"map", TS_FIELD_MAP, .help = "P"},
    [PARAMETER] = {"parameter", TS_FIELD_REAL, .initial = 0, .least = -1e300, .most = 1e300, .help = "of the map"},
    {.name = NULL}};

static ts_tensor *of_distances(ts_tape *tape, ts_tensor *distances, const ts_loss_spec *spec) {
    const ts_simplex_spec map = {.map = ts_simplex_maps[(int)spec->field[MAP]], .parameter = spec->field[PARAMETER]};
    if (map.map->domain != TS_SCORES_ANY || map.map->random)
        return ts_fail(tape, TS_ERROR_VALUE, "clustering loss mapmin: %s is not for distances", map.map->name);
    return ts_soft_minimum(tape, distances, spec->tau, &map);
}

const ts_loss ts_mapmin_loss = {.name = "mapmin",
                                .summary = "the mean distance under any simplex map",
                                .has_tau = true,
                                .fields = fields,
                                .of_distances = of_distances};
