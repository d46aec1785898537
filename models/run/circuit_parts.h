/* circuit_parts.h: the inside of a circuit, for circuit*.c only. */
#ifndef TS_CIRCUIT_PARTS_H
#define TS_CIRCUIT_PARTS_H

#include "../data/clustering.h"
#include "../definition/definition.h"
#include "streamed_layer.h"
#include "transformer.h"

typedef struct ts_circuit ts_circuit; /* circuit.h */
struct ts_circuit {
    ts_transformer model;
    ts_problem problem;
    ts_tape *tape;
    ts_streamed_layer *streamed; /* computes the layer; NULL: the tape's ops do */
    ts_real *points;     /* tokens [n,e]; when streamed rows [n,d] if there is a norm, which made them, else NULL */
    const ts_real *data; /* coordinates of point i from data[i * data_step] on: there, or the caller's */
    int64_t data_step;
    ts_real *tokens; /* of the centres [k,e] */
    double *places;  /* [k,d] where the centres are; state.exact_centers is this */
    /* circuit_exact.c: the layer is streamed in double, `places` are the centres, and tokens are not used. */
    bool exact;
    double *moved;   /* [k,d] where they go in a step */
    double *factors; /* [n] that make unit vectors of the points; NULL unless there is a norm */
    bool *occupied;  /* [k] does any point carry a share of the cluster? */
    bool *lost;      /* [k] did the mean of unit vectors vanish? */
    bool medoids, trims;
    bool assigned;      /* streamed: the labels are those of some assignment */
    bool may_empty;     /* can a cluster get no weight at all? */
    bool counts_shares; /* is it empty when no point has a share in it, or when no label names it? */
    double same_weight; /* two assignments are the same when no weight has moved by more */
    double widest;      /* the range of the widest data column, as embedded */
    ts_clustering state;
    /* k-medoids: the cheapest state met */
    double best_cost;
    int64_t *best_medoids;
};

/* Before the norm: `means` are the tokens [k,e] that it will scale to its length. */
void ts_circuit_find_lost(ts_circuit *circuit, const ts_real *means);

/* Can the definition be run in double? Then a circuit begins, and makes steps, so. */
bool ts_circuit_fits_exactly(const ts_definition *definition, int64_t d, int64_t k);
ts_status ts_circuit_begin_exactly(ts_circuit *circuit, const ts_definition *definition, ts_error *error);
ts_status ts_circuit_step_exactly(ts_circuit *circuit, bool *same, bool *rest, ts_error *error);

/* Did a coordinate of a centre stay, but for rounding, where it was? */
bool ts_circuit_rests(double now, double before, double widest, double eps);

/* After an update: `centers` are the new tokens [k,e], c->tokens still the old ones; of an exact circuit c->moved and
 * c->places are, and `centers` is NULL. Gives empty clusters and centres without direction their places. */
ts_status ts_circuit_repair(ts_circuit *circuit, ts_real *centers, ts_error *error);

/* k-medoids. Moves initial centres to rows; makes each medoid a member of its cluster; finds the rows that the new
 * centres are; remembers the cheapest medoids, and puts them back. */
ts_status ts_circuit_snap_medoids(ts_circuit *circuit, ts_error *error);
void ts_circuit_pin_medoids(ts_circuit *circuit);
void ts_circuit_find_medoids(ts_circuit *circuit);
void ts_circuit_remember_medoids(ts_circuit *circuit);
void ts_circuit_restore_medoids(ts_circuit *circuit);

#endif
