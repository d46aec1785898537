/* status.c: recording the first failure. */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>

ts_status ts_error_set(ts_error *error, ts_status status, const char *format, ...) {
    if (error->status != TS_OK) return status;
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    error->status = status;
    return status;
}
