/* op_runner.h: one case of one op, forward and backward, with results as double; built once in each precision. */
#ifndef TS_OP_RUNNER_H
#define TS_OP_RUNNER_H

#include <stdint.h>

/* Room for the output and all gradients of any case. */
enum { OP_RUN_MAX = 1 << 18 };

/* Runs case number `test` of built-in op number `op`. Writes the output, then the gradient of each input (zeros where
 * it has none), to results[]; returns how many numbers that is, 0 for a case to be skipped, -1 past the last case, -2
 * past the last op, -3 after a failure. */
int64_t op_run_float(int op, int test, uint64_t seed, double *results);
int64_t op_run_double(int op, int test, uint64_t seed, double *results);

#endif
