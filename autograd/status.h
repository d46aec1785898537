/* status.h: error reporting.
 *
 * The library never aborts, exits or prints. A function that can fail returns a ts_status; a ts_error holds the message
 * with op, shapes and reason. A tape keeps its FIRST failure; every later call on it does nothing until the reset. */
#ifndef TS_STATUS_H
#define TS_STATUS_H

#include "double_names.h"

typedef enum ts_status {
    TS_OK = 0,
    TS_ERROR_SHAPE,  /* the shapes do not fit the op */
    TS_ERROR_VALUE,  /* an argument or a number is outside the domain of the function */
    TS_ERROR_MEMORY, /* out of memory */
    TS_ERROR_USAGE   /* called in the wrong order or mode */
} ts_status;

typedef struct ts_error {
    ts_status status;
    char text[400]; /* one line, no newline; "" when status is TS_OK */
} ts_error;

#if defined(__GNUC__)
#define TS_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define TS_PRINTF(text, first)
#endif

/* Records a failure unless one is recorded already, and returns `status`. */
ts_status ts_error_set(ts_error *error, ts_status status, const char *format, ...) TS_PRINTF(3, 4);

#endif
