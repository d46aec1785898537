/* definition.h: a clustering transformer as data.
 *
 * One layer, applied T times with the same weights, takes tokens of points Xbar = [X | Y] and of centres Cbar = [C |
 * M]: Xbar' = Xbar + A1(Xbar, Cbar) + A2(Xbar, Xbar)      cross_points, self_points:   assign Cbar' = Cbar + A3(Cbar,
 * Xbar') + A4(Cbar, Cbar)     cross_centers, self_centers: update Each block A is attention with three projections of
 * its own. In a construction the projections are fixed matrices that copy groups of coordinates; a learned model trains
 * them. Sources: [C26] Clarkson, Horesh, Ito, Park, Ram, "Transformer Circuits Can Realize Clustering Algorithms", ICML
 * 2026, section 3 and theorem 2.1. */
#ifndef TS_DEFINITION_H
#define TS_DEFINITION_H

#include "../autograd/ops.h"

/* How assignments are written into a token's scratch coordinates: the code book M [k,s]. */
typedef enum ts_scheme {
    TS_SCHEME_ONEHOT, /* s = k, M = identity */
    TS_SCHEME_BINARY, /* s = ceil(log2 k), 1 when k = 1; row j = the bits of j, least significant first */
    TS_SCHEME_NONE    /* s = 0 */
} ts_scheme;

int64_t ts_scheme_width(ts_scheme scheme, int64_t k);
void ts_scheme_code_book(ts_scheme scheme, int64_t k, ts_real *book); /* [k,s] */

/* Groups of a token's coordinates. */
typedef enum ts_group { TS_GROUP_DATA, TS_GROUP_SCRATCH } ts_group;

/* One term of a fixed projection: scale * (the coordinates of `from`) written into those of `to`. */
typedef struct ts_copy {
    ts_group from, to;
    double scale;
} ts_copy;

enum { TS_MAX_COPIES = 4 };
typedef struct ts_projection {
    bool learned; /* a trained matrix [e,e] with bias [e]; otherwise the sum of the copies, and no bias */
    int n_copies;
    ts_copy copy[TS_MAX_COPIES];
} ts_projection;

typedef struct ts_block {
    bool identity; /* self-attention only: the weights are the identity matrix, the output is the values */
    ts_score score;
    ts_simplex_spec simplex;
    double gamma;
    bool scaled; /* divide the scores by sqrt(e) */
    double dropout;
    ts_projection query, key, value;
} ts_block;

typedef struct ts_definition {
    const char *name;
    ts_scheme scheme;
    ts_block cross_points, self_points, cross_centers, self_centers;
} ts_definition;

/* Refuses by name what cannot be run: a simplex without its parameter, identity in a cross-attention, gamma <= 0, more
 * copies than fit, copies between groups of different widths. */
ts_status ts_definition_check(const ts_definition *definition, int64_t d, int64_t k, ts_error *error);

/* Theorem 2.1 of [C26]: Lloyd's algorithm. gamma = INFINITY is exact: the points' attention puts all its weight on the
 * nearest centre, the lowest index among equally near ones, or shares it equally among them when share_ties (the
 * averaging hardmax of the paper, which assumes there are none). A finite gamma > 0 makes it a softmax of -gamma ||x -
 * c||^2. */
ts_definition ts_lloyd_onehot(double gamma, bool share_ties);

#endif
