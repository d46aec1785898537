/* threads.h: the option --threads, and how threads wait. */
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

/* Has waiting threads spin briefly, then sleep, unless the environment says how they wait: where other work holds a
 * core, one that spins for long keeps its own from the thread that it waits for, for milliseconds each time. OpenMP
 * reads that when a program is loaded, so this one starts itself anew, with the words; where that can't be done it goes
 * on as it is. To be called first of all. */
void cli_wait_briefly(char **words);

#endif
