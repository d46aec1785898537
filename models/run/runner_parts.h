/* runner_parts.h: the internal state and functions of a runner, for runner*.c only. */
#ifndef TS_RUNNER_PARTS_H
#define TS_RUNNER_PARTS_H

#include "../data/clustering.h"
#include "../definition/definition.h"
#include "model_run.h"
#include "streamed_layer.h"
#include "transformer.h"

typedef struct ts_runner ts_runner; /* runner.h */
struct ts_runner {
    ts_transformer model;
    ts_problem problem;
    ts_tape *tape;
    ts_streamed_layer *streamed; /* computes the layer; NULL: the ops of the tape do */
    ts_real *points;             /* tokens [n,e]; if streamed, the normalised rows [n,d], or NULL without a norm */
    const ts_real *data;         /* coordinates of point i begin at data[i * data_step]: in `points`, or the caller's */
    int64_t data_step;
    ts_real *tokens; /* [k,e] tokens of the centres */
    double *places;  /* [k,d] positions of the centres; the same array as state.exact_centers */
    /* runner_exact.c: the layer is streamed in double, `places` are the centres, and there are no tokens. */
    bool exact;
    double *moved;   /* [k,d] their positions after a step */
    double *factors; /* [n] factors that make the points unit vectors; NULL without a norm */
    bool *occupied;  /* [k] does any point have a share in the cluster? */
    bool *lost;      /* [k] has the mean of unit vectors lost its direction? */
    bool medoids, trims;
    bool assigned;      /* streamed: the labels come from an assignment */
    bool may_empty;     /* can a cluster lose all weight? */
    bool counts_shares; /* a cluster is empty if no point has a share in it; else if no label names it */
    double same_weight; /* two assignments are the same if no weight differs by more */
    double widest;      /* the range of the widest data column after embedding */
    ts_clustering state;
    ts_model_run *run;  /* of a model of any layers; NULL: it is a definition's transformer, and all above is its */
    const ts_model *of; /* that model */
    /* k-medoids: the cheapest state found */
    double best_cost;
    int64_t *best_medoids;
};

/* Finds the centres without direction; `means` [k,e] are their tokens before the norm. */
void ts_runner_find_lost(ts_runner *runner, const ts_real *means);

/* Can the definition be run in double? If so, these two prepare the runner and make a step. */
bool ts_runner_fits_exactly(const ts_definition *definition, int64_t d, int64_t k);
ts_status ts_runner_begin_exactly(ts_runner *runner, const ts_definition *definition, ts_error *error);
ts_status ts_runner_step_exactly(ts_runner *runner, bool *same, bool *rest, ts_error *error);

/* A step of a model of any layers (runner_model.c). */
ts_status ts_runner_step_model(ts_runner *runner, ts_error *error);

/* Has a coordinate of a centre not moved, up to rounding? */
bool ts_runner_rests(double now, double before, double widest, double eps);

/* After an update: places the centres of empty clusters and those without direction. `centers` are the new tokens
 * [k,e], and c->tokens the old ones; in an exact runner `centers` is NULL, and c->moved and c->places are used. */
ts_status ts_runner_repair(ts_runner *runner, ts_real *centers, ts_error *error);

/* k-medoids, in this order: move initial centres to rows; make each medoid a member of its own cluster; find the rows
 * that equal the new centres; remember the cheapest medoids; restore them. */
ts_status ts_runner_snap_medoids(ts_runner *runner, ts_error *error);
void ts_runner_pin_medoids(ts_runner *runner);
void ts_runner_find_medoids(ts_runner *runner);
void ts_runner_remember_medoids(ts_runner *runner);
void ts_runner_restore_medoids(ts_runner *runner);

#endif
