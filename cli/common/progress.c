#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double SILENT = 0.5, INTERVAL = 0.1; /* seconds before the first line, and between two */

double cli_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

cli_progress cli_progress_begin(bool quiet) {
    return (cli_progress){.on = !quiet && isatty(STDERR_FILENO), .began = cli_seconds()};
}

/* Is it time to write the line? */
static bool due(cli_progress *progress, double now) {
    if (!progress->on || now - progress->began < SILENT || now - progress->shown < INTERVAL) return false;
    progress->shown = now;
    return true;
}

void cli_progress_step(cli_progress *progress, int64_t restart, int64_t restarts, int64_t step, int64_t steps) {
    progress->done++;
    const double now = cli_seconds(), elapsed = now - progress->began;
    if (!due(progress, now)) return;
    const double rate = (double)progress->done / elapsed;
    const double left = ((double)(restarts - restart - 1) * (double)steps + (double)(steps - step)) / rate;
    fputs("\r\033[K", stderr);
    if (restarts > 1) fprintf(stderr, "restart %lld of %lld, ", (long long)restart + 1, (long long)restarts);
    fprintf(stderr, "step %lld of at most %lld, %.3g steps/s, at most %.0f s left", (long long)step, (long long)steps,
            rate, left);
    fflush(stderr);
}

void cli_progress_item(cli_progress *progress, const char *what, int64_t total, double share) {
    progress->done++;
    const double now = cli_seconds(), elapsed = now - progress->began;
    if (!due(progress, now)) return;
    fprintf(stderr, "\r\033[K%lld of %lld %s, %.3g a second, about %.0f s left", (long long)progress->done,
            (long long)total, what, (double)progress->done / elapsed, elapsed * (1 - share) / share);
    fflush(stderr);
}

void cli_progress_line(cli_progress *progress, double share, const char *format, ...) {
    const double now = cli_seconds(), elapsed = now - progress->began;
    va_list values;
    progress->done++;
    if (!due(progress, now)) return;
    fputs("\r\033[K", stderr);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fprintf(stderr, ", %.3g steps/s, about %.0f s left", (double)progress->done / elapsed,
            elapsed * (1 - share) / share);
    fflush(stderr);
}

void cli_progress_tick(cli_progress *progress) {
    const double now = cli_seconds();
    if (progress->now[0] == '\0' || !due(progress, now)) return;
    fprintf(stderr, "\r\033[K%s, %.0f s so far", progress->now, now - progress->began);
    fflush(stderr);
}

void cli_progress_now(cli_progress *progress, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(progress->now, sizeof progress->now, format, values);
    va_end(values);
    cli_progress_tick(progress);
}

void cli_progress_end(cli_progress *progress) {
    if (progress->on && progress->shown > 0) fputs("\r\033[K", stderr);
    progress->on = false;
}

void cli_progress_tell_time(double seconds) {
    if (isatty(STDERR_FILENO)) fprintf(stderr, "%.3g s\n", seconds);
}
