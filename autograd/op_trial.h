/* op_trial.h: does an op's backward pass survive gradients that nobody wants? They are NULL, and an op that writes them
 * all the same ends the program, so this is tried in a child process. A buffer in their place would tell nothing: NULL
 * is what a right op looks for. */
#ifndef TS_OP_TRIAL_H
#define TS_OP_TRIAL_H

#include "tape.h"

/* Runs the case on `values`, forward and backward, for every subset of inputs that may want gradients. TS_OK when that
 * came to an end, or no child could be made; else TS_ERROR_VALUE and, in text [room], what happened and what to do. */
ts_status ts_op_try(const ts_op *op, const ts_op_case *test, ts_real *const values[], char *text, size_t room);

#endif
