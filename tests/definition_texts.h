/* definition_texts.h: what the tests of definitions as text share. */
#ifndef TESTS_DEFINITION_TEXTS_H
#define TESTS_DEFINITION_TEXTS_H

#include "../models/definition/definition_json.h"
#include "test_main.h"

extern ts_error error; /* the last one; cleared before every test */

/* A definition that uses all that there is. */
extern const char everything[];

/* Each of these succeeds, or the test ends. */
char *write_text(const ts_definition *definition);
ts_definition read_text(const char *text);

/* The text is refused with this message, if it is not NULL; in any case with one line that can be printed. */
void expect_refusal(const char *text, size_t length, const char *message);

/* A reading of a copy of exactly its length, so that a read beyond its end is seen by a sanitizer. */
ts_status read_exactly(const char *text, size_t length, ts_definition *definition);

/* On one thread, with `error` cleared before each test; what main returns. */
int run_definition_case(const char *name, TCase *tests);

#endif
