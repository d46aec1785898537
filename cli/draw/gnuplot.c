#include "gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../io/output_file.h"
#include "../../io/utf8.h"

extern char **environ;

bool cli_gnuplot_found(void) {
    const char *path = getenv("PATH");
    for (const char *folder = path; folder != NULL;) {
        const size_t length = strcspn(folder, ":");
        char program[4096];
        struct stat status;
        const int written =
            snprintf(program, sizeof program, "%.*s%sgnuplot", (int)length, folder, length > 0 ? "/" : "");
        if (written > 0 && (size_t)written < sizeof program && access(program, X_OK) == 0 &&
            stat(program, &status) == 0 && S_ISREG(status.st_mode))
            return true;
        folder = folder[length] == '\0' ? NULL : folder + length + 1;
    }
    return false;
}

/* Runs gnuplot from script to picture; true if it ended well. */
static bool spawn(FILE *script, FILE *picture) {
    char name[] = "gnuplot", defaults[] = "-d", standard_input[] = "/dev/stdin"; /* "-" is read a byte a call */
    char *const words[] = {name, defaults, standard_input, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    if (posix_spawn_file_actions_init(&actions) != 0) return false;
    bool ready = posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO) == 0;
    ready = ready && posix_spawn_file_actions_adddup2(&actions, fileno(picture), STDOUT_FILENO) == 0;
    ready = ready && posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0;
    ready = ready && posix_spawnp(&child, name, &actions, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!ready) return false;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Copies a file from its beginning; the number of bytes copied. */
static size_t copy(FILE *from, FILE *to) {
    char buffer[65536];
    size_t total = 0, count;
    rewind(from);
    while ((count = fread(buffer, 1, sizeof buffer, from)) > 0) total += fwrite(buffer, 1, count, to);
    return total;
}

bool cli_gnuplot_run(FILE *script, const char *path, ts_io_error *error) {
    ts_output_file output = {0};
    FILE *picture = tmpfile();
    bool done = false;
    if (picture == NULL || fflush(script) != 0 || ferror(script) || fseek(script, 0, SEEK_SET) != 0) {
        snprintf(error->text, sizeof error->text, "plot: no room for temporary files: %s", strerror(errno));
    } else if (!spawn(script, picture)) {
        snprintf(error->text, sizeof error->text, "plot: gnuplot failed");
    } else if (ts_output_open(path, &output, error)) {
        if (copy(picture, output.stream) > 0) {
            done = ts_output_commit(&output, error);
        } else {
            snprintf(error->text, sizeof error->text, "plot: gnuplot drew nothing");
            ts_output_abandon(&output);
        }
    }
    if (picture != NULL) fclose(picture);
    return done;
}

void cli_gnuplot_string(FILE *script, const char *text) {
    fputc('\'', script);
    char shown[5];
    for (size_t length; (length = ts_utf8_next(text, shown)) > 0; text += length) {
        if (*text == '\'') fputc('\'', script);
        fputs(shown, script);
    }
    fputc('\'', script);
}
