/* clustering.h: what every clustering run has, whoever computes it: the circuits of a transformer (circuit.h) or the
 * plain algorithm they must equal (plain.h). Data types only. */
#ifndef TS_CLUSTERING_H
#define TS_CLUSTERING_H

#include <math.h>

#include "../../autograd/status.h"
#include "../../autograd/tensor.h"

/* What happens to a cluster that no point is assigned to, after the centres' update of a step; empty clusters are
 * treated in ascending order. */
typedef enum ts_empty_policy {
    TS_EMPTY_KEEP,     /* it keeps its old centre; not counted as a repair */
    TS_EMPTY_RANDOM,   /* its centre becomes a data point drawn at random (by seed, step and cluster); if that point
                          lies on the centre it was assigned to, nothing would be gained, and it keeps its centre */
    TS_EMPTY_FARTHEST, /* its centre becomes the point farthest from the centre it was assigned to, the lowest index
                          among equals; never the only point of its cluster, never a point that lies on its centre,
                          never a point taken already in this step. If there is none it keeps its centre. */
    TS_EMPTY_ERROR     /* the run fails and names the cluster and the step */
} ts_empty_policy;

/* A problem: points [n,d], row-major, which must outlive the run, and the k initial centres [k,d], copied.
 *
 * Stated in ts_real, `points` and `centers` are the numbers, and every new centre is rounded to ts_real. Stated in
 * double, by exact_centers, the numbers are those and exact_points; centres keep all digits of a double. Plain
 * algorithms and layers that are streamed (circuit.h says which) then compute in double throughout. A layer of ops has
 * tokens of ts_real: it begins from `points` and `centers`, which are given in either case. */
typedef struct ts_problem {
    int64_t n, d, k;
    const ts_real *points;
    const ts_real *centers;
    const double *exact_points;  /* [n,d] what `points` are roundings of; NULL: they are exact */
    const double *exact_centers; /* [k,d] NULL: the problem is stated in ts_real */
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

/* A mean of unit vectors whose squared length is below d TS_LOST_DIRECTION / 3 has no direction; in a problem stated in
 * double, below d TS_LOST_EXACT / 3. */
#define TS_LOST_EXACT 1e-29
#ifdef TS_DOUBLE
#define TS_LOST_DIRECTION TS_LOST_EXACT
#else
#define TS_LOST_DIRECTION 1e-12
#endif

/* What a run makes small; the sum is over points that have a label. */
typedef enum ts_cost {
    TS_COST_SQUARED,  /* sum ||x - c||^2: the k-means objective */
    TS_COST_DISTANCE, /* sum ||x - c||: of k-medoids */
    TS_COST_COSINE    /* sum (1 - x.c / ||x|| ||c||): of spherical k-means */
} ts_cost;

/* Points as rows of numbers, of a problem or of anything else. */
typedef struct ts_points {
    int64_t n, d;
    const ts_real *real; /* [n,d] */
    const double *exact; /* [n,d] what `real` are roundings of; NULL: they are exact */
} ts_points;

static inline ts_points ts_problem_points(const ts_problem *p) {
    return (ts_points){p->n, p->d, p->points, p->exact_centers != NULL ? p->exact_points : NULL};
}

/* Coordinate a of point i. */
static inline double ts_point_at(const ts_points *p, int64_t i, int64_t a) {
    return p->exact != NULL ? p->exact[i * p->d + a] : (double)p->real[i * p->d + a];
}

/* The state after `steps` steps. Step t assigns with centres t-1 and then moves the centres. */
typedef struct ts_clustering {
    ts_real *centers;      /* [k,d] */
    double *exact_centers; /* [k,d] the same before they were rounded to ts_real, where the run keeps more digits */
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
