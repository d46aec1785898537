#include "message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void say(const char *prefix, const char *format, va_list arguments) {
    char line[2048];
    vsnprintf(line, sizeof line, format, arguments);
    /* A file's name may hold a newline; a message is one line whatever it quotes. */
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
    fflush(stdout);
    fprintf(stderr, "tessera: %s%s\n", prefix, line);
}

int cli_fail(int exit_code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("", format, arguments);
    va_end(arguments);
    return exit_code;
}

void cli_warn(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("warning: ", format, arguments);
    va_end(arguments);
}

int cli_flush_stdout(void) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return CLI_DONE;
    return cli_fail(CLI_FAILED, "standard output: %s", errno != 0 ? strerror(errno) : "write error");
}
