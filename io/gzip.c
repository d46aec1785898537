/* gzip.c: decompresses with zlib, or refuses if built without it. */
#include "gzip.h"

#include <stdlib.h>

#ifdef TS_HAVE_ZLIB

#include <zlib.h>

enum { INPUT_SIZE = 1 << 16, GZIP_ONLY = 15 + 16, MOST_AT_ONCE = 1 << 30 };

struct ts_gzip {
    const ts_byte_source *packed;
    z_stream stream;
    bool between; /* at the end of a member, before a possible next one */
    bool at_end;  /* `packed` has no more bytes */
    unsigned char input[INPUT_SIZE];
};

ts_gzip *ts_gzip_open(const ts_byte_source *packed, ts_io_error *error) {
    ts_gzip *gzip = calloc(1, sizeof *gzip);
    if (gzip != NULL && inflateInit2(&gzip->stream, GZIP_ONLY) == Z_OK) {
        gzip->packed = packed;
        return gzip;
    }
    free(gzip);
    ts_io_fail_memory(error, packed->name);
    return NULL;
}

void ts_gzip_close(ts_gzip *gzip) {
    if (gzip == NULL) return;
    inflateEnd(&gzip->stream);
    free(gzip);
}

/* Ensures that there is input unless it has ended; false after a failure. */
static bool refill(ts_gzip *g, ts_io_error *error) {
    if (g->stream.avail_in > 0 || g->at_end) return true;
    const int64_t count = ts_source_fill(g->packed, g->input, INPUT_SIZE, error);
    if (count < 0) return false;
    g->at_end = count < INPUT_SIZE;
    g->stream.next_in = g->input;
    g->stream.avail_in = (uInt)count;
    return true;
}

/* Skips zero bytes between members and after the last one; begins the next member if there is one. */
static bool next_member(ts_gzip *g, ts_io_error *error) {
    for (;;) {
        if (!refill(g, error)) return false;
        if (g->stream.avail_in == 0) return true;
        if (*g->stream.next_in != 0) break;
        g->stream.next_in++;
        g->stream.avail_in--;
    }
    g->between = false;
    return inflateReset(&g->stream) == Z_OK || ts_io_fail_memory(error, g->packed->name);
}

int64_t ts_gzip_read(void *gzip, void *buffer, int64_t size, ts_io_error *error) {
    ts_gzip *const g = gzip;
    const uInt room = size < MOST_AT_ONCE ? (uInt)size : MOST_AT_ONCE;
    g->stream.next_out = buffer;
    g->stream.avail_out = room;
    while (g->stream.avail_out == room && room > 0) {
        if (g->between && !next_member(g, error)) return -1;
        if (!refill(g, error)) return -1;
        if (g->between) break; /* the input has ended */
        const bool more = g->stream.avail_in > 0;
        const int status = inflate(&g->stream, Z_NO_FLUSH);
        if (status == Z_STREAM_END) {
            g->between = true;
        } else if (status == Z_MEM_ERROR) {
            ts_io_fail_memory(error, g->packed->name);
            return -1;
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            ts_io_fail(error, g->packed->name, "damaged gzip file: %s",
                       g->stream.msg != NULL ? g->stream.msg : "it cannot be unpacked");
            return -1;
        } else if (!more && g->stream.avail_out == room) {
            ts_io_fail(error, g->packed->name, "damaged gzip file: it ends too early");
            return -1;
        }
    }
    return room - g->stream.avail_out;
}

#else

ts_gzip *ts_gzip_open(const ts_byte_source *packed, ts_io_error *error) {
    ts_io_fail(error, packed->name, "this is a gzip file, and the program was built without zlib: decompress it first");
    return NULL;
}

void ts_gzip_close(ts_gzip *gzip) {
    (void)gzip;
}

int64_t ts_gzip_read(void *gzip, void *buffer, int64_t size, ts_io_error *error) {
    (void)gzip;
    (void)buffer;
    (void)size;
    (void)error;
    return -1;
}

#endif
