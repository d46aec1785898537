/* instruction_sets.h: tests that go through all instruction sets leave out those that this machine or compiler lacks.
 */
#ifndef TESTS_INSTRUCTION_SETS_H
#define TESTS_INSTRUCTION_SETS_H

#include "../autograd/isa.h"
#include "on_tape.h"

static const char *const ISAS[] = {"base", "avx2", "avx512"};
enum { ISA_COUNT = 3 };

/* Says which these are. */
static inline void say_missing_instruction_sets(void) {
    for (int isa = 0; isa < ISA_COUNT; isa++)
        if (!ts_isa_use(ISAS[isa])) say_skipped(ISAS[isa], "this instruction set is not there");
    ts_isa_use(NULL);
}

static inline void usual_instruction_set(void) {
    ts_isa_use(NULL);
}

/* A case whose tests have a tape, and choose instruction sets. */
static inline TCase *isa_case(void) {
    TCase *tests = tape_case();
    tcase_add_checked_fixture(tests, NULL, usual_instruction_set);
    return tests;
}

#endif
