/* threads.h: the option --threads. */
#ifndef CLI_THREADS_H
#define CLI_THREADS_H

#include <stdint.h>

/* At most so many threads from here on; 0 leaves it to OpenMP. Results do not depend on it. */
void cli_set_threads(int64_t threads);

/* As many as there will be. */
int cli_threads(void);

/* As many as a parallel region has, counted in one: limits of the environment may make them fewer. */
int cli_threads_used(void);

/* Processors that this program may use. */
int cli_processors(void);

#endif
