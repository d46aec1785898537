/* io_error.h: how a reader or writer reports what went wrong.
 *
 * Every function of io/ that can fail returns true on success. On failure it returns false and has written ONE line of
 * UTF-8 without a newline into the error, to be printed after "tessera: ":
 *     data.csv: row 3, column 2: not finite (nan)
 * Nothing in io/ prints, exits, or depends on the locale. */
#ifndef TS_IO_ERROR_H
#define TS_IO_ERROR_H

typedef struct ts_io_error {
    char text[1024];
} ts_io_error;

#endif
