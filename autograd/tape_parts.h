/* tape_parts.h: the inside of a tape, for tape.c and tape_tools.c only. */
#ifndef TS_TAPE_PARTS_H
#define TS_TAPE_PARTS_H

#include "tape.h"

struct ts_tape {
    ts_tape_mode mode;
    ts_arena *arena;
    ts_node *last;
    void *scratch; /* the largest workspace any op has asked for */
    size_t scratch_bytes;
    ts_error error;
    ts_real nan_value;
    ts_tensor failed;           /* what every op returns after a failure */
    ts_tape_observer *observer; /* NULL: none */
    void *observing;            /* what it is called with */
};

#endif
