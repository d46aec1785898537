/* tape_parts.h: the inside of a tape, for tape.c, tape_tools.c and tape_check.c only. */
#ifndef TS_TAPE_PARTS_H
#define TS_TAPE_PARTS_H

#include "tape.h"

struct ts_tape {
    ts_tape_mode mode;
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

/* ts_tape_run in checking mode; a fault that is found becomes the tape's failure. */
void ts_tape_check_forward(ts_tape *tape, ts_node *node);
void ts_tape_check_backward(ts_tape *tape, const ts_node *node);

#endif
