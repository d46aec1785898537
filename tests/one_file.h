/* one_file.h: what the tests of readers and writers share: one file at a time, in a folder of its own. */
#ifndef TESTS_ONE_FILE_H
#define TESTS_ONE_FILE_H

#include <stddef.h>

#include "test_main.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

extern char folder[256], path[600];

/* Fixtures: a fresh folder, and its removal with the file in it. */
void enter(void);
void leave(void);

/* Makes `path` a file of this name, and the only one. The second writes it with these bytes. */
void name_file(const char *name);
void put(const char *name, const void *bytes, size_t size);

/* The bytes of the file, at most so many; returns how many. */
size_t get(void *bytes, size_t most);

/* Random numbers below `below`, for tests that damage files; the first draw follows a start from the seed. */
__attribute__((weak)) uint64_t random_state = 0;

static inline void start_draws(void) {
    random_state = test_seed();
}

static inline size_t draw(size_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(random_state >> 33) % below;
}

#endif
