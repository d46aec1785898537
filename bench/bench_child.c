#include "bench_child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Longer than any line of an answer; how often the line of progress is written again while there is none; how long a
 * program that closes its output may take to end; and more reads than a pipe that it leaves behind is good for. */
enum { LONGEST_LINE = 65536, TICK_MS = 500, END_SECONDS = 5, MOST_READS = 64 };

/* ---- failing ----------------------------------------------------------------------------------------------------- */

static bool fail(cli_bench_child *child, const char *format, ...) TS_PRINTF(2, 3);

static bool fail(cli_bench_child *child, const char *format, ...) {
    char text[CLI_BENCH_REASON]; /* the values may lie in the child's */
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    memcpy(child->text, text, sizeof text);
    child->failed = true;
    return false;
}

/* What is not plain text becomes question marks. */
static char plain(char byte) {
    return (char)(byte >= ' ' && byte < 127 ? byte : '?');
}

/* Takes what stands on its standard error now, of which the last line that is not empty is kept; false: nothing. */
static bool read_errors(cli_bench_child *child) {
    char bytes[4096];
    const ssize_t count = read(child->errors, bytes, sizeof bytes);
    if (count == 0) { /* no one holds it any longer */
        close(child->errors);
        child->errors = -1;
    }
    for (ssize_t i = 0; i < count; i++) {
        if (bytes[i] == '\n') {
            child->complaint_ended = true;
            continue;
        }
        if (child->complaint_ended) child->complained = 0;
        child->complaint_ended = false;
        if (child->complained + 1 < sizeof child->complaint) child->complaint[child->complained++] = plain(bytes[i]);
        child->complaint[child->complained] = '\0';
    }
    return count > 0;
}

/* Waits until it has ended by itself, for so long at most. */
static bool has_ended(cli_bench_child *child, double seconds, int *status) {
    const struct timespec pause = {.tv_nsec = 5000000};
    const double began = cli_seconds();
    pid_t ended = 0;
    while (ended == 0 && cli_seconds() - began < seconds) {
        ended = waitpid(child->pid, status, WNOHANG);
        if (ended < 0 && errno == EINTR) ended = 0;
        if (ended == 0) nanosleep(&pause, NULL);
    }
    if (ended != 0) child->pid = 0;
    return ended != 0;
}

/* It takes no more questions: says how it ended, and what it said last. */
static bool fail_ended(cli_bench_child *child) {
    int status = 0;
    if (!has_ended(child, END_SECONDS, &status)) return fail(child, "closed its output");
    for (int i = 0; i < MOST_READS && child->errors >= 0 && read_errors(child); i++) continue;
    const char *complaint = child->complaint, *colon = complaint[0] != '\0' ? ": " : "";
    if (WIFSIGNALED(status))
        return fail(child, "ended by signal %d (%s)%s%s", WTERMSIG(status), strsignal(WTERMSIG(status)), colon,
                    complaint);
    if (complaint[0] != '\0') return fail(child, "%s", complaint);
    return fail(child, "ended with exit code %d", WEXITSTATUS(status));
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

/* Starts it with its standard input and output on `end` and its standard error on `errors`; 0, or an errno. */
static int spawn(cli_bench_child *child, char *const *words, int end, int errors) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawn_file_actions_adddup2(&actions, end, STDIN_FILENO);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, end, STDOUT_FILENO);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    if (error == 0) error = posix_spawnp(&child->pid, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

void cli_bench_stop(cli_bench_child *child) {
    int status;
    if (child->open) {
        close(child->socket);
        if (child->errors >= 0) close(child->errors);
    }
    child->open = false;
    /* One that failed has had its time. */
    if (child->pid <= 0 || has_ended(child, child->failed ? 0 : END_SECONDS, &status)) return;
    kill(child->pid, SIGKILL);
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) continue;
    child->pid = 0;
}

/* ---- talking ----------------------------------------------------------------------------------------------------- */

/* Drops the first `count` characters of the text, and the blanks behind them. */
static void drop(cli_bench_child *child, size_t count) {
    const char *rest = child->text + count + strspn(child->text + count, " ");
    memmove(child->text, rest, strlen(rest) + 1);
}

/* Is there something to read of an answer? Waits for it a moment; takes what stands on standard error. */
static bool has_answer(cli_bench_child *child, double seconds) {
    struct pollfd files[2] = {{.fd = child->socket, .events = POLLIN}, {.fd = child->errors, .events = POLLIN}};
    const int ready = poll(files, 2, seconds * 1000 < TICK_MS ? (int)ceil(seconds * 1000) : TICK_MS);
    if (child->progress != NULL) cli_progress_tick(child->progress);
    if (ready > 0 && files[1].revents != 0) read_errors(child);
    return (ready > 0 && files[0].revents != 0) || (ready < 0 && errno != EINTR);
}

/* Waits for a line, which goes to child->text without its end. */
static bool receive(cli_bench_child *child) {
    const double deadline = cli_seconds() + child->patience;
    size_t length = 0, total = 0;
    for (;;) {
        const double left = deadline - cli_seconds();
        char byte;
        if (left <= 0) return fail(child, "no answer in %.15g s", child->patience);
        if (!has_answer(child, left)) continue;
        if (recv(child->socket, &byte, 1, 0) != 1) return fail_ended(child);
        if (byte == '\n') break;
        if (++total > LONGEST_LINE) return fail(child, "answers with a line that does not end");
        if (length + 1 < sizeof child->text) child->text[length++] = plain(byte);
    }
    child->text[length] = '\0';
    return true;
}

bool cli_bench_ask(cli_bench_child *child, const char *question, double *answer) {
    char line[256], *end;
    const int length = snprintf(line, sizeof line, "%s\n", question);
    if (send(child->socket, line, (size_t)length, MSG_NOSIGNAL) != length) return fail_ended(child);
    if (!receive(child)) return false;
    *answer = strtod(child->text, &end);
    if (end != child->text && *end == '\0' && isfinite(*answer) && *answer > 0) return true;
    child->no_memory = strncmp(child->text, "memory ", 7) == 0;
    if (!child->no_memory && strncmp(child->text, "error ", 6) != 0)
        return fail(child, "answers '%.100s', which is no number above 0", child->text);
    drop(child, child->no_memory ? 7 : 6);
    child->failed = true;
    return false;
}

/* A socket and a pipe: 0 for this process, 1 for the other. */
static bool open_ends(int sockets[2], int pipes[2]) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return false;
    if (pipe(pipes) != 0) {
        close(sockets[0]);
        close(sockets[1]);
        return false;
    }
    for (int i = 0; i < 2; i++) {
        fcntl(sockets[i], F_SETFD, FD_CLOEXEC);
        fcntl(pipes[i], F_SETFD, FD_CLOEXEC);
    }
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    return true;
}

bool cli_bench_start(cli_bench_child *child, char *const *words, double patience, cli_progress *progress) {
    int sockets[2], pipes[2];
    *child = (cli_bench_child){.patience = patience, .progress = progress};
    if (!open_ends(sockets, pipes)) return fail(child, "%s", strerror(errno));
    child->socket = sockets[0], child->errors = pipes[0], child->open = true;
    const int error = spawn(child, words, sockets[1], pipes[1]);
    close(sockets[1]);
    close(pipes[1]);
    child->started = error == 0;
    if (!child->started) {
        child->pid = 0;
        fail(child, "could not be started: %s", strerror(error));
    } else if (receive(child)) {
        if (strncmp(child->text, "ready", 5) == 0) {
            drop(child, 5);
            return true;
        }
        fail(child, "begins with '%.100s'", child->text);
    }
    cli_bench_stop(child);
    return false;
}

bool cli_bench_start_self(cli_bench_child *child, int64_t threads, cli_progress *progress) {
    char self[] = "/proc/self/exe", bench[] = "bench", serve[] = "serve", number[24];
    snprintf(number, sizeof number, "%lld", (long long)threads);
    return cli_bench_start(child, (char *const[]){self, bench, serve, number, NULL}, INFINITY, progress);
}
