/* tape_parts.h: the inside of a tape, for tape.c, tape_tools.c and tape_check.c only. */
#ifndef TS_TAPE_PARTS_H
#define TS_TAPE_PARTS_H

#include "tape.h"

struct ts_tape {
    ts_tape_mode mode;
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

/* The same in checking mode; what it finds becomes the tape's failure. */
void ts_tape_check_forward(ts_tape *tape, ts_node *node);
void ts_tape_check_backward(ts_tape *tape, const ts_node *node);

#endif
