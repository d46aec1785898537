/* tape_parts.h: the inside of a tape, for tape.c and tape_*.c only. tape.h stands above it. */
#ifndef TS_TAPE_PARTS_H
#define TS_TAPE_PARTS_H

#include "arena.h"
#include "op.h"

typedef struct ts_tape ts_tape;
typedef void ts_tape_observer(void *context, const ts_node *node, ts_pass *pass);

struct ts_tape {
    bool records;        /* TS_RECORD; else TS_INFER */
    uint32_t generation; /* since the last reset; no other tape, and this one at no other time, has the same */
    ts_arena *arena;
    ts_arena *tensors[2]; /* the ts_tensors; successive generations alternate between the two, so that a forgotten
                             tensor keeps its generation until the next reset and its use is noticed */
    int turn;             /* index of the arena in use */
    ts_node *last;
    void *scratch; /* as large as any op has needed so far */
    size_t scratch_bytes;
    ts_error error;
    ts_real nan_value;
    ts_tensor failed;           /* what every op returns after a failure */
    ts_tape_observer *observer; /* NULL: none */
    void *observing;            /* the observer's context */
    bool checks;                /* in checking mode */
};

static inline void ts_tape_run(const ts_tape *tape, const ts_node *node, ts_pass *pass) {
    tape->observer == NULL ? pass(node) : tape->observer(tape->observing, node, pass);
}

/* A tensor with this data, or with data taken from the tape when it is NULL. NULL after a failure. */
ts_tensor *ts_tape_tensor(ts_tape *tape, ts_shape shape, ts_real *data);

/* node->scratch, the tape's one workspace, grown to what the op asks for. False after a failure. */
bool ts_tape_reserve_scratch(ts_tape *tape, ts_node *node);

enum { TS_MOST_INPUTS = 32 }; /* of an op: sets of inputs are the bits of an unsigned */

/* Records as the tape's failure why ts_apply cannot run a call. */
void ts_tape_refuse_call(ts_tape *tape, const ts_op *op, const void *attr, int n);
/* The same of a tensor that the tape cannot use. The message says that `what` was given it, as its input i unless
 * i < 0. */
void ts_tape_refuse_tensor(ts_tape *tape, const ts_tensor *t, const char *what, int i);

/* Whether the tensor was made through this tape since its last reset; others are refused. */
static inline bool ts_tape_is_usable(ts_tape *tape, const ts_tensor *t, const char *what, int i) {
    if (t != NULL && t->generation == tape->generation) return true;
    ts_tape_refuse_tensor(tape, t, what, i);
    return false;
}

/* ts_tape_run in checking mode; a fault that is found becomes the tape's failure. */
void ts_tape_check_forward(ts_tape *tape, ts_node *node);
void ts_tape_check_backward(ts_tape *tape, const ts_node *node);

#endif
