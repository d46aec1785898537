/* circuit.h: runs a clustering transformer on one data set, a layer a step.
 *
 *     ts_circuit *c = ts_circuit_create(&definition, &problem, &error);
 *     while (!ts_circuit_state(c)->converged && steps-- > 0)
 *         if (ts_circuit_step(c, &error) != TS_OK) ...
 *     ts_circuit_finish(c, &error);          // labels are now those of the centres in the state
 *     ts_circuit_free(c);
 *
 * Nothing of size n x n is ever made when the points' self-attention is the identity. A layer that is Lloyd's step is
 * streamed (streamed_layer.h): no tokens of points exist, and the caller's rows are read where they are. Labels and
 * centres are those of the ops, which problem.op_by_op asks for.
 *
 * What is outside the layer, because attention cannot do it: empty clusters (clustering.h), a centre whose direction
 * vanished (definition.h, ts_norm), and that a medoid belongs to its own cluster (plain.h says the rules). */
#ifndef TS_CIRCUIT_H
#define TS_CIRCUIT_H

#include "../data/clustering.h"
#include "../definition/definition.h"

typedef struct ts_circuit ts_circuit;

/* NULL, with *error set, when the definition or the problem is refused (k < 1, k > n, d < 1, a point without direction
 * where the definition normalises) or memory is short. */
ts_circuit *ts_circuit_create(const ts_definition *definition, const ts_problem *problem, ts_error *error);
void ts_circuit_free(ts_circuit *circuit);

ts_status ts_circuit_step(ts_circuit *circuit, ts_error *error);

/* Assigns once more, with the present centres, moving none: afterwards labels and centres belong together. Trimmed
 * points get the label -1; of a k-medoids the cheapest medoids met so far are put back. */
ts_status ts_circuit_finish(ts_circuit *circuit, ts_error *error);

const ts_clustering *ts_circuit_state(const ts_circuit *circuit);

/* weights [n,k]: what each point gives to each of the present centres, rows of sum 1 (rows of trimmed points: 0). After
 * ts_circuit_finish. */
ts_status ts_circuit_weights(ts_circuit *circuit, ts_real *weights, ts_error *error);

/* Is it run in double, on a problem stated so (clustering.h)? Streamed layers are, without a norm or with one that
 * keeps whole directions of which dot products are taken. */
bool ts_circuit_is_exact(const ts_circuit *circuit);

/* How many points gave all their weight to one centre in the last assignment, exactly: 1 there and 0 elsewhere. Needs
 * one-hot codes, else -1. */
int64_t ts_circuit_onehot_rows(const ts_circuit *circuit);

/* The most memory that the tape, and a streamed layer, have held, in bytes. */
size_t ts_circuit_bytes(const ts_circuit *circuit);

#endif
