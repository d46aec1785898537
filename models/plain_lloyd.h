/* plain_lloyd.h: Lloyd's algorithm [S. Lloyd 1957/1982], written the classical way: the oracle that the circuits are
 * held against. It shares no code with them beyond the data types and the random numbers. Distances and means are
 * computed in double from the points as given; a centre is rounded to ts_real once a step. */
#ifndef TS_PLAIN_LLOYD_H
#define TS_PLAIN_LLOYD_H

#include "clustering.h"

typedef struct ts_plain_lloyd ts_plain_lloyd;

ts_plain_lloyd *ts_plain_lloyd_create(const ts_problem *problem, ts_error *error);
void ts_plain_lloyd_free(ts_plain_lloyd *lloyd);
ts_status ts_plain_lloyd_step(ts_plain_lloyd *lloyd, ts_error *error);
ts_status ts_plain_lloyd_finish(ts_plain_lloyd *lloyd, ts_error *error); /* as ts_circuit_finish */
const ts_clustering *ts_plain_lloyd_state(const ts_plain_lloyd *lloyd);

#endif
