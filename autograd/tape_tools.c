/* tape_tools.c: what tools that measure or check need of a tape. */
#include "tape.h"
#include "tape_parts.h"

const ts_node *ts_tape_last(const ts_tape *tape) {
    return tape->last;
}

void ts_tape_observe(ts_tape *tape, ts_tape_observer *observer, void *context) {
    tape->observer = observer;
    tape->observing = context;
}
