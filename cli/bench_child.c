#include "bench_child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

extern char **environ;

static const double PATIENCE = 900; /* seconds that another's program has for an answer; ours has all it needs */

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

/* Starts it with both its ends of standard input and output on `end`. */
static bool spawn(cli_bench_child *child, char *const *words, int end, bool quiet) {
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) return false;
    bool ready = posix_spawn_file_actions_adddup2(&actions, end, STDIN_FILENO) == 0;
    ready = ready && posix_spawn_file_actions_adddup2(&actions, end, STDOUT_FILENO) == 0;
    if (quiet)
        ready = ready && posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0;
    ready = ready && posix_spawnp(&child->pid, words[0], &actions, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return ready;
}

/* Waits until it has ended by itself, for so long at most. */
static bool has_ended(pid_t pid, double seconds) {
    const struct timespec pause = {.tv_nsec = 5000000};
    const double began = cli_seconds();
    pid_t ended = 0;
    while (ended == 0 && cli_seconds() - began < seconds) {
        ended = waitpid(pid, NULL, WNOHANG);
        if (ended < 0 && errno == EINTR) ended = 0;
        if (ended == 0) nanosleep(&pause, NULL);
    }
    return ended != 0;
}

void cli_bench_stop(cli_bench_child *child) {
    if (child->pid <= 0) return;
    close(child->socket);
    if (!has_ended(child->pid, 5)) {
        kill(child->pid, SIGKILL);
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
    child->pid = 0;
}

/* ---- talking ----------------------------------------------------------------------------------------------------- */

/* Drops the first `count` characters of the text, and the blanks behind them. */
static void drop(cli_bench_child *child, size_t count) {
    const char *rest = child->text + count + strspn(child->text + count, " ");
    memmove(child->text, rest, strlen(rest) + 1);
}

static bool fail(cli_bench_child *child, const char *reason) {
    child->failed = true;
    snprintf(child->text, sizeof child->text, "%s", reason);
    return false;
}

/* Waits for a line, which goes to child->text without its end; what is not plain text becomes question marks. */
static bool receive(cli_bench_child *child) {
    const double began = cli_seconds();
    size_t length = 0;
    for (;;) {
        struct pollfd pollfd = {.fd = child->socket, .events = POLLIN};
        char byte;
        const int ready = poll(&pollfd, 1, 1000);
        if (ready == 0 && cli_seconds() - began > child->patience) return fail(child, "no answer");
        if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
        if (ready < 0 || recv(child->socket, &byte, 1, 0) != 1) return fail(child, "ended");
        if (byte == '\n') break;
        if (length + 1 < sizeof child->text) child->text[length++] = (char)(byte >= ' ' && byte < 127 ? byte : '?');
    }
    child->text[length] = '\0';
    return true;
}

bool cli_bench_ask(cli_bench_child *child, const char *question, double *answer) {
    char line[256], *end;
    const int length = snprintf(line, sizeof line, "%s\n", question);
    if (send(child->socket, line, (size_t)length, MSG_NOSIGNAL) != length) return fail(child, "ended");
    if (!receive(child)) return false;
    *answer = strtod(child->text, &end);
    if (end != child->text && *end == '\0' && isfinite(*answer)) return true;
    if (strncmp(child->text, "error ", 6) == 0) drop(child, 6);
    child->failed = true;
    return false;
}

bool cli_bench_start(cli_bench_child *child, char *const *words, bool other) {
    int ends[2];
    *child = (cli_bench_child){.patience = other ? PATIENCE : INFINITY};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return fail(child, strerror(errno));
    child->socket = ends[0];
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    const bool started = spawn(child, words, ends[1], other);
    close(ends[1]);
    if (!started) {
        close(ends[0]);
        child->pid = 0;
        return fail(child, "could not be started");
    }
    if (receive(child) && strncmp(child->text, "ready", 5) == 0) {
        drop(child, 5);
        return true;
    }
    child->failed = true;
    cli_bench_stop(child);
    return false;
}

bool cli_bench_start_self(cli_bench_child *child, int64_t threads) {
    char self[] = "/proc/self/exe", bench[] = "bench", serve[] = "serve", number[24];
    snprintf(number, sizeof number, "%lld", (long long)threads);
    return cli_bench_start(child, (char *const[]){self, bench, serve, number, NULL}, false);
}
