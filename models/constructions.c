/* constructions.c: transformers with fixed weights that are clustering algorithms. Each reads as a row of the paper's
 * table: what queries and keys look at, how scores become weights, what the values carry. */
#include <math.h>

#include "definition.h"

static ts_projection take(ts_group group, double scale) {
    return (ts_projection){.n_copies = 1, .copy = {{.from = group, .to = group, .scale = scale}}};
}

/* Self-attention that erases a group from the residual stream: with Q = K a set of tokens attends to itself, up to
 * duplicates, which carry equal values; so P = I is exact, and needs no n x n scores. */
static ts_block erase(ts_group group) {
    return (ts_block){.identity = true, .query = take(group, 1), .key = take(group, 1), .value = take(group, -1)};
}

ts_definition ts_lloyd_onehot(double gamma, bool share_ties) {
    const bool exact = isinf(gamma);
    const ts_simplex *nearest = share_ties ? &ts_hardmax_map : &ts_argmax_map;
    return (ts_definition){.name = "lloyd-onehot",
                           .scheme = TS_SCHEME_ONEHOT,
                           /* a point writes the code of its nearest centre */
                           .cross_points = {.score = TS_SCORE_EUCLIDEAN,
                                            .simplex = {.map = exact ? nearest : &ts_softmax_map},
                                            .gamma = exact ? 1 : gamma,
                                            .query = take(TS_GROUP_DATA, 1),
                                            .key = take(TS_GROUP_DATA, 1),
                                            .value = take(TS_GROUP_SCRATCH, 1)},
                           .self_points = erase(TS_GROUP_SCRATCH),
                           /* a centre averages the points that carry its code, weighted by how much of it they carry */
                           .cross_centers = {.score = TS_SCORE_DOT,
                                             .simplex = {.map = &ts_linear_map},
                                             .gamma = 1,
                                             .query = take(TS_GROUP_SCRATCH, 1),
                                             .key = take(TS_GROUP_SCRATCH, 1),
                                             .value = take(TS_GROUP_DATA, 1)},
                           .self_centers = erase(TS_GROUP_DATA)};
}
