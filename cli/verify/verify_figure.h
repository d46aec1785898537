/* verify_figure.h: figure 3 of Clarkson et al., "Transformer Circuits Can Realize Clustering Algorithms" (ICML 2026):
 * the log of the k-means objective along the steps of a circuit with softmax attention, and of Lloyd's algorithm.
 * D = 2, N = 10000, K = 5, gamma = 10^4, T = 10, points scaled to [0,5]; the objective is that of the points in [0,1],
 * 25 times less. */
#ifndef CLI_VERIFY_FIGURE_H
#define CLI_VERIFY_FIGURE_H

#include "../../models/definition/variants.h"

enum { CLI_FIGURE_STEPS = 10, CLI_FIGURE_POINTS = 10000 };

typedef struct cli_figure {
    const char *construction;
    double lloyd[CLI_FIGURE_STEPS + 1], circuit[CLI_FIGURE_STEPS + 1]; /* log objective after 0 .. T steps */
    double difference;                                                 /* the largest between the two */
    int64_t onehot; /* points of which one centre has all the weight; -1 where codes do not tell */
} cli_figure;

/* The published curves, which are one by eye, of the paper's own sample. */
extern const double cli_figure_published[CLI_FIGURE_STEPS + 1];

/* What the published curves agree to by eye, and ours must to the third decimal. */
#define CLI_FIGURE_BOUND 1e-3

/* Draws the points from `seed` and runs both. */
ts_status cli_figure_run(const char *construction, uint64_t seed, cli_figure *figure, ts_error *error);

#endif
