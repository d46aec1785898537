/* plain_parts.h: the inside of the plain algorithms, for plain*.c only. */
#ifndef TS_PLAIN_PARTS_H
#define TS_PLAIN_PARTS_H

#include "../data/clustering.h"

typedef struct ts_plain ts_plain; /* plain.h */
typedef struct ts_plain_algorithm ts_plain_algorithm;

struct ts_plain {
    const ts_plain_algorithm *algorithm;
    ts_settings settings;
    ts_problem problem;
    bool exact;            /* the problem is stated in double: nothing is rounded to ts_real */
    ts_points points;      /* the problem's, or `unit` */
    double *unit;          /* [n,d] on the unit sphere; NULL unless asked for */
    double *centers;       /* [k,d] state.exact_centers is this */
    double *r, *previous;  /* [n,k] responsibilities now and a step ago; NULL for hard algorithms */
    double *shares;        /* [n,k] distances, from which responsibilities are made, before they are rounded */
    int64_t *before;       /* [n] the labels a step ago; hard algorithms */
    int64_t *members;      /* [n] rows in order of their clusters, */
    int64_t *first;        /* [k+1] of which those of cluster j begin at first[j] */
    int64_t *left;         /* [k] points that a cluster may still give away */
    double *own;           /* [n] squared distance to the centre that a point belongs to */
    double *scores, *work; /* [n] */
    double *weights;       /* [n] of the points (of the members) in a centre */
    double *sum, *carry;   /* [d] of weighted points, and what is still to be added (Kahan); carry only if exact */
    double *was;           /* [d] a centre before it moved */
    double widest;         /* the range of the widest column */
    double best_cost;      /* k-medoids */
    int64_t *best_medoids; /* [k] */
    ts_clustering state;
};

struct ts_plain_algorithm {
    /* r[k] holds the distances of one point to the k centres, and then what it gives to each. NULL: hard always. */
    void (*respond)(const ts_settings *settings, int64_t k, double *r);
    bool responds_always; /* else only when gamma is finite, or ties are shared */
    /* w[n]: what each point weighs in soft centre j. NULL: r_ij. */
    void (*share)(const ts_plain *plain, int64_t j, double *w);
    /* w[count] from the scores s = -gamma ||x - c_j||^2 of the members of hard cluster j. NULL: 1. */
    void (*weigh)(const ts_plain *plain, int64_t j, int64_t count, const double *s, double *w);
    bool unit, trims, medoids;
    bool by_code; /* shares are mixed into a binary code, and read from it */
};

/* The squared distance between the mixed code of point i, sum_j r_ij M_j, and the code of cluster j. */
double ts_plain_code_distance(const ts_plain *plain, int64_t i, int64_t j);

#endif
