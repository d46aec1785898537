/* tape_refusals.c: why a call of ts_apply or a tensor cannot be used, in words. */
#include <stdio.h>

#include "tape.h"
#include "tape_parts.h"

void ts_tape_refuse_tensor(ts_tape *tape, const ts_tensor *t, const char *what, int i) {
    char which[32] = "the tensor";
    if (i >= 0) snprintf(which, sizeof which, "input %d", i);
    if (t == NULL)
        ts_fail(tape, TS_ERROR_USAGE, "%s: %s is NULL", what, which);
    else if (t == &tape->failed || ts_arena_holds(tape->tensors[0], t) || ts_arena_holds(tape->tensors[1], t))
        ts_fail(tape, TS_ERROR_USAGE, "%s: %s was made before the tape was reset%s", what, which,
                tape->records ? "; a reset forgets all tensors" : ", or in a scope that ended");
    else
        ts_fail(tape, TS_ERROR_USAGE, "%s: %s belongs to another tape, or to one that was freed", what, which);
}

void ts_tape_refuse_call(ts_tape *tape, const ts_op *op, const void *attr, int n) {
    const char *name = op == NULL || op->name == NULL ? "ts_apply" : op->name;
    if (op == NULL)
        ts_fail(tape, TS_ERROR_USAGE, "ts_apply: the op is NULL");
    else if (op->name == NULL || op->shape == NULL || op->forward == NULL)
        ts_fail(tape, TS_ERROR_USAGE, "%s: the op's descriptor has no %s", name,
                op->name == NULL    ? "name"
                : op->shape == NULL ? "shape function"
                                    : "forward function");
    else if (n < op->min_in || n > op->max_in || n < 0 || n > TS_MOST_INPUTS)
        ts_fail(tape, TS_ERROR_USAGE, "%s: %d inputs given, %d to %d taken", name, n, op->min_in,
                op->max_in < TS_MOST_INPUTS ? op->max_in : TS_MOST_INPUTS);
    else if (attr == NULL && op->attr_size > 0)
        ts_fail(tape, TS_ERROR_USAGE, "%s: its attributes, %zu bytes, are NULL", name, op->attr_size);
    else
        ts_fail(tape, TS_ERROR_USAGE, "%s: the list of inputs is NULL", name);
}
