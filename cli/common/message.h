/* message.h: what the program says on standard error: one line each, beginning with "tessera: ". */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include "../../autograd/status.h"

/* What main returns. */
enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_WRONG_USE = 2 };

/* An input's name in what is said: standard input is "-" on the command line. */
const char *cli_source_name(const char *file);

/* Says why the program fails, and returns the exit code given. */
int cli_fail(int exit_code, const char *format, ...) TS_PRINTF(2, 3);

/* "FILE: out of memory", which fails. */
int cli_fail_memory(const char *file);

/* Keeps a warning for the end: a command that fails says why in one line and nothing else. */
void cli_warn(const char *format, ...) TS_PRINTF(1, 2);
void cli_show_warnings(void);

/* Flushes standard output; CLI_FAILED, with a message, when what was written there did not arrive. */
int cli_flush_stdout(void);

#endif
