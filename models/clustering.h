/* clustering.h: what every clustering run has, whoever computes it: the circuits of a transformer (circuit.h) or the
 * plain algorithm they must equal (plain.h). Data types only. */
#ifndef TS_CLUSTERING_H
#define TS_CLUSTERING_H

#include <math.h>

#include "../autograd/status.h"
#include "../autograd/tensor.h"

/* What happens to a cluster that no point is assigned to, after the centres' update of a step; empty clusters are
 * treated in ascending order. */
typedef enum ts_empty_policy {
    TS_EMPTY_KEEP,     /* it keeps its old centre; not counted as a repair */
    TS_EMPTY_RANDOM,   /* its centre becomes a data point drawn at random (by seed, step and cluster) */
    TS_EMPTY_FARTHEST, /* its centre becomes the point farthest from the centre it was assigned to, the lowest index
                          among equals; never the only point of its cluster, never a point at distance zero, never a
                          point taken already in this step. If there is none it keeps its centre. */
    TS_EMPTY_ERROR     /* the run fails and names the cluster and the step */
} ts_empty_policy;

/* A problem: points [n,d], row-major, which must outlive the run, and the k initial centres [k,d], copied. */
typedef struct ts_problem {
    int64_t n, d, k;
    const ts_real *points;
    const ts_real *centers;
    ts_empty_policy empty;
    uint64_t seed; /* of the random repairs and draws */
    bool op_by_op; /* a circuit computes its layer by the ops of a tape even where a streamed layer could
                      (streamed_layer.h) */
} ts_problem;

/* The numbers of an algorithm. Each looks only at its own. */
typedef struct ts_settings {
    const char *scheme; /* "onehot", "binary" or "dot": how a circuit carries assignments */
    double gamma;       /* > 0, or INFINITY */
    bool share_ties;    /* a point equally near to several centres goes to all of them in equal parts */
    double trim;        /* in [0,1): the share of each cluster that is trimmed; below 0: the threshold rule */
    double fuzziness;   /* m > 1 of fuzzy c-means */
    double alpha;       /* > 1, of norm-max */
} ts_settings;

/* A mean of unit vectors whose squared length is below d TS_LOST_DIRECTION / 3 has no direction. */
#ifdef TS_DOUBLE
#define TS_LOST_DIRECTION 1e-29
#else
#define TS_LOST_DIRECTION 1e-12
#endif

/* What a run makes small; the sum is over points that have a label. */
typedef enum ts_cost {
    TS_COST_SQUARED,  /* sum ||x - c||^2: the k-means objective */
    TS_COST_DISTANCE, /* sum ||x - c||: of k-medoids */
    TS_COST_COSINE    /* sum (1 - x.c / ||x|| ||c||): of spherical k-means */
} ts_cost;

/* The state after `steps` steps. Step t assigns with centres t-1 and then moves the centres. */
typedef struct ts_clustering {
    ts_real *centers; /* [k,d] */
    int64_t *labels;  /* [n] cluster of each point, 0-based; the lowest index among equally near centres; -1: trimmed
                         (only after `finish`) */
    int64_t *medoids; /* [k] the row that each centre is; NULL unless the algorithm is a k-medoids */
    int64_t steps;
    int64_t empty_repairs; /* centres replaced so far by the policies random and farthest */
    int64_t trimmed;       /* points labelled -1 */
    bool converged; /* the last step repeated the assignments of the one before, repaired nothing, and moved no centre
                       by more than 10^-6 of the data's widest column; never for k-medoids, a random walk */
} ts_clustering;

#endif
