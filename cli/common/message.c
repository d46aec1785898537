#include "message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../io/utf8.h"

enum { MESSAGE = 2048, MOST_WARNINGS = 8 };
static char warnings[MOST_WARNINGS][MESSAGE];
static int n_warnings;

/* A file's name may hold a newline; a message is one line of UTF-8 whatever it quotes. */
static void write_line(char line[MESSAGE], const char *format, va_list arguments) {
    vsnprintf(line, MESSAGE, format, arguments);
    if (strlen(line) == MESSAGE - 1) ts_utf8_end_whole(line);
    ts_utf8_show(line);
}

const char *cli_source_name(const char *file) {
    return strcmp(file, "-") == 0 ? "standard input" : file;
}

int cli_fail(int exit_code, const char *format, ...) {
    va_list arguments;
    char line[MESSAGE];
    va_start(arguments, format);
    write_line(line, format, arguments);
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "tessera: %s\n", line);
    return exit_code;
}

int cli_fail_memory(const char *file) {
    return cli_fail(CLI_FAILED, "%s: out of memory", cli_source_name(file));
}

void cli_warn(const char *format, ...) {
    va_list arguments;
    if (n_warnings == MOST_WARNINGS) return;
    va_start(arguments, format);
    write_line(warnings[n_warnings++], format, arguments);
    va_end(arguments);
}

void cli_show_warnings(void) {
    fflush(stdout);
    for (int i = 0; i < n_warnings; i++) fprintf(stderr, "tessera: warning: %s\n", warnings[i]);
}

int cli_flush_stdout(void) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return CLI_DONE;
    return cli_fail(CLI_FAILED, "standard output: %s", errno != 0 ? strerror(errno) : "write error");
}
