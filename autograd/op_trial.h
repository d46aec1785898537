/* op_trial.h: tries whether an op's backward pass leaves unwanted gradients alone. They are NULL, and an op that writes
 * them ends the program, so the trial runs in a child process. Buffers in their place would prove nothing, as a correct
 * op recognises them by NULL. */
#ifndef TS_OP_TRIAL_H
#define TS_OP_TRIAL_H

#include "tape.h"

/* Runs the case on `values`, forward and backward, for every subset of inputs that may want gradients. TS_OK when all
 * runs ended normally, time ran out or no child could be made; else TS_ERROR_VALUE and, in text [room], what happened
 * and what to do. */
ts_status ts_op_try(const ts_op *op, const ts_op_case *test, ts_real *const values[], char *text, size_t room);

#endif
