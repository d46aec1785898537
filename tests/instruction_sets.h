/* instruction_sets.h: tests that go through all instruction sets leave out those that this machine or compiler lacks.
 */
#ifndef TESTS_INSTRUCTION_SETS_H
#define TESTS_INSTRUCTION_SETS_H

#include "../autograd/isa.h"
#include "test_main.h"

/* Says which these are. */
static inline void say_missing_instruction_sets(void) {
    for (ts_isa isa = TS_ISA_BASE; isa < TS_ISAS; isa++)
        if (!ts_isa_use(ts_isa_name(isa))) say_skipped(ts_isa_name(isa), "this instruction set is not there");
    ts_isa_use(NULL);
}

#endif
