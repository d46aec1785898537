/* definition.h: a clustering transformer as data.
 *
 * One layer, applied T times with the same weights, maps tokens of points Xbar and of centres Cbar:
 *
 *     Xbar' = Xbar + A1(Xbar, Cbar) + A2(Xbar, Xbar)      cross_points, self_points:    assign
 *     Cbar' = Cbar + A3(Cbar, Xbar') + A4(Cbar, Cbar)     cross_centers, self_centers:  update
 *     then, optionally, on the centres: a norm, a feed-forward block
 *
 * Each block A is attention with its own three projections. In a construction the projections are fixed matrices that
 * copy groups of coordinates; in a learned model they are trained. A definition does not contain d and k: it can be
 * built for any problem. docs/definitions.md describes definitions as JSON (definition_json.h).
 *
 * Sources: [C26] Clarkson, Horesh, Ito, Park, Ram, "Transformer Circuits Can Realize Clustering Algorithms", ICML
 * 2026, section 3; [P26] Park, Clarkson, Horesh, Ito, Ram, "Leaner Transformers Can Easily Learn to Cluster",
 * NeurIPS 2026. */
#ifndef TS_DEFINITION_H
#define TS_DEFINITION_H

#include "../../layers/activations.h"
#include "../../layers/tokens.h"

/* ---- the parts of the layer ---------------------------------------------------------------------------------- */

/* Copies are those of tokens.h. */
typedef struct ts_projection {
    bool learned; /* a trained matrix [e,e] with bias [e]; else the sum of the copies, without bias */
    int n_copies;
    ts_copy copy[TS_MAX_COPIES];
} ts_projection;

typedef struct ts_block_definition {
    bool identity; /* self-attention only: the weights are the identity matrix, and the output is the values */
    bool own_code; /* cross_centers only: a centre sees only the points that carry its own code (an exact mask) */
    bool scaled;   /* divide the scores by sqrt(e) */
    ts_score score;
    ts_simplex_spec simplex;
    double gamma;
    double dropout;
    ts_projection query, key, value;
} ts_block_definition;

/* RMSNorm to a given length: x -> length x / sqrt(||x||^2 + count eps) on a range of data coordinates. It is applied to
 * points and initial centres once before the first layer, with eps = 0, where a row of zeros is refused, and to centres
 * after each update. A centre whose squared length was below count TS_LOST_DIRECTION / 3 (clustering.h), in units of
 * length^2, has lost its direction and keeps its old position. */
typedef struct ts_norm_definition {
    bool present;
    ts_range range;
    double length, eps;
} ts_norm_definition;

/* Fixed: centres += sum over units of weight * f(scale * from), written to `to` as by ts_copy. Learned: two trained
 * linear maps with a hidden width (feed_forward.h). */
typedef struct ts_unit {
    ts_range from, to;
    double scale, weight;
} ts_unit;

enum { TS_MAX_UNITS = 4 };
typedef struct ts_feed_forward_definition {
    bool present, learned;
    ts_activation activation;
    int64_t hidden; /* learned */
    int n_units;    /* fixed */
    ts_unit unit[TS_MAX_UNITS];
} ts_feed_forward_definition;

enum { TS_DEFINITION_NAME = 64 };
typedef struct ts_definition {
    char name[TS_DEFINITION_NAME];
    ts_construction construction;
    bool medoids; /* centres are k different rows of the data, and the best centres found are the result */
    bool trims;   /* points to which their own centre gives no weight are trimmed: label -1 */
    ts_block_definition cross_points, self_points, cross_centers, self_centers;
    ts_norm_definition norm;
    ts_feed_forward_definition feed_forward;
} ts_definition;

/* The four blocks by number, 0 to 3 in the order above, and their names. */
enum { TS_BLOCKS = 4 };
extern const char *const ts_block_names[TS_BLOCKS];
ts_block_definition *ts_definition_block(ts_definition *definition, int i);

/* Refuses a definition that cannot be run on d coordinates and k clusters; the error names the part: a simplex map
 * without its parameter, identity weights in cross-attention, a gamma that is not positive and finite, coordinates out
 * of range, copies between ranges of different widths, queries and keys without a common coordinate. */
ts_status ts_definition_check(const ts_definition *definition, int64_t d, int64_t k, ts_error *error);

/* Multiplies gamma by factor^2 in the blocks whose weights depend on it and whose scores use data coordinates: adapts
 * the definition to data in a unit `factor` times as large. */
void ts_definition_change_unit(ts_definition *definition, double factor);

#endif
