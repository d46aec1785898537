/* test_main.h: what every test program's main does: runs the suite and prints Check's summary line. */
#ifndef TS_TEST_MAIN_H
#define TS_TEST_MAIN_H

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

static inline int run_suite(Suite *suite) {
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The seed of the randomised tests: TESSERA_TEST_SEED, or 20261130. It is printed by whoever uses it. */
static inline uint64_t test_seed(void) {
    const char *text = getenv("TESSERA_TEST_SEED");
    return text == NULL ? 20261130 : strtoull(text, NULL, 10);
}

#endif
