/* circuit.h: runs a clustering transformer on one data set, a layer a step.
 *
 *     ts_circuit *c = ts_circuit_create(&definition, &problem, &error);
 *     while (!ts_circuit_state(c)->converged && steps-- > 0)
 *         if (ts_circuit_step(c, &error) != TS_OK) ...
 *     ts_circuit_finish(c, &error);          // labels are now those of the centres in the state
 *     ts_circuit_free(c);
 *
 * Nothing of size n x n is ever made when the points' self-attention is the identity. */
#ifndef TS_CIRCUIT_H
#define TS_CIRCUIT_H

#include "clustering.h"
#include "definition.h"

typedef struct ts_circuit ts_circuit;

/* NULL, with *error set, when the definition or the problem is refused (k < 1, k > n, d < 1) or memory is short. */
ts_circuit *ts_circuit_create(const ts_definition *definition, const ts_problem *problem, ts_error *error);
void ts_circuit_free(ts_circuit *circuit);

ts_status ts_circuit_step(ts_circuit *circuit, ts_error *error);

/* Assigns once more, with the present centres, moving none: afterwards labels and centres belong together. */
ts_status ts_circuit_finish(ts_circuit *circuit, ts_error *error);

const ts_clustering *ts_circuit_state(const ts_circuit *circuit);

/* The most memory the tape has held, in bytes. */
size_t ts_circuit_bytes(const ts_circuit *circuit);

#endif
