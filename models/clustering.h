/* clustering.h: what every clustering run has, whoever computes it: the circuits of a transformer (circuit.h) or the
 * plain algorithm they must equal (plain_lloyd.h). Data types only. */
#ifndef TS_CLUSTERING_H
#define TS_CLUSTERING_H

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
    uint64_t seed; /* of the random repairs */
} ts_problem;

/* The state after `steps` steps. Step t assigns with centres t-1 and then moves the centres. */
typedef struct ts_clustering {
    ts_real *centers; /* [k,d] */
    int64_t *labels;  /* [n] cluster of each point, 0-based; the lowest index among equally near centres */
    int64_t steps;
    int64_t empty_repairs; /* centres replaced so far by the policies random and farthest */
    bool converged;        /* the last step repeated the assignments of the one before, and repaired nothing */
} ts_clustering;

#endif
