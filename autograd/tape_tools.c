/* tape_tools.c: what tools need of a tape (tape.h). */
#include "tape_parts.h"

const ts_node *ts_tape_last(const ts_tape *tape) {
    return tape->last;
}

void ts_tape_observe(ts_tape *tape, ts_tape_observer *observer, void *context) {
    tape->observer = observer;
    tape->observing = context;
}
