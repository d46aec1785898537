/* gzip.h: decompresses a gzip file (RFC 1952), as a source of bytes. Internal to io/. */
#ifndef TS_GZIP_H
#define TS_GZIP_H

#include "io_base.h"

typedef struct ts_gzip ts_gzip;

/* Starts to decompress `packed`, which must outlive the result: one or more members, with zero bytes after them
 * allowed. Damaged or truncated data fail when they are read. Returns NULL after writing the error; without zlib
 * (TS_HAVE_ZLIB is not defined) always. */
ts_gzip *ts_gzip_open(const ts_byte_source *packed, ts_io_error *error);
void ts_gzip_close(ts_gzip *gzip);

/* The read function of a ts_byte_source whose context is a ts_gzip. */
int64_t ts_gzip_read(void *gzip, void *buffer, int64_t size, ts_io_error *error);

#endif
