/* test_main.h: what every test program's main does: runs the suite and prints Check's summary line. And how a test says
 * that it cannot run: Check knows no such state. */
#ifndef TS_TEST_MAIN_H
#define TS_TEST_MAIN_H

#include <check.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* Check writes the place of every assertion that holds to a file, which takes most of the time where there is one for
 * every number of an array. Here only an assertion that fails is told, with its place. */
#undef ck_assert_msg
#define ck_assert_msg(expr, ...) \
    ((expr) ? (void)0 : _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", __VA_ARGS__))

enum { EXIT_SKIPPED = 77 }; /* what Meson calls SKIP */

/* Tests that did not run; one number for all files of a program. */
__attribute__((weak)) int skipped_tests = 0;

/* Prints "skipped: NAME: no gnuplot". Check adds _fn to the names of tests. */
static inline void say_skipped(const char *name, const char *reason) {
    const size_t length = strlen(name);
    const bool is_test = length > 3 && strcmp(name + length - 3, "_fn") == 0;
    printf("skipped: %.*s: %s\n", (int)(is_test ? length - 3 : length), name, reason);
    fflush(stdout);
}

/* At the beginning of a test, before it returns; and where only a part of one cannot run. */
#define skip_test(reason) (skipped_tests++, say_skipped(__func__, reason))
#define skip_part(reason) say_skipped(__func__, "in part: " reason)

/* Is there such a program? */
static inline bool have_program(const char *name) {
    char command[100];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", name);
    return system(command) == 0;
}

/* What main returns. A program none of whose tests ran is skipped, not passed. */
static inline int run_suite(Suite *suite) {
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner) - skipped_tests;
    srunner_free(runner);
    return failed > 0 ? EXIT_FAILURE : ran > 0 ? EXIT_SUCCESS : EXIT_SKIPPED;
}

/* The seed of the randomised tests: TESSERA_TEST_SEED, or 20261130. */
static inline uint64_t test_seed(void) {
    const char *text = getenv("TESSERA_TEST_SEED");
    return text == NULL ? 20261130 : strtoull(text, NULL, 10);
}

/* Runs one case, which may take as long as it likes, as a suite of this name, and prints the seed; what main returns.
 */
static inline int run_case(const char *name, TCase *tests) {
    Suite *suite = suite_create(name);
    tcase_set_timeout(tests, 0);
    suite_add_tcase(suite, tests);
    printf("seed %" PRIu64 "\n", test_seed());
    return run_suite(suite);
}

/* For small problems beside other test programs, where threads would wait for cores. */
static inline void one_thread(void) {
#ifdef _OPENMP
    omp_set_num_threads(1);
#endif
}

#endif
