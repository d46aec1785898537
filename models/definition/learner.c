/* learner.c: the papers' model as a definition. */
#include "learner.h"

ts_definition ts_learner(ts_construction construction, double gamma, double dropout) {
    ts_definition d = {.name = "learned", .construction = construction};
    for (int i = 0; i < TS_BLOCKS; i++)
        *ts_definition_block(&d, i) = (ts_block_definition){.score = TS_SCORE_EUCLIDEAN,
                                                            .simplex = {.map = &ts_softmax_map},
                                                            .gamma = gamma,
                                                            .scaled = true,
                                                            .dropout = dropout,
                                                            .query = {.learned = true},
                                                            .key = {.learned = true},
                                                            .value = {.learned = true}};
    return d;
}
