/* tape_parts.h: the inside of a tape, for tape.c and tape_*.c only. tape.h stands above it. */
#ifndef TS_TAPE_PARTS_H
#define TS_TAPE_PARTS_H

#include "arena.h"
#include "op.h"

typedef struct ts_tape ts_tape;
typedef void ts_tape_observer(void *context, const ts_node *node, ts_pass *pass);

struct ts_tape {
    bool records;        /* TS_RECORD; else TS_INFER */
    uint32_t generation; /* of this tape since its last reset; no other tape or time has it */
    ts_arena *arena;
    ts_arena *tensors[2]; /* the tensors alone, those of every other generation in the same one: what a reset forgets
                             keeps its old number until the next reset, so that its use is noticed */
    int turn;             /* which of them is in use */
    ts_node *last;
    void *scratch; /* the largest workspace any op has asked for */
    size_t scratch_bytes;
    ts_error error;
    ts_real nan_value;
    ts_tensor failed;           /* what every op returns after a failure */
    ts_tape_observer *observer; /* NULL: none */
    void *observing;            /* what it is called with */
    bool checks;                /* the checking mode */
};

static inline void ts_tape_run(const ts_tape *tape, const ts_node *node, ts_pass *pass) {
    tape->observer == NULL ? pass(node) : tape->observer(tape->observing, node, pass);
}

/* A tensor around `data`, or around memory of the tape when data is NULL. NULL after a failure. */
ts_tensor *ts_tape_tensor(ts_tape *tape, ts_shape shape, ts_real *data);

/* node->scratch, the tape's one workspace, grown to what the op asks for. False after a failure. */
bool ts_tape_reserve_scratch(ts_tape *tape, ts_node *node);

enum { TS_MOST_INPUTS = 32 }; /* of an op: they are the bits of an unsigned */

/* Records why ts_apply cannot run what it is given; why `what` cannot work with tensor t, its input i, or the tensor it
 * takes when i < 0. */
void ts_tape_refuse_call(ts_tape *tape, const ts_op *op, const void *attr, int n);
void ts_tape_refuse_tensor(ts_tape *tape, const ts_tensor *t, const char *what, int i);

/* Was the tensor made through this tape since its last reset? Refuses others. */
static inline bool ts_tape_is_usable(ts_tape *tape, const ts_tensor *t, const char *what, int i) {
    if (t != NULL && t->generation == tape->generation) return true;
    ts_tape_refuse_tensor(tape, t, what, i);
    return false;
}

/* A forward or backward in checking mode; what it finds becomes the tape's failure. */
void ts_tape_check_forward(ts_tape *tape, ts_node *node);
void ts_tape_check_backward(ts_tape *tape, const ts_node *node);

#endif
