/* plain_parts.h: the internal state of the plain algorithms, for plain*.c only. */
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
    double *centers;       /* [k,d] the same array as state.exact_centers */
    double *r, *previous;  /* [n,k] responsibilities of this step and the last; NULL for hard algorithms */
    double *shares;        /* [n,k] distances, then the responsibilities before rounding */
    int64_t *before;       /* [n] the labels of the last step; hard algorithms */
    int64_t *members;      /* [n] rows sorted by cluster */
    int64_t *first;        /* [k+1] the members of cluster j begin at members[first[j]] */
    int64_t *left;         /* [k] number of points left in each cluster */
    double *own;           /* [n] squared distance of each point to its own centre */
    double *scores, *work; /* [n] */
    double *weights;       /* [n] weights of the points, or members, in a centre */
    double *sum, *carry;   /* [d] sum of weighted points, and its rounding error (Kahan); carry only if exact */
    double *was;           /* [d] the centre before it moves */
    double widest;         /* the range of the widest column */
    double best_cost;      /* k-medoids */
    int64_t *best_medoids; /* [k] */
    ts_clustering state;
};

struct ts_plain_algorithm {
    /* Replaces the distances r[k] of one point to the k centres by its shares. NULL: always hard. */
    void (*respond)(const ts_settings *settings, int64_t k, double *r);
    bool responds_always; /* `respond` is always used; else only if gamma is finite or ties are shared */
    /* Writes w[n], the weights of the points in soft centre j. NULL: r_ij. */
    void (*share)(const ts_plain *plain, int64_t j, double *w);
    /* Writes w[count], the weights of the members of hard cluster j, from their scores s = -gamma ||x - c_j||^2.
     * NULL: 1. */
    void (*weigh)(const ts_plain *plain, int64_t j, int64_t count, const double *s, double *w);
    bool unit, trims, medoids;
    bool by_code; /* labels and weights come from the binary code that the shares mix */
};

/* The squared distance between the mixed code of point i, sum_j r_ij M_j, and the code of cluster j. */
double ts_plain_code_distance(const ts_plain *plain, int64_t i, int64_t j);

#endif
