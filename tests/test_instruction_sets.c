/* Which instruction set runs: the environment's TESSERA_ISA, which the test of narrow registers sets, or the widest. */
#include "instruction_sets.h"

START_TEST(instruction_sets) {
    const char *wanted = getenv("TESSERA_ISA");
    ck_assert(!ts_isa_use("abacus"));
    if (wanted != NULL) ck_assert_str_eq(ts_isa_name(ts_isa_in_use()), wanted); /* nothing has chosen another yet */
    ck_assert(ts_isa_use("base"));
    ck_assert_str_eq(ts_isa_name(ts_isa_in_use()), "base");
    ck_assert(ts_isa_use(NULL));
    printf("widest instruction set here: %s\n", ts_isa_name(ts_isa_in_use()));
    say_missing_instruction_sets();
}
END_TEST

int main(void) {
    TCase *tests = isa_case();
    tcase_add_test(tests, instruction_sets);
    return run_case("instruction sets", tests);
}
