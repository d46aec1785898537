/* progress.h: a line on a terminal that says how far a long computation is. Elsewhere nothing is ever shown. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "../../autograd/status.h"

typedef struct cli_progress {
    bool on;
    double began, shown; /* seconds */
    int64_t done;        /* steps, over all restarts; or items */
    char now[128];       /* what is being done */
} cli_progress;

double cli_seconds(void); /* of a clock that never goes back */

/* On if standard error is a terminal and not quiet. */
cli_progress cli_progress_begin(bool quiet);

/* One more step is done, step `step` of at most `steps` in restart `restart` of `restarts` (from 0). */
void cli_progress_step(cli_progress *progress, int64_t restart, int64_t restarts, int64_t step, int64_t steps);

/* One more of `total` items called `what` ("cells") is done; `share` in (0,1] of all the work is behind. */
void cli_progress_item(cli_progress *progress, const char *what, int64_t total, double share);

/* A line of the caller's own, and the time left: `share` in (0,1] of the work since the beginning is done. */
void cli_progress_line(cli_progress *progress, double share, const char *format, ...) TS_PRINTF(3, 4);

/* What is being done from here on; shown with the time since the beginning, and again by each tick. For what takes long
 * and cannot say how long. */
void cli_progress_now(cli_progress *progress, const char *format, ...) TS_PRINTF(2, 3);
void cli_progress_tick(cli_progress *progress);

/* Clears the line. */
void cli_progress_end(cli_progress *progress);

/* How long it took, also on a terminal only. */
void cli_progress_tell_time(double seconds);

#endif
