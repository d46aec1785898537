/* clustering.h: the problem, settings and state of a clustering run, whether a runner of a transformer (runner.h) or
 * the plain algorithm that it must equal (plain.h) computes it. Data types only. */
#ifndef TS_CLUSTERING_H
#define TS_CLUSTERING_H

#include <math.h>

#include "../../autograd/status.h"
#include "../../autograd/tensor.h"

/* What happens after the update of a step to a cluster without points; empty clusters are treated in ascending order.
 */
typedef enum ts_empty_policy {
    TS_EMPTY_KEEP,     /* it keeps its old centre; this does not count as a repair */
    TS_EMPTY_RANDOM,   /* its centre becomes a data point drawn at random (by seed, step and cluster), unless that
                          point lies on the centre it was assigned to: then it keeps its centre */
    TS_EMPTY_FARTHEST, /* its centre becomes the point farthest from the centre it was assigned to, the lowest index
                          among equals, but never the only point of its cluster, a point that lies on its centre, or
                          a point already taken in this step. If there is none it keeps its centre. */
    TS_EMPTY_ERROR     /* the run fails and names the cluster and the step */
} ts_empty_policy;

/* A problem: points [n,d], row-major, which must outlive the run, and the k initial centres [k,d], copied.
 *
 * If the problem is stated in ts_real, its numbers are `points` and `centers`, and every new centre is rounded to
 * ts_real. If it is stated in double, by giving exact_centers, its numbers are exact_points and exact_centers, and
 * centres keep all digits of a double: plain algorithms and streamed layers (runner.h) then compute in double
 * throughout. A layer of ops has tokens of ts_real and starts from `points` and `centers`, which are given in either
 * case. */
typedef struct ts_problem {
    int64_t n, d, k;
    const ts_real *points;
    const ts_real *centers;
    const double *exact_points;  /* [n,d] the numbers that `points` are rounded from; NULL: they are exact */
    const double *exact_centers; /* [k,d] NULL: the problem is stated in ts_real */
    ts_empty_policy empty;
    uint64_t seed; /* of random repairs and draws */
    bool op_by_op; /* a runner computes its layer by the ops of a tape even if it could be streamed
                      (streamed_layer.h) */
} ts_problem;

/* The parameters of all algorithms; each reads only its own. */
typedef struct ts_settings {
    const char *construction; /* "onehot", "binary" or "dot": how a transformer represents assignments */
    double gamma;             /* > 0, or INFINITY */
    bool share_ties;          /* a point equally near to several centres is shared equally among them */
    double trim;              /* in [0,1): the fraction of each cluster that is trimmed; below 0: the threshold rule */
    double fuzziness;         /* m > 1 of fuzzy c-means */
    double alpha;             /* > 1, of norm-max */
} ts_settings;

/* A mean of unit vectors has lost its direction if its squared length is below d TS_LOST_DIRECTION / 3, or, in a
 * problem stated in double, below d TS_LOST_EXACT / 3. */
#define TS_LOST_EXACT 1e-29
#ifdef TS_DOUBLE
#define TS_LOST_DIRECTION TS_LOST_EXACT
#else
#define TS_LOST_DIRECTION 1e-12
#endif

/* The cost that a run minimises; the sum is over points that have a label. */
typedef enum ts_cost {
    TS_COST_SQUARED,  /* sum ||x - c||^2: the k-means objective */
    TS_COST_DISTANCE, /* sum ||x - c||: the cost of k-medoids */
    TS_COST_COSINE    /* sum (1 - x.c / ||x|| ||c||): the cost of spherical k-means */
} ts_cost;

/* Points as rows of numbers. */
typedef struct ts_points {
    int64_t n, d;
    const ts_real *real; /* [n,d] */
    const double *exact; /* [n,d] the numbers that `real` are rounded from; NULL: they are exact */
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
    double *exact_centers; /* [k,d] the centres before rounding to ts_real, if the run keeps more digits */
    int64_t *labels;  /* [n] cluster of each point, 0-based; the lowest index among equally near centres; -1: trimmed
                         (only after `finish`) */
    int64_t *medoids; /* [k] the row that each centre is; NULL unless the algorithm is a k-medoids */
    int64_t steps;
    int64_t empty_repairs; /* centres replaced so far by the policies random and farthest */
    int64_t trimmed;       /* points labelled -1 */
    bool converged; /* the last step repeated the assignments of the one before, repaired nothing, and moved no centre
                       by more than 10^-6 of the range of the widest column; never for k-medoids, a random walk */
} ts_clustering;

#endif
